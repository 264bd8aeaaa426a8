"""How often each word was drawn: all that an audit remembers of its draws, and all that a resumed one needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.pair import Context

Ints = NDArray[np.int64]
Followed = tuple[Context, Ints, Ints]  # (prefix, the tokens that followed it in increasing order, how often each)


class Tally:
    """Distinct words [u, L] in lexicographic order and how often each was drawn [u]."""

    def __init__(self, tokens: int) -> None:
        self.words: Ints = np.zeros((0, tokens), dtype=np.int64)
        self.counts: Ints = np.zeros(0, dtype=np.int64)

    def add(self, drawn: Ints) -> None:
        """Count the words [n, L] too."""
        self._count(drawn, np.ones(len(drawn), dtype=np.int64))

    def _count(self, drawn: Ints, times: Ints) -> None:
        if not len(drawn):
            return
        words = np.concatenate([self.words, drawn])
        counts = np.concatenate([self.counts, times])
        order = np.lexsort(words.T[::-1])  # np.unique(axis=0) takes ten times as long
        words, counts = words[order], counts[order]
        starts = _starts(words)
        self.words, self.counts = words[starts], np.add.reduceat(counts, starts)

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        both = Tally(self.words.shape[1])
        for part in (self, other):
            both._count(part.words, part.counts)
        return both

    @property
    def n(self) -> int:
        """Words drawn."""
        return int(self.counts.sum())

    def prefixes(self) -> int:
        """How many proper prefixes were seen, the empty one included."""
        return sum(len(_starts(self.words[:, :length])) for length in range(self.words.shape[1]))

    def followed(self, most: int) -> Iterator[Followed]:
        """What followed each proper prefix; of each length the `most` prefixes that were seen most often."""
        for length in range(self.words.shape[1]):
            starts = _starts(self.words[:, :length])
            seen = np.add.reduceat(self.counts, starts)
            ends = np.append(starts[1:], len(self.words))
            for i in np.sort(np.argsort(-seen, kind="stable")[:most]):
                yield self._group(int(starts[i]), int(ends[i]), length)

    def after(self, prefix: Context) -> Followed:
        """What followed this proper prefix."""
        start, end = 0, len(self.words)
        for length, x in enumerate(prefix):
            column = self.words[start:end, length]
            left, right = np.searchsorted(column, [x, x + 1])
            start, end = start + int(left), start + int(right)
        return self._group(start, end, len(prefix), prefix)

    def prefix_counts(self, length: int, index: Any, cells: int) -> Ints:
        """How often each of `cells` cells was drawn [cells]; index(words [u, length]) -> cells [u]."""
        return np.bincount(index(self.words[:, :length]), weights=self.counts, minlength=cells).astype(np.int64)

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"words": self.words.tolist(), "counts": self.counts.tolist()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        tokens = self.words.shape[1]
        self.words = np.array(state["words"], dtype=np.int64).reshape(-1, tokens)
        self.counts = np.array(state["counts"], dtype=np.int64)

    def _group(self, start: int, end: int, length: int, prefix: Context | None = None) -> Followed:
        """Rows start..end share their first `length` tokens."""
        tokens = self.words[start:end, length]
        if prefix is None:
            prefix = tuple(int(x) for x in self.words[start, :length])
        if not len(tokens):
            return prefix, tokens, tokens
        at = _starts(tokens[:, None])
        return prefix, tokens[at], np.add.reduceat(self.counts[start:end], at)


def _starts(sorted_words: Ints) -> Ints:
    """Where a new word begins, in words [n, length] of which equal ones stand together."""
    if not len(sorted_words):
        return np.zeros(0, dtype=np.int64)
    new = np.ones(len(sorted_words), dtype=bool)
    new[1:] = (sorted_words[1:] != sorted_words[:-1]).any(axis=1)
    return np.flatnonzero(new)
