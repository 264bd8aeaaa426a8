"""The development is built once a session, in place: what is up to date is not compiled again."""

import pytest

from tests.proofs.coq import PROOFS, make


@pytest.fixture(scope="session")
def built():
    code, printed = make(PROOFS, "build")
    assert code == 0, printed[-4000:]
    return PROOFS
