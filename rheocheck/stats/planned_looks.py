"""Looks fixed before the first draw, where the debiased bound may be used beside the anytime bound.

`debiased.tv_upper_debiased` holds at one sample size fixed beforehand. A run that may end early looks at a few such
sizes, n_1 < n_2 < ..., computed from the law, the bias asked about and delta alone. They share the confidence with
each other and with the anytime bound, by the union bound:

    anytime bound, at every look      delta / 10
    debiased bound at n_j             9 delta / 10 * 2^-j         sum of all <= delta

Fair: "the bound fails at n_j" is an event about the first n_j draws of an endless sequence, whether the run gets there
or not; all these events together have probability at most delta, so the bounds of the looks that *were* reached hold
together. A look at a size that the counts chose (where a run was stopped, or wherever the bound looked good) is not
among these events, so there only the anytime bound is used.

n_1 is where 97 % of correct samplers are expected to earn the bound, n_2 where 99.9 % are, and then they double. Which
laws get such looks is decided by the law too: those of many cells, where the noise of TV(Phat, p) costs more than
sharing the confidence. All others keep the anytime bound with the whole of delta.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.bounds import mean_deviation
from rheocheck.stats.debiased import foreseen, mean_radius, representatives
from rheocheck.stats.inputs import Floats, as_law, check_level

MANY_CELLS = 512  # with fewer the two bounds differ by a factor below 2 in draws
ANYTIME_SHARE = 0.1
MOST_LOOKS = 8
USUAL, ALMOST_SURE = 0.65, 0.96  # sqrt(n) TV(Phat, p) exceeds its mean by less in 97 % and in 99.9 % of runs
PRECISION = 0.005  # of a planned size, relative


@dataclass(frozen=True)
class PlannedLooks:
    """Where the debiased bound is used, and who has which part of delta.

    sizes    draws at each look, increasing; none: the anytime bound has all of delta
    deltas   1 - confidence of the debiased bound at each of them
    anytime  1 - confidence of the anytime bound
    enough   draws after which almost every correct sampler has earned the bound that was asked for
    """

    sizes: tuple[int, ...]
    deltas: tuple[float, ...]
    anytime: float
    enough: int

    def delta_at(self, n: int) -> float | None:
        """The share of a look at n draws, None where none was planned."""
        return dict(zip(self.sizes, self.deltas, strict=True)).get(n)


def planned_looks(law: ArrayLike, tv: float, delta: float, *, simple: int, samples: int | None = None) -> PlannedLooks:
    """The looks of a run that asks for TV <= tv.

    simple   draws that the anytime bound takes with all of delta (`plan.pass_samples`): less than the debiased one
             takes, and no look is planned
    samples  draws allowed, if the reader said so: when the bound takes more, the first look is at these
    """
    check_level("tv", tv)
    shares = tuple((1 - ANYTIME_SHARE) * delta * 0.5**j for j in range(1, MOST_LOOKS + 1))
    cells = _cells(law)
    if np.count_nonzero(as_law(law)) <= MANY_CELLS:
        return PlannedLooks((), (), delta, simple)
    second = _size(cells, tv, shares[1], ALMOST_SURE)
    if second >= simple:
        return PlannedLooks((), (), delta, simple)
    first = min(second - 1, _size(cells, tv, shares[0], USUAL))
    sizes = [first, second] if samples is None or first <= samples else [samples, 2 * samples]
    sizes += [sizes[1] * 2**j for j in range(1, MOST_LOOKS - 1)]
    return PlannedLooks(tuple(sizes), shares, ANYTIME_SHARE * delta, second)


def reach_at(law: ArrayLike, samples: int, delta: float) -> float:
    """The TV that almost every correct sampler is bounded by at a first planned look after so many draws."""
    if np.count_nonzero(as_law(law)) <= MANY_CELLS:
        return 1.0
    return _foreseen(_cells(law), samples, (1 - ANYTIME_SHARE) * delta / 2, ALMOST_SURE)


def _cells(law: ArrayLike) -> tuple[Floats, Floats]:
    """A few cells that stand for all of the law's, and how many each stands for: enough to plan by."""
    p = as_law(law)
    values, copies = np.unique(p[p > 0], return_counts=True)
    return representatives(values, copies)


def _foreseen(cells: tuple[Floats, Floats], n: int, delta: float, fluctuation: float) -> float:
    """The debiased bound of a correct sampler whose empirical TV exceeds its mean by fluctuation / sqrt(n)."""
    p, copies = cells
    inside = p < 1
    mean = float(copies[inside] @ mean_deviation(n, p[inside]) / (2 * n))
    return foreseen(n, p, copies, mean + fluctuation / np.sqrt(n) + mean_radius(n, delta))


def _size(cells: tuple[Floats, Floats], tv: float, delta: float, fluctuation: float) -> int:
    """The fewest draws with a foreseen bound of tv, to within PRECISION."""
    high = max(1, int(1 / tv**2))
    while _foreseen(cells, high, delta, fluctuation) > tv:
        high *= 2
    low = high // 2
    while high - low > max(1, PRECISION * high):
        middle = (low + high) // 2
        low, high = (low, middle) if _foreseen(cells, middle, delta, fluctuation) <= tv else (middle, high)
    return high
