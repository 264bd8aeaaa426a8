"""Tokens in few cells, with the exact probability of every cell after every prefix.

    ids     cell = id modulo the number of cells: the tokens themselves where the vocabulary is small, parities
    levels  cell of the middle of the token's step of the CDF, in [0, 1): the uniform number that an inverse CDF would
            have turned into this token, whatever the law was. A number used twice has one level, under two laws

Which cell a token falls in depends on the prefix and the token alone; the probability of a cell is the sum over its
tokens, by the same arithmetic that puts a token there.
"""

import numpy as np

from rheocheck.stats.contexts import PrefixLaws
from rheocheck.stats.inputs import Floats, Ints

CELLS = 16  # most cells of a token
SLAB = 2**21  # numbers of laws worked on at once


class TokenCells:
    """Cells of tokens after prefixes whose laws `laws` keeps; `levels` or ids."""

    def __init__(self, laws: PrefixLaws, *, levels: bool, cells: int = CELLS) -> None:
        self.laws, self.levels = laws, levels
        self.count = cells if levels else min(cells, laws.size)
        self._masses = np.zeros((0, self.count))

    def of(self, tokens: Ints, states: Ints) -> Ints:
        """The cell of tokens[i] after a prefix of states[i], of any shape; -1 where the law is not kept."""
        if not self.levels:
            return np.where(states >= 0, tokens % self.count, -1)
        found = np.full(tokens.shape, -1, dtype=np.int64)
        kept = np.flatnonzero(states.ravel() >= 0)
        met, which = np.unique(states.ravel()[kept], return_inverse=True)
        flat, step = tokens.ravel()[kept], max(1, SLAB // self.laws.size)
        for start in range(0, len(met), step):
            here = np.flatnonzero((which >= start) & (which < start + step))
            cells = self._levels(met[start : start + step])
            found.ravel()[kept[here]] = cells[which[here] - start, flat[here]]
        return found

    def masses(self, states: Ints) -> Floats:
        """Probabilities of the cells after prefixes of these states [n, cells]."""
        known, count = len(self._masses), len(self.laws.examples)
        if known < count:
            step = max(1, SLAB // self.laws.size)
            parts = [self._new(np.arange(at, min(at + step, count))) for at in range(known, count, step)]
            self._masses = np.concatenate([self._masses, *parts])
        found: Floats = self._masses[states]
        return found

    def _new(self, states: Ints) -> Floats:
        rows = self.laws.rows(states)
        if self.levels:
            cells = self._levels(states)
        else:
            cells = np.broadcast_to(np.arange(self.laws.size) % self.count, rows.shape)
        at = np.arange(len(states))[:, None] * self.count + cells
        sums = np.bincount(at.ravel(), weights=rows.ravel(), minlength=len(states) * self.count)
        sums = sums.reshape(len(states), self.count)
        return sums / sums.sum(axis=1, keepdims=True)

    def _levels(self, states: Ints) -> Ints:
        """Cells of every token [states, vocab_size]."""
        rows = self.laws.rows(states)
        middle = np.cumsum(rows, axis=1) - rows / 2
        return np.minimum((middle * self.count).astype(np.int64), self.count - 1)
