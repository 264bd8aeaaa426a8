"""The development is built once, in place, whoever asks first: what is up to date is not compiled again."""

import fcntl

import pytest

from tests.proofs.coq import PROOFS, make


@pytest.fixture(scope="session")
def built():
    with (PROOFS / ".lock").open("w") as lock:  # parallel workers wait for one another
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, printed = make(PROOFS, "build")
    assert code == 0, printed[-4000:]
    return PROOFS
