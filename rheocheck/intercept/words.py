"""A word: what a subject returned, as so many integers, also where it is no text of any vocabulary.

    (3, 7)            two token ids; whether 7 is in the vocabulary only a law can say
    (3, ENDED)        the text ended after one token
    (FAILED, FAILED)  the call gave no ids at all: its probabilities were none (`complaints`)

ENDED and FAILED fill a word up to its length, and no id equals them: ids are cut to -MAX_ID..MAX_ID, far beyond any
vocabulary. So every word has one length, fits into an array of int64, and can be counted and compared like any other.

With an end-of-text token `eos` a subject may stop: what follows it is not looked at, and the word is filled up with it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

Ints = NDArray[np.int64]
MAX_ID = 2**62
VOCABULARY = 2**31  # tokens of the largest that there may be, where nobody says how many
ENDED, FAILED = -MAX_ID - 1, -MAX_ID - 2


def read_word(ids: Any, tokens: int, call: str, eos: int | None = None) -> Context:
    """The first `tokens` ids of what a subject returned, whatever their size. Raises InputError on what is no id."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if not hasattr(ids, "__iter__"):
        raise InputError(f"{call} must return a sequence of token ids, got {ids!r:.60}: return a list of new ids")
    word: list[int] = []
    for x in tuple(ids)[:tokens]:
        word.append(_id(x, call))
        if word[-1] == eos:
            break
    fill = ENDED if eos is None or word[-1:] != [eos] else eos
    return (*word, *[fill] * (tokens - len(word)))


def check_word(word: Context, call: str, eos: int | None = None) -> Context:
    """The word of a subject that keeps its contract. Raises InputError on a negative id and on a word too short."""
    if ENDED in word:
        stop = "never stop early" if eos is None else f"stop only behind the end-of-text token {eos}"
        raise InputError(
            f"{call} must return at least {len(word)} new ids, got {word.index(ENDED)}: leave the context out, {stop}"
        )
    if min(word) < 0:
        raise InputError(f"{call} must return token ids >= 0, got {min(word)}: return new ids only")
    return word


def failed_word(tokens: int) -> Context:
    """The word of a call that gave no ids."""
    return (FAILED,) * tokens


def is_impossible(word: Context, size: int | None) -> bool:
    """Whether a word is none over the vocabulary 0..size-1; without a size, over none whatever."""
    return min(word) < 0 or max(word) >= (VOCABULARY if size is None else size)


def impossible(words: Ints, size: int | None) -> NDArray[np.bool_]:
    """The same of many words [n, L] -> [n]."""
    outside: NDArray[np.bool_] = (words < 0) | (words >= (VOCABULARY if size is None else size))
    return np.logical_or.reduce(outside, axis=1)


def filled(rows: Sequence[Ints] | Ints, tokens: int, eos: int | None) -> Ints:
    """Rows of ids, each of any length, as words [n, tokens]."""
    if isinstance(rows, np.ndarray) and rows.shape[1] >= tokens:
        words = rows[:, :tokens]
    else:
        words = np.full((len(rows), tokens), ENDED, dtype=np.int64)
        for word, row in zip(words, rows, strict=True):
            word[: len(row)] = row[:tokens]
    return words if eos is None else stopped(words, eos)


def stopped(words: Ints, eos: int) -> Ints:
    """Words [n, L] of which nothing is looked at behind the first `eos`: filled up with it."""
    return np.where(np.maximum.accumulate(words == eos, axis=1), eos, words)


def cut(ids: NDArray[Any]) -> Ints:
    """Integers of any type as int64: what is beyond MAX_ID counts as MAX_ID."""
    if ids.dtype.kind == "u":
        return np.minimum(ids, np.uint64(MAX_ID)).astype(np.int64)
    return np.clip(ids.astype(np.int64), -MAX_ID, MAX_ID)


def text_of(word: Context) -> Context:
    """The ids of a word before a mark."""
    return word[: next((i for i, x in enumerate(word) if x in (ENDED, FAILED)), len(word))]


def _id(x: Any, call: str) -> int:
    try:
        index = x.__index__()
    except AttributeError:
        raise InputError(f"{call} must return integer token ids, got {x!r:.60}: convert to int") from None
    return max(-MAX_ID, min(MAX_ID, index))
