"""Does a word depend on another one: on the row before it, on its own row of the call before, on what came last?

    rows and calls  token j given token i of the row before, and of the same row of the call before, for all i and j
                    (i = j only, in long words)
    carried over    the first token given the last token of the word before, in order of generation, and of the same
                    row of the call before: a random number that a call left over

By ids and by levels, as the pairs of positions of one word are, see `rheocheck.stats.distances`.

Fair: order all words by (call, row); the other word is earlier in this order, so it is known, and under the null every
token has the law of its own prefix whatever other words were. The bets are learned `apart` from what the token does
by itself: a wrong law without dependence wins nothing here, so this is evidence of dependence and nothing else.
"""

from typing import Any

import numpy as np

from rheocheck.stats.contexts import NOT_COUNTED, PrefixLaws
from rheocheck.stats.distances import MAX_RELATIONS
from rheocheck.stats.inputs import Ints
from rheocheck.stats.learned import Learned
from rheocheck.stats.suite import mean
from rheocheck.stats.token_cells import TokenCells


class Across:
    """The bets of words of `tokens` tokens on earlier words."""

    def __init__(self, laws: PrefixLaws, tokens: int, *, rtol: float = 0.0) -> None:
        every = [(i, j) for i in range(tokens) for j in range(tokens)]
        chosen = every if 2 * len(every) <= MAX_RELATIONS else [(i, i) for i in range(tokens)]
        self._from, at = (list(places) for places in zip(*chosen, strict=True))
        self._tokens = tokens
        self._cells = [TokenCells(laws, levels=levels) for levels in (False, True)]
        self._grid = [Learned(cells, at + at, cells.count, rtol=rtol, apart=True) for cells in self._cells]
        self._carried = [Learned(cells, [0, 0], cells.count, rtol=rtol, apart=True) for cells in self._cells]

    @property
    def width(self) -> int:
        """Numbers that `features` makes of a word."""
        return 2 * self._tokens

    def features(self, x: Ints, states: Ints) -> Ints:
        """What later words may depend on: the cells of all tokens of words x [n, L], by ids and by levels."""
        return np.concatenate([cells.of(x, states) for cells in self._cells], axis=1)

    def add(self, x: Ints, states: Ints, row_before: Ints, call_before: Ints, word_before: Ints) -> None:
        """Words in order, and the features [n, width] of the three earlier words; -1 where there is none."""
        for kind, (grid, carried) in enumerate(zip(self._grid, self._carried, strict=True)):
            mine = slice(kind * self._tokens, (kind + 1) * self._tokens)
            row, call, word = (earlier[:, mine] for earlier in (row_before, call_before, word_before))
            grid.add(np.concatenate([row[:, self._from], call[:, self._from]], axis=1), x, states)
            carried.add(np.stack([word[:, -1], call[:, -1]], axis=1), x, states)

    def statistics(self) -> dict[str, tuple[float, int]]:
        """(log e-value, bets) of each."""
        found = {}
        for name, kinds in (("rows and calls", self._grid), ("carried over", self._carried)):
            found[name] = mean([mean(bets.log_es()) for bets in kinds]), kinds[0].draws
        return found

    def saved(self) -> list[Any]:
        return [bets.saved() for bets in self._grid + self._carried]

    def restore(self, saved: list[Any]) -> None:
        for bets, one in zip(self._grid + self._carried, saved, strict=True):
            bets.restore(one)


def taken(features: Ints, at: Ints, there: Ints) -> Ints:
    """features[at[i]] where there[i], else -1 (no such word)."""
    return np.where(there[:, None], features[at], NOT_COUNTED)
