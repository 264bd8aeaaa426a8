"""The exact number type behind the engine: gmpy2's when it is installed (extra `fast`), else the standard library's."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rheocheck.core.pair import Law, one_hot

Number = Callable[..., Any]


def fastest() -> Number:
    """gmpy2.mpq, about three times faster, or Fraction; both exact, so results are equal."""
    try:
        from gmpy2 import mpq
    except ImportError:
        return Fraction
    return mpq


def as_fraction(x: Any) -> Fraction:
    """The same number as a Fraction, the type of every result."""
    return Fraction(int(x.numerator), int(x.denominator))


def as_fractions(law: Iterable[Any]) -> Law:
    """The same law in Fractions: what user code is given, whatever the engine counts in."""
    return tuple(map(as_fraction, law))


@lru_cache(maxsize=8)
def one_hots(vocab_size: int, number: Number) -> list[Law]:
    """The one-hot law of every token, in the number type."""
    return [tuple(map(number, one_hot(vocab_size, token))) for token in range(vocab_size)]
