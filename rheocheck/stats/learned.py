"""Does a token depend on something that it must not depend on? Bets whose odds are learned from the words before.

    factor of a token in cell c = r_kc / sum_c' pi_c' r_kc'

k is the key: anything known before the token is drawn (a token far back, one of another row, a hash of several), c the
token's cell, pi the exact law of the cells after its own prefix. r_kc = (N_kc + s) / (M_kc + s) compares how often c
came with key k and how often it was expected (M: sum of pi), in *earlier* words only, shrunk towards 1 at strengths s.

Fair: r is fixed before the token is drawn, and under the null its cell has law pi whatever came before, so the factor
has mean sum pi_c r_kc / sum pi_c r_kc = 1, for any r; the product over the words is a martingale. The law may differ
from prefix to prefix, for pi does: no context needs counts of its own, and the pooling is the power of it. Where
probabilities may be rtol larger than pi says, the mean is at most 1 + rtol, and each factor is divided by that.

`apart` divides r by what the cell does whatever the key is: a law that is wrong in itself then wins nothing, only
dependence does.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rheocheck.stats.inputs import Floats, Ints
from rheocheck.stats.token_cells import TokenCells
from rheocheck.stats.two_sample import chunks

STRENGTHS = np.geomspace(3, 3e4, 5)
DENSE = 2**20  # (key, state) pairs that are counted in a table rather than sorted
SLAB = 2**15  # (key, state) pairs whose bets are worked out at once


class Learned:
    """One learned bet for each of some relations; `at` says which token of the word each relation is a bet on.

    keys  number of keys of a relation
    """

    def __init__(
        self, cells: TokenCells, at: Sequence[int], keys: int, *, rtol: float = 0.0, apart: bool = False
    ) -> None:
        self._cells, self._at, self._keys, self._apart = cells, np.array(at, dtype=np.int64), keys, apart
        self._log_one_more = float(np.log1p(rtol))
        self.words = self.draws = 0
        self._seen = np.zeros((len(self._at) * keys, cells.count), dtype=np.int64)
        self._expected = np.zeros((len(self._at) * keys, cells.count))
        self._log_e = np.zeros((len(STRENGTHS), len(self._at)))

    def add(self, keys: Ints, tokens: Ints, states: Ints) -> None:
        """Words in order of generation: keys [n, relations], -1 where there is none; tokens and their states [n, L].

        A state below 0 (no law kept, or a token after an impossible one) is not bet on.
        """
        cells, state = self._cells.of(tokens, states)[:, self._at], states[:, self._at]
        usable = (keys >= 0) & (cells >= 0)
        for start, stop in chunks(self.words, len(tokens)):
            # Only words before `start` are in the tables: every bet below is fixed before it is settled.
            part = slice(start, stop)
            row, relation = np.nonzero(usable[part])
            key = relation * self._keys + keys[part][row, relation]
            self._settle(key, cells[part][row, relation], state[part][row, relation])
        self.words += len(tokens)

    def log_es(self) -> Floats:
        """ln E [strengths * relations] of every bet."""
        return self._log_e.ravel()

    def saved(self) -> list[Any]:
        return [self.words, self.draws, self._seen.tolist(), self._expected.tolist(), self._log_e.tolist()]

    def restore(self, saved: list[Any]) -> None:
        self.words, self.draws = saved[0], saved[1]
        self._seen, self._expected = np.array(saved[2], dtype=np.int64), np.array(saved[3], dtype=float)
        self._log_e = np.array(saved[4])

    def _settle(self, key: Ints, cell: Ints, state: Ints) -> None:
        """Bet on tokens by key, cell and state, then learn from them."""
        if not len(key):
            return
        r = self._ratios()
        C, relations = self._cells.count, len(self._at)
        seen = np.bincount(key * C + cell, minlength=self._seen.size).reshape(self._seen.shape)
        gained = (np.log(r) * seen).reshape(len(STRENGTHS), relations, -1).sum(axis=2)
        pairs, counts = _counted(key, state)
        for start in range(0, len(counts), SLAB):
            (k, s), n = (part[start : start + SLAB] for part in pairs), counts[start : start + SLAB]
            pi = self._cells.masses(s)
            norm = np.log(np.einsum("spc,pc->sp", r[:, k], pi)) * n
            relation = k // self._keys  # in order, as the pairs are
            first = np.flatnonzero(np.diff(relation, prepend=-1))
            gained[:, relation[first]] -= np.add.reduceat(norm, first, axis=1)
            where = (k[:, None] * C + np.arange(C)).ravel()
            weights = (pi * n[:, None]).ravel()
            self._expected += np.bincount(where, weights=weights, minlength=seen.size).reshape(seen.shape)
        gained -= np.bincount(key // self._keys, minlength=relations) * self._log_one_more
        self._log_e += gained
        self._seen += seen
        self.draws += len(key)

    def _ratios(self) -> Floats:
        """r [strengths, relations * keys, cells]."""
        s = STRENGTHS[:, None, None]
        expected = self._expected
        if self._apart:
            by_relation = (len(self._at), self._keys, self._cells.count)
            whole = (x.reshape(by_relation).sum(axis=1) for x in (self._seen, self._expected))
            # Not shrunk by s: where a key does what all do, r must be 1 at every strength.
            expected = expected * np.repeat(np.divide(*(x + 1 for x in whole)), self._keys, axis=0)
        r: Floats = (self._seen + s) / (expected + s)
        return r


def _counted(key: Ints, state: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """The different (key, state) pairs, and how often each came."""
    states = int(state.max()) + 1
    both = key * states + state
    if (int(key.max()) + 1) * states <= DENSE:
        counts = np.bincount(both)
        met = np.flatnonzero(counts)
        counts = counts[met]
    else:
        met, counts = np.unique(both, return_counts=True)
    return (met // states, met % states), counts
