"""Dependence of a token on several earlier ones together, where each pair of them may look independent.

    triples   token k given tokens i < j < k, these two together (ids modulo 8: at most 64 keys)
    prefixes  token k given all tokens before it, hashed to 16 keys: by their sum, and by their exclusive or

The exclusive or of three tokens that is 0 too often is found although every pair is independent; a word whose sum is
even too often, of any length, too.

Fair: the key is a function of tokens that are known before token k is drawn, and the exact law of the token's cell
comes from the law of its prefix; see `rheocheck.stats.learned`. The windows share their words, so only their mean is an
e-value.
"""

from itertools import combinations
from typing import Any

import numpy as np

from rheocheck.stats.contexts import PrefixLaws
from rheocheck.stats.distances import nearest_first
from rheocheck.stats.inputs import Ints
from rheocheck.stats.learned import Learned
from rheocheck.stats.suite import mean
from rheocheck.stats.token_cells import TokenCells

SIDE = 8  # keys of one token of a triple
HASHED = 16  # keys of a prefix


class Windows:
    """The bets on windows of words of `tokens` tokens; needs at least three."""

    def __init__(self, laws: PrefixLaws, tokens: int, *, rtol: float = 0.0) -> None:
        self._triples = np.array(nearest_first(combinations(range(tokens), 3)))
        self._ends = np.arange(2, tokens)
        self._cells = TokenCells(laws, levels=False, cells=SIDE)
        self._by_triple = Learned(self._cells, self._triples[:, 2].tolist(), SIDE**2, rtol=rtol)
        self._by_prefix = Learned(self._cells, [*self._ends.tolist()] * 2, HASHED, rtol=rtol)
        self.words = 0

    def add(self, x: Ints, states: Ints) -> None:
        """Words [n, L] in order, and the states of their prefixes; below 0 where nothing is bet."""
        first, second, _ = self._triples.T
        self._by_triple.add(x[:, first] % SIDE * SIDE + x[:, second] % SIDE, x, states)
        before = self._ends - 1
        sums, xors = np.cumsum(x, axis=1)[:, before], np.bitwise_xor.accumulate(x, axis=1)[:, before]
        self._by_prefix.add(np.concatenate([sums, xors], axis=1) % HASHED, x, states)
        self.words += len(x)

    def statistic(self) -> tuple[float, int]:
        """(log e-value, words)."""
        return mean([mean(bets.log_es()) for bets in (self._by_triple, self._by_prefix)]), self.words

    def saved(self) -> list[Any]:
        return [self.words, self._by_triple.saved(), self._by_prefix.saved()]

    def restore(self, saved: list[Any]) -> None:
        self.words = saved[0]
        self._by_triple.restore(saved[1])
        self._by_prefix.restore(saved[2])
