"""How many draws a wanted answer needs, before a single one is drawn.

A run has two goals: to detect a bias of total variation `tv` (E reaches 1/alpha, with the wanted power), and, when
there is none, to earn the bound TV <= tv (`bounds.tv_upper_anytime`, confidence 1 - delta). For a law p:

    detect   n = (20 + 6 / sqrt(sum p_i^2)) / tv^2 at alpha = 1e-6, power 99.9 %; 1.2 times that at 1e-9
    pass     n such that E TV(Phat, p) + w(n) + 0.96 / sqrt(n) = tv; with many cells the debiased bound at looks planned
             now takes fewer (`planned_looks`)

The first is a rule fitted to EMix on uniform, Zipf and softmax laws of 8 to 32768 cells and to biases of one
cell, of all cells and of the tail: it covers the worst of them. In between and beyond, the factor grows by 0.2
for every 1e-3 in alpha, as the threshold ln(1/alpha) does; above 1e-6 it stays 1. The second is the exact mean of the
empirical TV, the anytime width, and room for the fluctuation: 99.9 % of correct samplers pass when the law has many
cells; where one event holds about half of the mass, 99.9 % need up to 1.2 times as many draws (measured: 1.13), which
a sequential run simply takes. What such a plan does not promise: nothing is said of a bias below `tv`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from rheocheck.stats.bounds import anytime_width, mean_empirical_tv
from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import Floats, as_law, check_level
from rheocheck.stats.planned_looks import PlannedLooks, planned_looks

FLUCTUATION = 0.96  # sqrt(n) TV(Phat, p) exceeds its mean by less in 99.9 % of runs (two equal cells: by 1.25)
PLANNED_POWER = 0.999
MOST_CELLS_SIMULATED = 2048
CAP = 4
SMALLEST_TV = 1e-6


@dataclass(frozen=True)
class Plan:
    """A budget for one law.

    detect      draws after which EMix has found a bias of `tv` with probability `power`
    pass_       draws after which a correct sampler has earned TV <= tv, with probability about 99.9 %
    budget      the larger of the two; the n_opt of the bound
    looks       sizes planned for the debiased bound, and how the confidence is shared
    cap         where an undecided run stops: 4 budgets
    mean_stop   simulated draws until EMix rejects the hardest bias of `tv` (None: not simulated)
    q99_stop    the 99 % quantile of the same
    notes       what the reader should know about these numbers
    """

    tv: float
    power: float
    alpha: float
    delta: float
    detect: int
    pass_: int
    budget: int
    looks: PlannedLooks
    cap: int
    mean_stop: float | None
    q99_stop: float | None
    notes: tuple[str, ...]


def detection_samples(law: ArrayLike, tv: float, alpha: float = 1e-6) -> int:
    """Draws at which EMix rejects any bias of at least `tv` at level alpha, with power 99.9 %."""
    check_level("tv", tv)
    return int(np.ceil(_detection_constant(as_law(law), alpha) / tv**2))


def smallest_detectable_tv(law: ArrayLike, n: int, alpha: float = 1e-6) -> float:
    """The total variation that n draws detect with power 99.9 % at level alpha; 1.0: nothing is certain to be found."""
    constant = _detection_constant(as_law(law), alpha)
    return 1.0 if n < 1 else float(min(1.0, np.sqrt(constant / n)))


def pass_samples(law: ArrayLike, tv: float, delta: float = 1e-3) -> int:
    """Draws at which a correct sampler has the bound TV <= tv at confidence 1 - delta, in about 99.9 % of runs.

    Solves E TV(Phat, p) + w(n; n_opt = n) + 0.96 / sqrt(n) <= tv with the exact mean, which for large
    vocabularies is well below its limit sum sqrt(p_i (1-p_i) / (2 pi n)).
    """
    check_level("tv", tv)
    p = as_law(law)

    def enough(n: int) -> bool:
        return bool(mean_empirical_tv(p, n) + anytime_width(n, delta, n) + FLUCTUATION / np.sqrt(n) <= tv)

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > max(1, high // 10_000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def looks(first: int = 1000, grow: float = 1.25) -> Iterator[int]:
    """Sample sizes at which to look, without end: first, then each `grow` times the one before."""
    if not (first >= 1 and grow > 1):
        raise ValueError(f"looks must start at >= 1 and grow by more than 1, got {first!r}, {grow!r}: try 1000, 1.25")
    n = int(first)
    while True:
        yield n
        n = max(n + 1, int(np.ceil(n * grow)))


def plan(
    law: ArrayLike,
    *,
    tv: float,
    power: float = PLANNED_POWER,
    alpha: float = 1e-6,
    delta: float = 1e-3,
    samples: int | None = None,
    simulate: int = 30,
    seed: int = 0,
) -> Plan:
    """The budget to find a bias of total variation `tv` in a sampler of `law` [k], or to rule it out.

    Another power than 99.9 % scales `detect` as the noncentrality of a normal test does. `simulate` runs of EMix
    against the hardest bias (equal relative shifts, half of the mass up, half down) show where runs stop; the
    budget does not depend on them. samples: the draws allowed, if that is known. seed: the simulation is repeatable.
    """
    p = as_law(law)
    check_level("power", power)
    check_level("tv", tv)
    if tv < SMALLEST_TV:
        raise ValueError(f"tv must be at least {SMALLEST_TV:g}, got {tv!r}: less takes more than 1e13 draws")
    scale = ((norm.isf(alpha) + norm.isf(1 - power)) / (norm.isf(alpha) + norm.isf(1 - PLANNED_POWER))) ** 2
    detect = max(1, int(np.ceil(detection_samples(p, tv, alpha) * scale)))
    planned = planned_looks(p, tv, delta, simple=pass_samples(p, tv, delta), samples=samples)
    pass_ = planned.enough
    notes: list[str] = []
    stops = None
    if simulate < 1:
        notes.append("stopping times were not simulated (simulate=0)")
    elif np.count_nonzero(p) > MOST_CELLS_SIMULATED:
        notes.append(f"stopping times are simulated up to {MOST_CELLS_SIMULATED} cells only")
    elif (biased := hardest_bias(p, tv)) is None:
        notes.append(f"no bias of TV {tv:g} keeps within the support of this law: nothing to simulate")
    else:
        stops = stopping_times(p, biased, runs=simulate, alpha=alpha, seed=seed, first=max(50, detect // 16))
        if np.quantile(stops, 0.99) > detect:
            notes.append("simulated runs stopped later than the rule for `detect` says: raise the budget")
    if pass_ > 2 * detect:
        notes.append("ruling the bias out takes longer than finding it: a large vocabulary makes the bound wide")
    budget = max(detect, pass_)
    return Plan(
        tv=tv,
        power=power,
        alpha=alpha,
        delta=delta,
        detect=detect,
        pass_=pass_,
        budget=budget,
        looks=planned,
        cap=CAP * budget,
        mean_stop=None if stops is None else float(stops.mean()),
        q99_stop=None if stops is None else float(np.quantile(stops, 0.99)),
        notes=tuple(notes),
    )


def hardest_bias(law: ArrayLike, tv: float) -> Floats | None:
    """A law at total variation `tv` with the least chi-square distance: about 4 tv^2. None where there is no room.

    Cells in decreasing probability go to the lighter side; one side gains in proportion, the other loses.
    """
    p = as_law(law)
    up = np.zeros(len(p), dtype=bool)
    gains = losses = 0.0
    for i in np.argsort(-p, kind="stable"):
        up[i] = gains <= losses
        if up[i]:
            gains += p[i]
        else:
            losses += p[i]
    if losses <= tv:  # the head outweighs everything else: it must be the side that loses
        up, gains, losses = ~up, losses, gains
    if losses < tv or gains == 0:
        return None
    biased: Floats = np.where(up, p * (1 + tv / gains), p * (1 - tv / losses))
    biased /= biased.sum()
    return biased


def stopping_times(
    law: ArrayLike, truth: ArrayLike, *, runs: int, alpha: float, seed: int, first: int = 1000, grow: float = 1.25
) -> Floats:
    """Simulated draws [runs] until EMix of `law` reaches 1/alpha on draws from `truth`, at looks(first, grow).

    A run that has not stopped after 2^50 draws counts as inf. Requires that the two laws differ.
    """
    p, q = as_law(law), as_law(truth)
    rng, mix = np.random.default_rng(seed), EMix(p)
    stops = np.full(runs, np.inf)
    running, counts, before = np.arange(runs), np.zeros((runs, len(p))), 0
    for n in looks(first, grow):
        counts = counts + rng.multinomial(n - before, q, size=len(running))
        before = n
        stopped = mix.log_e_many(counts) >= np.log(1 / alpha)
        stops[running[stopped]] = n
        running, counts = running[~stopped], counts[~stopped]
        if len(running) == 0 or n > 2**50:
            return stops
    raise AssertionError("looks() never ends")


def _detection_constant(p: Floats, alpha: float) -> float:
    check_level("alpha", alpha)
    factor = 1 + 0.2 * max(0.0, np.log10(1e-6 / alpha) / 3)
    return float(factor * (20 + 6 / np.sqrt((p**2).sum())))
