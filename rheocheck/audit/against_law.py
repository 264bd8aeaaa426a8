"""Evidence about a subject whose target law is known: the battery of bets, and the bound on TV of a named object.

Null: every token, given everything before it, has the target's law. E is the battery's total, so it may be looked at
any number of times. The bound speaks of one object: the joint law of the longest prefix with at most 512 words, or of
the first token where already two tokens have more; E speaks of all tokens.

Where a filter's cut-off leaves the law unknown (boundary tokens) words are told apart only up to there, and the
battery bets on these cells alone: one draw of one known law for every word.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws
from rheocheck.audit.tally import Tally
from rheocheck.audit.target import MAX_CELLS, JointLaw, Target, joint_law, object_tokens
from rheocheck.audit.verdict import Boundary, Witness
from rheocheck.audit.witness import witness_against_law
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.battery import STATISTICS as BETS
from rheocheck.stats.battery import STREAMS, Battery
from rheocheck.stats.bounds import anytime_width, mean_empirical_tv, tv_lower, tv_upper_anytime
from rheocheck.stats.chi_square import chi_square, total_variation
from rheocheck.stats.named_faults import diagnose, fault_laws
from rheocheck.stats.plan import FLUCTUATION, Plan, plan, smallest_detectable_tv

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
STATISTICS = len(BETS)  # E is the mean of at most so many bets: one of them at STATISTICS / alpha is enough
DEPENDENT = math.log(1e3)  # E of a stream from which on draws are taken to depend on each other
NAMED = 3.0  # log10 odds of a fault over the target's own law from which on it is named, and 1 over the next fault
OF_CELLS = {"first token": "words", "first token given previous call": "word given previous call"}


class AgainstLaw:
    """What the draws say about TV(subject, target); see `Evidence` in `audit.evidence` for the interface.

    tv      the bias worth finding: fixes where the bound is tightest, not what it says
    depth   drafts of a full block; 0: the draws come without a decode log
    """

    reference = "target"

    def __init__(
        self,
        target: Target,
        context: Context,
        tokens: int,
        *,
        tv: float,
        alpha: float,
        delta: float,
        rtol: float,
        depth: int = 0,
    ) -> None:
        self.target, self.context, self.tokens, self.rtol = target, context, tokens, rtol
        self.alpha, self.delta = alpha, delta
        self._joint, self.law = object_law(target, context, tokens, rtol)
        self.length = self._joint.tokens
        self.tally, self._first_half = Tally(tokens), Tally(self.length)
        self.plan = law_plan(self.law, tv=tv, alpha=alpha, delta=delta)
        self._n_opt = self.plan.budget
        self._whole = self._with_boundary()
        self.boundary = self._whole.boundary if self._whole else {}
        self._bets = self.law
        if self._whole is None:
            state = self._state if target.state else None
            self._battery = Battery(
                self._row, target.vocab_size, tokens, state=state, rtol=rtol, log=depth > 0, depth=depth or None
            )
        elif depth:
            raise InputError("a decode log cannot be used, the target has boundary tokens: --depth 0 leaves it out")
        else:
            self._cell, self._bets = _numbered_cells(self._whole)
            self._battery = Battery(lambda _: self._bets, len(self._bets), 1, rtol=(1 + rtol) ** tokens - 1)
        self._found: dict[str, float] | None = None
        self.looks = 0
        self.peak = self.log_e = 0.0
        self.tv_upper = 1.0

    @property
    def n(self) -> int:
        return self.tally.n

    def object(self) -> str:
        """What the bound on TV is about."""
        return object_name(self.length, self.context) + (", cut at boundary tokens" if self.boundary else "")

    def add(self, *draws: Draws) -> None:
        """Draws of the subject, in order."""
        (drawn,) = draws
        self._first_half.add(drawn.words[: len(drawn) // 2, : self.length])
        self.tally.add(drawn.words)
        self._found = None
        if self._whole is None:
            self._battery.update(drawn.words, rows=drawn.rows, calls=drawn.calls, blocks=drawn.blocks)
        else:
            cells = self._cell[self._whole.index(drawn.words)]
            self._battery.update(cells[:, None], rows=drawn.rows, calls=drawn.calls)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        self.looks += 1
        self.log_e = self._battery.total()
        self.peak = max(self.peak, self.log_e)
        rtol = (1 + self.rtol) ** self.length - 1
        bound = tv_upper_anytime(self._counts(), self.law, delta=self.delta, n_opt=self._n_opt, rtol=rtol)
        self.tv_upper = min(self.tv_upper, bound)

    def tallies(self) -> tuple[Tally, ...]:
        """What was drawn."""
        return (self.tally,)

    def clean(self) -> bool:
        """Whether the draws show no sign of dependence, which the bound takes for granted.

        A wrong law makes repetitions surprising too, though less than it is itself: that is no dependence.
        """
        streams, others = self._streams_and_others()
        return streams < DEPENDENT or streams <= others

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic that had data."""
        found = {name: value / math.log(10) for name, value in self._each().items()}
        if self._whole is None:
            return found
        found.pop("next token given context", None)  # of one-token words: the same as "first token"
        return {OF_CELLS.get(name, name): value for name, value in found.items()}

    def estimate(self) -> float:
        """Plug-in estimate of TV of the object; above 0 even without a bias."""
        return total_variation(self._counts() / max(1, self.n), self.law)

    def tv_lower(self, delta: float) -> float:
        """A lower bound on TV of the object, the event chosen on one half of the draws and tested on the other.

        Clopper and Pearson's is for one sample size fixed beforehand; the looks share delta as 1 / (j (j + 1)).
        """
        first = self._counts(self._first_half)
        level = delta / (max(1, self.looks) * (self.looks + 1))
        bound = tv_lower(first, self._counts() - first, self.law, delta=level)
        return max(0.0, bound - ((1 + self.rtol) ** self.length - 1) / 2)

    def detectable(self) -> float:
        """Smallest TV of the object found with power 99.9 %: what is bet on tells apart at least as much."""
        return smallest_detectable_tv(self._bets, self.n, self.alpha / STATISTICS)

    def cross_check(self) -> float:
        """The classical p-value, at this sample size: chi-square on the object."""
        return chi_square(self._counts(), self.law, rtol=(1 + self.rtol) ** self.length - 1).p_value

    def diagnosis(self) -> str | None:
        """The named fault of a one-draft chain that explains the first token best, when the drafter's law is known."""
        if self.target.drafter is None:
            return None
        p, q = self._row(()), np.array([float(x) for x in self.target.drafter(self.context)])
        counts = self.tally.prefix_counts(1, lambda words: words[:, 0], len(p))
        ranked = diagnose(counts, p, fault_laws(p, q / q.sum()))
        over_target = sum(found.log10_over_next for found in ranked)
        if not ranked or ranked[0].log10_over_next < 1 or over_target < NAMED:
            return None
        return (
            f"best named fault, by the first token: {ranked[0].name!r}, 10^{ranked[0].log10_over_next:.1f} : 1 over "
            f"the next, 10^{over_target:.1f} : 1 over the target"
        )

    def witness(self) -> Witness | None:
        streams, others = self._streams_and_others()
        near, size, impossible = self._near, self.target.vocab_size, self._impossible()
        witness = witness_against_law(self.tally, self._row, near, size, impossible, certain=streams > others)
        return witness and Witness(self.context + witness.context, witness.token, witness.emitted, witness.target)

    def boundary_tokens(self) -> tuple[Boundary, ...]:
        """Tokens within rounding of a filter's cut-off, and their hits."""
        found = []
        for prefix, near in sorted(self.boundary.items(), key=lambda item: (len(item[0]), item[0])):
            _, tokens, counts = self.tally.after(prefix)
            for x in sorted(near):
                hits = int(counts[tokens == x].sum())
                found.append(Boundary(self.context + prefix, x, float(self._row(prefix)[x]), hits))
        return tuple(found)

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "tally": self.tally.state(),
            "first half": self._first_half.state(),
            "battery": self._battery.state(),
            "n_opt": self._n_opt,
            "looks": self.looks,
            "peak": self.peak if math.isfinite(self.peak) else "inf",
            "tv_upper": self.tv_upper,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same law; the bound stays tightest where it was planned to be."""
        self.tally.restore(state["tally"])
        self._first_half.restore(state["first half"])
        self._battery.restore(state["battery"])
        self._n_opt, self.looks = state["n_opt"], state["looks"]
        self.peak, self.tv_upper = float(state["peak"]), state["tv_upper"]
        self.log_e, self._found = self._battery.total(), None

    def _each(self) -> dict[str, float]:
        """ln E of each statistic that had data, worked out once a look."""
        if self._found is None:
            self._found = self._battery.log_e()
        return self._found

    def _streams_and_others(self) -> tuple[float, float]:
        """The largest ln E of the bets on dependence between draws, and of the others."""
        found = self._each()
        streams = [found.get(name, 0.0) for name in STREAMS]
        return max(streams), max((value for name, value in found.items() if name not in STREAMS), default=0.0)

    def _with_boundary(self) -> JointLaw | None:
        """The joint law of whole words, where a filter's cut-off comes into it."""
        if self.target.boundary is None:
            return None
        size = self.target.vocab_size
        if self.tokens * np.log2(size) > np.log2(MAX_CELLS):
            raise InputError(
                f"a target with filters must have at most {MAX_CELLS} words, got {size}^{self.tokens}: lower --tokens"
            )
        whole = joint_law(self.target, self.context, self.tokens, self.rtol)
        return whole if whole.boundary else None

    def _impossible(self) -> list[tuple[Context, int]]:
        """Hits of tokens of probability 0, each after a prefix of possible tokens."""
        if self._whole is None:
            first = "next token given context"
            return [(found.prefix, found.token) for found in self._battery.impossible if found.statistic == first]
        hits = []
        for prefix, p in self._whole.rows.items():
            _, tokens, _ = self.tally.after(prefix)
            hits += [(prefix, int(x)) for x in tokens[p[tokens] == 0] if x not in self._near(prefix)]
        return hits

    def _row(self, prefix: Context) -> Floats:
        return self.target.row(self.context + prefix, self.rtol)

    def _state(self, prefix: Context) -> Any:
        assert self.target.state is not None  # given to the battery only where there is one
        return self.target.state(self.context + prefix)

    def _near(self, prefix: Context) -> frozenset[int]:
        return self.target.near_cutoff(self.context + prefix)

    def _counts(self, tally: Tally | None = None) -> Floats:
        words = (tally or self.tally).prefix_counts(self.length, self._joint.index, len(self._joint.law))
        return self._joint.of_cells(words)


