"""Every pair of positions of a word, at any distance: does token j depend on token i < j beyond what p says?

Three kinds of bets on each pair (i, j), because faults come in three kinds:

    copies   token j repeats token i in a share e of the words: 1 - e + e 1[x_j = x_i] / p(x_j | its prefix)
    ids      what came after which id (ids modulo 16), learned
    levels   the uniform number of token i decides token j, under whatever laws the two have; learned

Fair: x_i is known before token j is drawn, which under the null has the law of its own prefix. So the mean of a copy
factor is 1 - e + e p(x_i) / p(x_i) = 1 (1 - e where p(x_i) = 0), and 1 + e rtol within the tolerance, by which it is
divided; `rheocheck.stats.learned` says why the learned ones are. Words follow each other, so the product over words
is a martingale for each pair and bet; different pairs bet on the same words, so only their mean is an e-value.

Of words with more than MAX_RELATIONS pairs (17 tokens and more) the closest ones are bet on.
"""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.stats.contexts import PrefixLaws
from rheocheck.stats.copies import SHARES
from rheocheck.stats.inputs import Floats, Ints
from rheocheck.stats.learned import Learned
from rheocheck.stats.suite import mean
from rheocheck.stats.token_cells import TokenCells

MAX_RELATIONS = 128  # of one statistic: the tables of a learned bet stay small


class Distances:
    """The bets on pairs of positions of words of `tokens` tokens.

    Prefer it to "two tokens back" for what is farther away, or happens at one place only. Needs at least two tokens.
    """

    def __init__(self, laws: PrefixLaws, tokens: int, *, rtol: float = 0.0) -> None:
        self._pairs = np.array(nearest_first(combinations(range(tokens), 2)))
        self._rtol = rtol
        self._log_e = np.zeros((len(SHARES), len(self._pairs)))
        self._cells = [TokenCells(laws, levels=levels) for levels in (False, True)]
        self._learned = [Learned(cells, self._pairs[:, 1].tolist(), cells.count, rtol=rtol) for cells in self._cells]
        self.words = 0

    def add(self, x: Ints, states: Ints, p: Floats) -> None:
        """Words [n, L] in order, the states of their prefixes (below 0: no law kept), and p of each token.

        p is 0 or NaN from an impossible token on: nothing is bet there.
        """
        before, after = self._pairs.T
        for cells, learned in zip(self._cells, self._learned, strict=True):
            learned.add(cells.of(x, states)[:, before], x, np.where(p > 0, states, -1))
        self._copies(x[:, before] == x[:, after], p[:, after])
        self.words += len(x)

    def statistic(self) -> tuple[float, int]:
        """(log e-value, words)."""
        each = [self._log_e, *(learned.log_es() for learned in self._learned)]
        return mean([mean(log_es.ravel()) for log_es in each]), self.words

    def strongest(self) -> tuple[int, int]:
        """The pair of positions, counted from 0, on which a bet has won the most."""
        pairs = len(self._pairs)
        each = [self._log_e, *(learned.log_es().reshape(-1, pairs) for learned in self._learned)]
        i, j = self._pairs[np.concatenate(each).max(axis=0).argmax()]
        return int(i), int(j)

    def saved(self) -> list[Any]:
        return [self.words, self._log_e.tolist(), *(learned.saved() for learned in self._learned)]

    def restore(self, saved: list[Any]) -> None:
        self.words, self._log_e = saved[0], np.array(saved[1])
        for learned, one in zip(self._learned, saved[2:], strict=True):
            learned.restore(one)

    def _copies(self, equal: NDArray[np.bool_], p: Floats) -> None:
        """Settle whether each token j [n, pairs] is that of position i."""
        possible = p > 0
        equal = equal & possible
        others = possible.sum(axis=0) - equal.sum(axis=0)
        for i, share in enumerate(SHARES):
            jumps = np.log1p(share * (1 / np.where(equal, p, 1.0) - 1))
            self._log_e[i] += others * np.log1p(-share) + jumps.sum(axis=0)
            self._log_e[i] -= possible.sum(axis=0) * np.log1p(share * self._rtol)


def nearest_first(places: Any) -> list[tuple[int, ...]]:
    """At most MAX_RELATIONS tuples of positions, those that lie closest together first."""
    return sorted(places, key=lambda at: (at[-1] - at[0], at))[:MAX_RELATIONS]
