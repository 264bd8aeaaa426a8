"""Where a draw lies in the stream of numbers that its engine puts out.

An engine is known by what it puts out next, not by its bytes: seed bits that it drops, the library that holds it and
the way that led to its state (seeded, advanced, jumped, spawned, copied) make no difference to that. So the place of a
number is named by 128 bits of the stream from this number on: four words of MT19937, which `random`, NumPy and torch
share, two words of NumPy's other engines. A draw covers the places between the state before it and the state after
it; two draws that share a place share randomness.

An engine of 64-bit words cuts some in two: the upper half waits until the next draw of 32 bits, however many whole
words are drawn meanwhile. A half that waits has a place of its own.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rheocheck.intercept.errors import not_understood

WORDS = 624  # of an MT19937's state
SEEN = 16  # bytes that name a place
MOST = 2**22  # words of one draw: far more than can be followed
LOOK = 16  # words looked through first for the end of a draw
MT19937, RANDOM_RAW = np.random.MT19937, np.random.BitGenerator.random_raw  # before anything stands in for them


@dataclass(frozen=True)
class Stretch:
    """What a draw takes from a stream.

    stream  the engine, in words
    places  of its numbers, in order
    kept    half a word that waited before the draw, and still does: its name then, and its name now
    """

    stream: str
    places: tuple[Hashable, ...]
    kept: tuple[Hashable, Hashable] | None = None


@dataclass(frozen=True)
class Twister:
    """The state of an MT19937: the words from `next` on come next. After the last one, all are made anew."""

    words: bytes
    next: int


@dataclass(frozen=True, eq=False)
class Words:
    """The state of any other engine of NumPy, as NumPy tells it; `half` is the half of a word that waits, if any."""

    engine: Any
    state: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and _frozen(self.state) == _frozen(other.state)

    @property
    def half(self) -> int | None:
        return self.state["uinteger"] if self.state.get("has_uint32") else None


Position = Twister | Words


def numpy_position(engine: Any) -> Position:
    """Where a bit generator of NumPy stands."""
    state = engine.state
    if isinstance(engine, MT19937):
        return Twister(state["state"]["key"].tobytes(), int(state["state"]["pos"]))
    return Words(engine, state)


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _frozen(held)) for key, held in value.items())
    return value.tobytes() if isinstance(value, np.ndarray) else value


def just_seeded(position: Position) -> bool:
    """Whether an MT19937 has been seeded by one word, as torch and np.random.seed do, and not drawn from since."""
    if not isinstance(position, Twister) or position.next != WORDS:
        return False
    x = [int(word) for word in np.frombuffer(position.words, np.uint32, 9)]
    return all(x[i] == (1812433253 * (x[i - 1] ^ x[i - 1] >> 30) + i) % 2**32 for i in range(1, 9))


def stretch(before: Position, after: Position) -> Stretch:
    """What lies between two positions of one generator."""
    if isinstance(before, Twister) and isinstance(after, Twister):
        return _twister_stretch(before, after)
    assert isinstance(before, Words) and isinstance(after, Words)
    return _words_stretch(before, after)


# -- MT19937 -----------------------------------------------------------------------------------------------------------


def _twister_stretch(before: Twister, after: Twister) -> Stretch:
    drawn = after.next - before.next
    block = before.words
    while block != after.words or drawn < 0:
        block, drawn = twisted(block), drawn + WORDS
        _check_length(drawn)
    block, text = before.words, before.words[4 * before.next :]
    while len(text) < 4 * drawn + SEEN:
        block = twisted(block)
        text += block
    return Stretch("an MT19937", tuple(text[4 * i : 4 * i + SEEN] for i in range(drawn)))


@lru_cache(maxsize=64)
def twisted(words: bytes) -> bytes:
    """The 624 words that an MT19937 makes of the last ones (Matsumoto and Nishimura 1998, equation 2.1).

    Word i is made of the old words i and i + 1, and of word i + 397, which is a new one from 227 on.
    """
    x = np.frombuffer(words, np.uint32).copy()
    for start, end in ((0, 227), (227, 454), (454, 623), (623, 624)):
        y = (x[start:end] & 0x80000000) | (x[(np.arange(start, end) + 1) % WORDS] & 0x7FFFFFFF)
        x[start:end] = x[(np.arange(start, end) + 397) % WORDS] ^ (y >> 1) ^ ((y & 1) * np.uint32(0x9908B0DF))
    return x.tobytes()


# -- other engines -----------------------------------------------------------------------------------------------------


def _words_stretch(before: Words, after: Words) -> Stretch:
    """Looks ahead with the engine itself, and puts it back where it was."""
    engine = after.engine
    end = RANDOM_RAW(engine, 2).tobytes()
    engine.state = before.state
    text = RANDOM_RAW(engine, LOOK).tobytes()
    drawn = _found(text, end)
    while drawn is None:
        _check_length(len(text) // 8)
        text += RANDOM_RAW(engine, len(text) // 8).tobytes()
        drawn = _found(text, end)
    engine.state = after.state
    places: list[Hashable] = [text[8 * i : 8 * i + SEEN] for i in range(drawn)]
    kept = None
    if before.half is not None:
        waiting = "half", before.half, text[:SEEN]
        if after.half == before.half:
            kept = waiting, ("half", after.half, end)
        else:
            places.insert(0, waiting)
    return Stretch(f"a {type(engine).__name__}", tuple(places), kept)


def _found(text: bytes, end: bytes) -> int | None:
    """The number of words before these two."""
    at = text.find(end)
    while at % 8 and at >= 0:
        at = text.find(end, at + 1)
    return None if at < 0 else at // 8


def _check_length(words: int) -> None:
    if words > MOST:
        raise not_understood(f"a draw of more than {MOST} words of a generator", "draw fewer numbers at once")
