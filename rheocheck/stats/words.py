"""Words as a battery takes them: token ids [n, L], the row and the call each came from, and their decode log.

    group     which words have their first t tokens in common
    cell      a word as one number, first token first

Errors are ValueErrors of one line: what must hold, what came, what to try.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.contexts import Prefix
from rheocheck.stats.inputs import Ints

MAX_CALLS = 2**31  # rows of a call, too


def checked_words(words: ArrayLike, tokens: int, vocab_size: int) -> Ints:
    """Token ids [n, tokens]."""
    x = np.asarray(words)
    if x.ndim != 2 or x.shape[1] != tokens or (x.size and x.dtype.kind not in "iu"):
        raise ValueError(f"words must be token ids [n, {tokens}], got {x.dtype} of shape {x.shape}: one row per word")
    if x.size and not (0 <= x.min() and x.max() < vocab_size):
        row, t = np.argwhere((x < 0) | (x >= vocab_size))[0]
        raise ValueError(
            f"words must be in 0..{vocab_size - 1}, got {x[row, t]} at row {row}, token {t}: check the vocabulary size"
        )
    return x.astype(np.int64)


def checked_places(n: int, rows: ArrayLike | None, calls: ArrayLike | None) -> tuple[Ints, Ints] | None:
    """(call, row) [n] of every word; None where neither is given."""
    if (rows is None) != (calls is None):
        raise ValueError("rows and calls must come together, got one of them: pass both, or neither")
    if rows is None or calls is None:
        return None
    found = []
    for name, values in (("calls", calls), ("rows", rows)):
        x = np.asarray(values)
        if x.shape != (n,) or (n and (x.dtype.kind not in "iu" or x.min() < 0 or x.max() >= MAX_CALLS)):
            raise ValueError(f"{name} must be one number >= 0 per word, got shape {x.shape}: number them from 0")
        found.append(x.astype(np.int64))
    return found[0], found[1]


def checked_blocks(blocks: Any, n: int, depth: int) -> tuple[Ints, Ints]:
    """accepted and emitted [n, most blocks], filled up with 0."""
    if blocks is None or len(blocks) != n:
        got = "none" if blocks is None else len(blocks)
        raise ValueError(f"blocks must be one list of [accepted, emitted] per word, got {got} for {n}: pass the log")
    if isinstance(blocks, np.ndarray):
        log = blocks
    else:
        log = np.zeros((n, max((len(word) for word in blocks), default=0), 2), dtype=np.int64)
        for row, word in enumerate(blocks):
            if len(word):
                log[row, : len(word)] = word
    if log.ndim != 3 or log.shape[2] != 2 or log.dtype.kind not in "iu":
        raise ValueError(f"blocks must be [accepted, emitted] pairs, got shape {log.shape}: one pair per block")
    accepted, emitted = log[:, :, 0].astype(np.int64), log[:, :, 1].astype(np.int64)
    bad = (accepted < 0) | (accepted > depth) | (emitted < 0) | (emitted > accepted + 1)
    bad &= (emitted > 0) | (accepted != 0)
    if bad.any():
        row, block = np.argwhere(bad)[0]
        raise ValueError(
            f"blocks must have 0 <= accepted <= {depth} and emitted <= accepted + 1, got "
            f"{log[row, block].tolist()} in word {row}: log [accepted, emitted] of every block"
        )
    return accepted, emitted


def cell(word: Sequence[Any] | Ints, vocab_size: int) -> Any:
    """A word as one number; for words [t, n], one number each."""
    number: Any = 0
    for token in word:
        number = number * vocab_size + token
    return number


def group(x: Ints, vocab_size: int) -> list[Ints]:
    """For every t, a number [n] for the first t tokens: equal numbers, equal prefixes."""
    groups = [np.zeros(len(x), dtype=np.int64)]
    for t in range(x.shape[1] - 1):
        groups.append(np.unique(groups[-1] * vocab_size + x[:, t], return_inverse=True)[1].reshape(-1))
    return groups


def distinct_prefixes(x: Ints, groups: Ints, rows: Ints, t: int) -> tuple[Ints, list[Prefix]]:
    """The distinct prefixes of length t of some rows, and which of them each has."""
    _, first, found = np.unique(groups[rows], return_index=True, return_inverse=True)
    return found.reshape(-1), [tuple(word) for word in x[rows[first], :t].tolist()]
