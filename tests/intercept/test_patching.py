"""Names are replaced wherever they were imported to, and given back."""

from os import urandom

import pytest

from rheocheck.intercept.patching import one_scan, rebound

ORIGINAL = urandom


def other():
    """A replacement that no module holds: those are taken out of modules at the end."""
    return lambda size: bytes(size)


def test_an_object_can_be_replaced_again_in_one_scan():
    with one_scan():
        for new in (other(), other()):
            with rebound([(ORIGINAL, new)]):
                assert urandom is new
            assert urandom is ORIGINAL


def test_it_is_given_back_after_an_error():
    with pytest.raises(ValueError), rebound([(ORIGINAL, new := other())]):
        assert urandom is new
        raise ValueError
    assert urandom is ORIGINAL
