"""How often each word was drawn: all that an audit remembers of its draws, and all that a resumed one needs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.pair import Context

Ints = NDArray[np.int64]


class Tally:
    """Distinct words [u, L] in lexicographic order and how often each was drawn [u]."""

    def __init__(self, tokens: int) -> None:
        self.words: Ints = np.zeros((0, tokens), dtype=np.int64)
        self.counts: Ints = np.zeros(0, dtype=np.int64)

    def add(self, drawn: Ints) -> None:
        """Count the words [n, L] too."""
        if not len(drawn):
            return
        words, where = np.unique(np.concatenate([self.words, drawn]), axis=0, return_inverse=True)
        weights = np.concatenate([self.counts, np.ones(len(drawn), dtype=np.int64)])
        self.words, self.counts = words, np.bincount(where.ravel(), weights=weights).astype(np.int64)

    @property
    def n(self) -> int:
        """Words drawn."""
        return int(self.counts.sum())

    def next_counts(self, size: int) -> dict[Context, Ints]:
        """{prefix: how often each token [size] followed it}, for every proper prefix that was seen."""
        counts: dict[Context, Ints] = {}
        for length in range(self.words.shape[1]):
            prefixes, which = np.unique(self.words[:, :length], axis=0, return_inverse=True)
            table = np.zeros((len(prefixes), size), dtype=np.int64)
            np.add.at(table, (which.ravel(), self.words[:, length]), self.counts)
            for prefix, row in zip(prefixes, table, strict=True):
                counts[tuple(int(x) for x in prefix)] = row
        return counts

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
