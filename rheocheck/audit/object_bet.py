"""The bet on the object itself, where it is longer than the joint prefix that the battery bets on.

Without it "any bias from TV x on is found" would be true of a prefix only. It has the weight of one of the battery's
bets. A law of very many cells takes seconds, so there it is not placed at every look but where the number of draws has
doubled, at the planned looks and at the last draw allowed. At other looks it counts as E = 0: less than it is, so
the mean stays a supermartingale below its own.
"""

import math
from typing import Any

from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import Floats

QUICK_CELLS = 8192


class ObjectBet:
    """EMix on the cells of the object [w + 1]. `weight`: its share of E."""

    def __init__(self, law: Floats, *, rtol: float, weight: float) -> None:
        self._emix, self.weight = EMix(law, rtol=rtol), weight
        self._quick = len(law) <= QUICK_CELLS
        self.n = 0  # draws when it was last placed
        self.log_e = 0.0

    def due(self, n: int, planned: bool) -> bool:
        """Whether to place it at a look after n draws."""
        return self._quick or planned or n >= 2 * self.n

    def place(self, counts: Floats) -> None:
        """Settle it on these counts."""
        self.log_e, self.n = self._emix.log_e(counts), int(counts.sum())

    def mixed(self, others: float, n: int) -> float:
        """ln E of the mean with the other bets, whose ln E is given, after n draws."""
        rest = others + math.log1p(-self.weight)
        if self.n != n:
            return rest
        own = self.log_e + math.log(self.weight)
        high = max(rest, own)
        return high if math.isinf(high) else high + math.log(math.exp(rest - high) + math.exp(own - high))

    def state(self) -> list[Any]:
        """Plain JSON."""
        return [self.n, self.log_e if math.isfinite(self.log_e) else "inf"]

    def restore(self, state: list[Any]) -> None:
        """Go on from `state()`."""
        self.n, self.log_e = int(state[0]), float(state[1])
