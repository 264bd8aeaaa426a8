"""A short plain run of the subject, without interception: does it show the bias that its enumerated law has?

Two questions of the same fresh draws x_1 .. x_n. Against the reference t: the likelihood ratio

    E = product of e(x_i) / t(x_i),    e the enumerated law,

is an e-value under t (infinite after one impossible word); about n KL(e || t) = 30 = ln 1e13 is expected of ln E. And
do they fit e at all: chi-square at 1e-6. If not, interception has computed the law of something else, and nothing is
said.

Of an enumeration cut short e is only a lower bound. Then just one event is looked at, the words seen to come too often:
its probability is at least e, and at most t by the reference.

A tolerance of the reference enters as t (1 + rtol): E stays an e-value under every law within it.
"""

import math
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rheocheck.audit.difference import Difference
from rheocheck.audit.references import Reference
from rheocheck.audit.session import power_of_ten
from rheocheck.audit.streams import CONFIRM_EXACT, PLAIN, session_seed
from rheocheck.audit.subject import LiveSource
from rheocheck.core.pair import Context
from rheocheck.intercept.seeding import seed_globals
from rheocheck.stats.chi_square import chi_square

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
EXPECTED_LOG_E = 30.0
CONFIRMED = math.log(1e3)  # as for a sampled bias; a true one that is expected to reach 30 misses it once in 1000
FEWEST, MOST = 200, 20_000  # draws
CHECKED = 2000  # draws of a bias that MOST could not confirm: they still show whether interception went wrong
SECONDS = 20.0
CONTRADICTION = 1e-6


@dataclass(frozen=True)
class Confirmation:
    """What plain draws say: in words, and whether they can come from the enumerated law at all."""

    text: str
    agrees: bool


@dataclass(frozen=True)
class Bet:
    """The enumerated law against the reference by numbered cells; the last one holds words that neither law has.

    e, t     probabilities [cells]; of a bet on one event [the event, all else, nothing]
    event    whether e[0] is only a lower bound, t[0] an upper one
    """

    number: dict[Hashable, int] = field(repr=False)
    e: Floats = field(repr=False)
    t: Floats = field(repr=False)
    event: bool

    @classmethod
    def on(cls, seen: Difference, law_tolerance: float) -> "Bet":
        """On all words where both laws are complete, else on the event that some of those come that come too often."""
        cells = list(dict.fromkeys([*seen.emitted, *seen.reference]))
        e = np.array([seen.emitted.get(cell, 0.0) for cell in cells])
        t = np.array([seen.reference.get(cell, 0.0) for cell in cells])
        if seen.complete:
            number = {cell: i for i, cell in enumerate(cells)}
            return cls(number, np.append(e, 0.0), np.append(t, 0.0) * (1 + law_tolerance), False)
        often = e > t
        s = min(1.0, float(e[often].sum()))
        u = min(1.0, (float(t[often].sum()) + seen.reference_unseen) * (1 + law_tolerance))
        number = {cell: 0 if more else 1 for cell, more in zip(cells, often, strict=True)}
        return cls(number, np.array([s, 1 - s, 0.0]), np.array([u, 1 - u, 0.0]), True)

    def rate(self) -> float:
        """What one draw is expected to add to ln E: the impossible part as its chance of a hit."""
        both = (self.e > 0) & (self.t > 0)
        divergence = float((self.e[both] * np.log(self.e[both] / self.t[both])).sum())
        return max(divergence, float(self.e[self.t == 0].sum()))

    def counts(self, cells: list[Hashable]) -> Ints:
        """How often each cell was drawn; an event's complement takes in what was never seen."""
        other = 1 if self.event else len(self.e) - 1
        numbers = [self.number.get(cell, other) for cell in cells]
        return np.bincount(np.array(numbers, dtype=np.int64), minlength=len(self.e))

    def log_e(self, counts: Ints) -> float:
        """ln E of these counts."""
        drawn = counts > 0
        if np.any(drawn & (self.t == 0) & (self.e > 0)):
            return math.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((self.t > 0), np.log(self.e / self.t), 0.0)
        return float((counts[drawn] * ratio[drawn]).sum())

    def p_value(self, counts: Ints) -> float:
        """Of the null that the draws come from the enumerated law; an event is not rarer than e (Chernoff)."""
        if not self.event:
            return chi_square(counts, self.e / self.e.sum()).p_value
        return _chernoff(counts, self.e) if counts[0] < counts.sum() * self.e[0] else 1.0

    def p_value_of_baseline(self, counts: Ints) -> float:
        """The same for draws of the baseline and its law; an event is not more frequent than t."""
        if not self.event:
            return chi_square(counts, self.t / self.t.sum()).p_value
        return _chernoff(counts, self.t) if counts[0] > counts.sum() * self.t[0] else 1.0


