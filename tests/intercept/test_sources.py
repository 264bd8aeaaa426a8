"""A source is one file and one entry: the law of what draws from it is then exact, and before that it is refused."""

import sys
from fractions import Fraction

import pytest

from rheocheck.intercept import NotUnderstood, enumerate_law, sources
from tests.intercept import toy_library


def decoder(context, n_tokens):
    """A biased coin of the toy library, kept if it is heads."""
    return [int(toy_library.draw(4) == 0) for _ in range(n_tokens)]


@pytest.fixture
def with_the_entry(monkeypatch):
    """The library as it would be named in SOURCES, its file as it would lie beside the others."""
    monkeypatch.setattr(sources, "SOURCES", (*sources.SOURCES, "toy"))
    monkeypatch.setitem(sys.modules, "toy", toy_library)
    monkeypatch.setitem(sys.modules, "rheocheck.intercept.sources.toy", toy_library)


def test_a_new_source_is_followed(with_the_entry):
    found = enumerate_law(decoder, (), 2)
    assert found.law == {(a, b): Fraction(3 - 2 * a, 4) * Fraction(3 - 2 * b, 4) for a in (0, 1) for b in (0, 1)}


def test_its_own_generator_does_not_move(with_the_entry):
    before = list(toy_library.STATE)
    enumerate_law(decoder, (), 1)
    assert toy_library.STATE == before


def test_without_the_entry_it_is_refused():
    """The control: two runs that make the same choices, none at all, do not give the same word."""
    with pytest.raises(NotUnderstood, match="draws randomness that is not seen"):
        enumerate_law(decoder, (), 8)


def test_every_source_says_what_it_does():
    for source in sources.sources():
        assert isinstance(source.stand_ins(), list)
        assert callable(source.followed)
