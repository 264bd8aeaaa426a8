"""Evidence about two subjects of which neither law is known: the same engine with speculation on and off.

Null: at every step the two draws are exchangeable. E is the mean of sign bets on the words of the object, of sign
bets on token ratios of whole words, and of sign bets on two and three tokens of a word, wherever they stand. The bound
speaks of one object: the tokens that were asked for, else the longest prefix that showed at most 512 different words
in a pilot, and that the draws allowed can bound by it.

The pilot of a live baseline is thrown away. That of a recording is not: it is the first draws of *both* arms taken
together, and swapping the two draws of a pair does not change it, so given the unordered pairs every bet is as fair as
before. The bound on TV then has to hold for every length that the pilot could have chosen: delta is shared out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.against_law import DEPENDENT
from rheocheck.audit.evidence import Draws
from rheocheck.audit.objects import object_name
from rheocheck.audit.repeats import Repeats
from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import BoundaryToken, Witness
from rheocheck.audit.witness import witness_against_sample
from rheocheck.core.pair import Context
from rheocheck.stats.bounds import mean_empirical_tv
from rheocheck.stats.chi_square import chi_square_two_sample, total_variation
from rheocheck.stats.pair_betting import PairBetting
from rheocheck.stats.plan import CAP, FLUCTUATION, Plan, looks, pass_samples, plan, smallest_detectable_tv
from rheocheck.stats.suite import mean
from rheocheck.stats.two_sample import SignBetting, StringBetting, tv_upper_two_sample_anytime

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
STATISTICS = 3  # bets that E is the mean of, at most
FEW_WORDS = 512  # seen in a pilot, where the object is free


@dataclass(frozen=True)
class Pilot:
    """What some draws say about the size of the question: how long the object is, and roughly its law [cells]."""

    length: int
    law: Floats
    shared: bool  # whether these draws are evidence too

    @classmethod
    def of(
        cls, words: Ints, *, asked: bool, affordable: Callable[[Floats], bool] = lambda law: True, shared: bool = False
    ) -> "Pilot":
        """asked: the object is all tokens; else affordable(law) says whether the draws allowed can bound a law."""
        length = words.shape[1]
        if not asked:
            seen = [np.unique(words[:, :n], axis=0, return_counts=True)[1] for n in range(1, length + 1)]
            fit = [n for n, counts in enumerate(seen, 1) if len(counts) <= FEW_WORDS and affordable(_about(counts))]
            length = max(fit, default=1)
        counts = np.unique(words[:, :length], axis=0, return_counts=True)[1]
        return cls(length, _about(counts), shared)


def _about(counts: Ints) -> Floats:
    """Roughly the law behind these counts, with one more cell for all that they did not show."""
    law: Floats = np.append(counts + 0.5, 0.5)
    return law / law.sum()


class AgainstBaseline:
    """What paired draws say about TV(subject, baseline); see `Evidence` in `audit.evidence` for the interface."""

    reference = "baseline"

    def __init__(self, pilot: Pilot, context: Context, tokens: int, *, tv: float, alpha: float, delta: float) -> None:
        self.context, self.tokens, self.alpha = context, tokens, alpha
        self.tally, self.other = Tally(tokens), Tally(tokens)
        self.pilot, self.length, self.law = pilot, pilot.length, pilot.law
        self.plan = baseline_plan(self.law, tv=tv, alpha=alpha, delta=delta)
        self._signs = SignBetting(delta=delta / tokens if pilot.shared else delta)
        self._strings = StringBetting(tokens)
        self._pairs = PairBetting(tokens) if tokens > 1 else None
        self._repeats = (Repeats(), Repeats())
        self._halves = (Tally(self.length), Tally(self.length))
        self._codes: dict[Context, int] = {}
        self.looks = 0
        self.peak = self.log_e = 0.0
        self.tv_upper = 1.0

    @property
    def n(self) -> int:
        return self.tally.n

    def object(self) -> str:
        """What the bound on TV is about."""
        return object_name(self.length, self.context)

    @property
    def object_tokens(self) -> int:
        """How many tokens that is."""
        return self.length

    @property
    def planned(self) -> tuple[int, ...]:
        """The bound may be looked at any number of times: no look is planned."""
        return ()

    def needed(self) -> int:
        """Draws that bound the object for almost every correct subject, as far as the pilot shows."""
        return self.plan.pass_

    def words(self) -> None:
        """How many words are possible is not known."""
        return None

    def bounded(self, tv: float) -> tuple[int, float]:
        """The longest prefix of the object of which these draws show TV <= tv, and that bound; else the first token.

        All prefixes, and all looks, share delta, so whichever is named, its bound holds with that confidence.
        """
        bound = 1.0
        for length in range(self.length, 0, -1):
            a, b = self._both_prefixes(length)
            bound = tv_upper_two_sample_anytime(a, b, max(1, self.looks), delta=self._signs.delta / self.length)
            if bound <= tv:
                return length, bound
        return 1, bound

    def add(self, *draws: Draws) -> None:
        """Equally many draws of the subject and of the baseline, in order: pairs."""
        words, reference = (drawn.words for drawn in draws)
        self.tally.add(words)
        self.other.add(reference)
        for drawn, repeats, half in zip(draws, self._repeats, self._halves, strict=True):
            repeats.add(drawn)
            half.add(drawn.words[: len(drawn) // 2, : self.length])
        self._signs.update(self._numbered(words), self._numbered(reference))
        self._strings.update(words, reference)
        if self._pairs is not None:
            self._pairs.update(words, reference)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        self.looks += 1
        self.log_e = self._total()
        self.peak = max(self.peak, self.log_e)
        self.tv_upper = self._signs.tv_upper()

    def tallies(self) -> tuple[Tally, ...]:
        """What was drawn, from each arm."""
        return self.tally, self.other

    def clean(self) -> bool:
        """Whether the draws of neither arm repeat each other, which the bound takes for granted."""
        return max(repeats.log_e() for repeats in self._repeats) < DEPENDENT

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic."""
        return {name: value / math.log(10) for name, value in self._each().items()}

    def estimate(self) -> float:
        """Plug-in estimate of TV of the object; above 0 even without a bias."""
        a, b = self._both()
        return total_variation(a / max(1, a.sum()), b / max(1, b.sum()))

    def tv_lower(self, delta: float) -> float:
        """A lower bound on TV of the object, the event chosen on one half of the draws and tested on the other.

        Hoeffding's radius for the difference of two means; the looks share delta as 1 / (j (j + 1)).
        """
        whole, first = self._both(), self._both(self._halves)
        chosen = first[0] / max(1, first[0].sum()) > first[1] / max(1, first[1].sum())
        a, b = (second - half for second, half in zip(whole, first, strict=True))
        n, m = int(a.sum()), int(b.sum())
        if min(n, m) == 0:
            return 0.0
        level = delta / (max(1, self.looks) * (self.looks + 1)) / (self.tokens if self.pilot.shared else 1)
        radius = math.sqrt((1 / n + 1 / m) * math.log(1 / level) / 2)
        return max(0.0, float(a[chosen].sum() / n - b[chosen].sum() / m) - radius)

    def detectable(self) -> float:
        """Smallest TV of the object found with power 99.9 %: two samples see what one sample of half the size does."""
        law = _about(np.sum(self._both(), axis=0))  # a pilot sees too little of a large law
        found = (smallest_detectable_tv(p, self.n // 2, self.alpha / STATISTICS) for p in (self.law, law))
        return max(found)

    def cross_check(self) -> float:
        """The classical p-value, at this sample size: chi-square homogeneity on the object."""
        return chi_square_two_sample(*self._both()).p_value

    def diagnosis(self) -> str | None:
        """No fault can be named without the laws."""
        return None

    def witness(self) -> Witness | None:
        found = witness_against_sample(self.tally, self.other)
        return found and Witness(self.context + found.context, found.token, found.emitted, found.target)

    def boundary_tokens(self) -> tuple[BoundaryToken, ...]:
        """None: no filter of a target is known."""
        return ()

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "pilot": [self.pilot.length, self.pilot.law.tolist(), self.pilot.shared],
            "tally": self.tally.state(),
            "other": self.other.state(),
            "halves": [half.state() for half in self._halves],
            "codes": [[*word] for word in self._codes],
            "signs": self._signs.state(),
            "strings": self._strings.state(),
            "pairs": self._pairs.state() if self._pairs else None,
            "repeats": [repeats.state() for repeats in self._repeats],
            "looks": self.looks,
            "peak": self.peak,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same question, made with `saved_pilot` of it."""
        self.tally.restore(state["tally"])
        self.other.restore(state["other"])
        for half, saved in zip(self._halves, state["halves"], strict=True):
            half.restore(saved)
        self._codes = {tuple(word): code for code, word in enumerate(state["codes"])}
        self._signs.restore(state["signs"])
        self._strings.restore(state["strings"])
        if self._pairs is not None:
            self._pairs.restore(state["pairs"])
        for repeats, saved in zip(self._repeats, state["repeats"], strict=True):
            repeats.restore(saved)
        self.looks, self.peak = state["looks"], state["peak"]
        self.log_e, self.tv_upper = self._total(), self._signs.tv_upper()

    def _total(self) -> float:
        return mean(list(self._each().values()))

    def _each(self) -> dict[str, float]:
        """ln E of each statistic."""
        found = {"joint prefix": self._signs.log_e(), "token ratios": self._strings.log_e()}
        return found | ({"pairs of positions": self._pairs.log_e()} if self._pairs else {})

    def _numbered(self, words: Ints) -> Ints:
        """A number for the object's prefix of every word, in order of appearance."""
        if not len(words):
            return np.zeros(0, dtype=np.int64)
        prefixes, where = np.unique(words[:, : self.length], axis=0, return_inverse=True)
        codes = [self._codes.setdefault(tuple(row), len(self._codes)) for row in prefixes.tolist()]
        return np.array(codes, dtype=np.int64)[where.ravel()]

    def _both_prefixes(self, length: int) -> tuple[Ints, Ints]:
        """Counts of the words of so many first tokens in both samples."""
        together = np.concatenate([self.tally.words[:, :length], self.other.words[:, :length]])
        codes = np.unique(together, axis=0, return_inverse=True)[1].ravel()
        cells, split = int(codes.max(initial=0)) + 1, len(self.tally.words)
        a = np.bincount(codes[:split], weights=self.tally.counts, minlength=cells)
        b = np.bincount(codes[split:], weights=self.other.counts, minlength=cells)
        return a.astype(np.int64), b.astype(np.int64)

    def _both(self, tallies: tuple[Tally, Tally] | None = None) -> tuple[Ints, Ints]:
        """Counts of the object's prefixes in both samples."""
        a, b = (
            t.prefix_counts(self.length, self._numbered, len(self._codes)) for t in tallies or (self.tally, self.other)
        )
        return a, b


def saved_pilot(state: dict[str, Any]) -> Pilot:
    """The pilot that a saved state was planned with."""
    length, law, shared = state["pilot"]
    return Pilot(length, np.array(law), shared)


def baseline_plan(law: Floats, *, tv: float, alpha: float, delta: float) -> Plan:
    """The plan of an audit whose object has about this law: two samples of 2 n draws say as much as one of n.

    The debiased bound needs a known law, so its looks are left out.
    """
    made = plan(law, tv=tv / math.sqrt(2), alpha=alpha / STATISTICS, delta=delta, simulate=0)
    enough = pass_samples(law, tv / math.sqrt(2), delta)
    budget = max(made.detect, enough)
    return replace(made, pass_=enough, budget=budget, cap=CAP * budget)


def baseline_reach(pilot: Pilot, tokens: int, samples: int, *, alpha: float, delta: float) -> tuple[float, float]:
    """The TV of the object that so many draws of each arm find for certain, and the one that they rule out.

    The difference of two empirical laws varies by sqrt(2) more than one does.
    """
    found = smallest_detectable_tv(pilot.law, samples // 2, alpha / STATISTICS)
    last = next(j for j, n in enumerate(looks(), start=1) if n >= samples)
    level = (delta / tokens if pilot.shared else delta) / (last * (last + 1))
    radius = math.sqrt(math.log(1 / level) / samples)
    ruled_out = math.sqrt(2) * (mean_empirical_tv(pilot.law, samples) + FLUCTUATION / math.sqrt(samples)) + radius
    return found, min(1.0, float(ruled_out))