def plain_run(
    sides: Sequence[Any],
    reference: Reference,
    seen: Difference,
    law_tolerance: float,
    *,
    context: Context,
    tokens: int,
    seed: int,
    never: frozenset[Context] = frozenset(),
    number: int | None = None,
    progress: bool | None = None,
    eos: int | None = None,
) -> Confirmation:
    """Draw plainly from the subject and say what it shows; from a baseline too, whether its draws fit its own law.

    never   words of boundary faults, left out
    number  how many draws; None: as many as it takes, within limits
    """
    bet = Bet.on(seen, law_tolerance)
    rate = bet.rate()
    needed = math.ceil(EXPECTED_LOG_E / rate) if rate > EXPECTED_LOG_E / 1e15 else math.inf
    wanted = number or (max(FEWEST, int(needed)) if needed <= MOST else CHECKED)
    counts = []
    for i, side in enumerate(sides):
        source = LiveSource(side, context, tokens, seed=seed, stream=PLAIN + i, one_by_one=True, eos=eos)
        words = _draw(source, wanted, seed, progress)
        counts.append(bet.counts([reference.cell(word) for word in words if word not in never]))
    p_value = min(bet.p_value(counts[0]), *(bet.p_value_of_baseline(other) for other in counts[1:]), 1.0)
    fit = f"they {'contradict' if p_value < CONTRADICTION else 'fit'} the enumerated law (p-value {p_value:.2g})"
    return Confirmation(_text(int(counts[0].sum()), bet.log_e(counts[0]), needed, fit), p_value >= CONTRADICTION)


def _text(n: int, log_e: float, needed: float, fit: str) -> str:
    if log_e >= CONFIRMED:
        return f"confirmed by {n} plain draws: E = {power_of_ten(log_e)}; {fit}"
    if n < needed:
        takes = f"it would take about {needed:.1g}" if math.isfinite(needed) else "no number of draws would do"
        return f"too small to be confirmed by {n} plain draws, {takes}; {fit}"
    return f"not confirmed by {n} plain draws: E = {power_of_ten(log_e)}; {fit}"


def _draw(source: LiveSource, wanted: int, seed: int, progress: bool | None) -> list[Context]:
    """So many words, fewer when the time is over or Ctrl-C comes."""
    if not source.seeded:
        seed_globals(session_seed(seed, 0, CONFIRM_EXACT))
    words: list[Context] = []
    end = time.monotonic() + SECONDS
    disable = None if progress is None else not progress
    with tqdm(total=wanted, unit="draw", desc="plain draws", disable=disable, leave=False) as bar:
        try:
            while len(words) < wanted and time.monotonic() < end:
                words += [tuple(int(x) for x in word) for word in source.draw(1).words]
                bar.update()
        except KeyboardInterrupt:
            pass
    return words


def _chernoff(counts: Ints, p: Floats) -> float:
    """At least the probability that a coin of probability p[0] lands as far to this side: exp(-n divergence)."""
    n, shares = int(counts.sum()), counts / max(1, counts.sum())
    parts = [(x, y) for x, y in zip(shares[:2], p[:2], strict=True) if x > 0]
    return 0.0 if any(y <= 0 for _, y in parts) else math.exp(-n * sum(x * math.log(x / y) for x, y in parts))