def object_law(target: Target, context: Context, tokens: int, rtol: float) -> tuple[JointLaw, Floats]:
    """The joint law of the object, and what it is about: the law of its cells [V^length]."""
    joint = joint_law(target, context, object_tokens(target.vocab_size, tokens), rtol)
    return joint, joint.of_cells(joint.law)


def law_plan(law: Floats, *, tv: float, alpha: float, delta: float, power: float = 0.999, simulate: int = 0) -> Plan:
    """The plan of an audit whose object has this law: E is a mean, so one bet must win STATISTICS times as much."""
    return plan(law, tv=tv, alpha=alpha / STATISTICS, delta=delta, power=power, simulate=simulate)


def law_reach(law: Floats, samples: int, *, alpha: float, delta: float) -> tuple[float, float]:
    """The TV of the object that so many draws find for certain, and the one that they rule out where there is none."""
    found = smallest_detectable_tv(law, samples, alpha / STATISTICS)
    ruled_out = mean_empirical_tv(law, samples) + anytime_width(samples, delta, samples) + FLUCTUATION / samples**0.5
    return found, min(1.0, float(ruled_out))


def object_name(length: int, context: Context) -> str:
    """What a bound on TV is about, in words."""
    prefix = "first token" if length == 1 else f"joint prefix of {length} tokens"
    return f'{prefix} after context "{" ".join(map(str, context))}"'


def _numbered_cells(whole: JointLaw) -> tuple[Ints, Floats]:
    """The number of every word's cell [V^L], and the law of these [cells]; impossible words share the last cell."""
    law = whole.of_cells(whole.law)
    used = np.flatnonzero(law > 0)
    numbers = np.full(len(law), len(used), dtype=np.int64)
    numbers[used] = np.arange(len(used))
    cells = np.append(law[used] / law[used].sum(), 0.0)
    return numbers[whole.cells], cells
