"""Evidence about a subject whose target law is known: the battery of bets, and the bound on TV of a named object.

Null: every token, given everything before it, has the target's law. E is the battery's total, so it may be looked at
any number of times. The bound speaks of one object (`objects`), by counts of its possible words and of one cell
"impossible": at every look the anytime bound, at planned looks of many cells the debiased one too. E speaks of all
tokens; one of the bets is always on the object.

Where a filter's cut-off leaves the law unknown (boundary tokens) words are told apart only up to there, and the
battery bets on these cells alone: one draw of one known law for every word.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.alphabet import Alphabet
from rheocheck.audit.evidence import Draws
from rheocheck.audit.joint_law import JointLaw, joint_law
from rheocheck.audit.object_bet import ObjectBet
from rheocheck.audit.objects import LawObject, object_name
from rheocheck.audit.tally import Tally
from rheocheck.audit.target import LawRow, Target
from rheocheck.audit.verdict import BoundaryToken, Witness
from rheocheck.audit.witness import witness_against_law
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.battery import STATISTICS as BETS
from rheocheck.stats.battery import STREAMS, WITHIN, Battery
from rheocheck.stats.bounds import anytime_width, mean_empirical_tv, tv_lower, tv_upper_anytime
from rheocheck.stats.chi_square import chi_square, total_variation
from rheocheck.stats.debiased import tv_upper_debiased
from rheocheck.stats.named_faults import diagnose, fault_laws
from rheocheck.stats.plan import FLUCTUATION, Plan, plan, smallest_detectable_tv
from rheocheck.stats.planned_looks import PlannedLooks, reach_at

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
STATISTICS = len(BETS)  # E is the mean of at most so many bets: one of them at STATISTICS / alpha is enough
DEPENDENT = math.log(1e3)  # E of a stream from which on draws are taken to depend on each other
NAMED = 3.0  # log10 odds of a fault over the target's own law from which on it is named, and 1 over the next fault
LARGE_VOCABULARY = 512  # from which on bets are made on the possible tokens only, where these are few
OF_CELLS = {"first token": "words", "first token given previous call": "word given previous call"}


class AgainstLaw:
    """What the draws say about TV(subject, target); see `Evidence` in `audit.evidence` for the interface.

    tv      the bias worth finding: fixes where the bound is tightest, not what it says
    samples draws allowed, if that is known: fixes planned looks
    depth   drafts of a full block; 0: the draws come without a decode log
    """

    reference = "target"

    def __init__(
        self,
        about: LawObject,
        target: Target,
        context: Context,
        tokens: int,
        *,
        tv: float,
        alpha: float,
        delta: float,
        rtol: float,
        samples: int | None = None,
        depth: int = 0,
    ) -> None:
        self.target, self.context, self.tokens, self.rtol = target, context, tokens, rtol
        self.alpha, self.delta, self.samples = alpha, delta, samples
        self.about, self._joint, self.law = about, about.joint, about.joint.cell_law()
        self.length = self._joint.tokens  # of what is counted: the object, or a prefix where that is too large
        self.tally, self._first_half = Tally(tokens), Tally(self.length)
        self.plan = law_plan(self.law, tv=tv, alpha=alpha, delta=delta, samples=samples)
        self._planned, self._n_opt = self.plan.looks, self.plan.budget
        self._whole = self._with_boundary()
        self.boundary = self._whole.boundary if self._whole else {}
        self._bets, self._alphabet, self._bet = self.law, None, None
        if self._whole is None:
            self._alphabet = self._possible_tokens()
            state, size = self._state if target.state else None, self._alphabet.size if self._alphabet else self._size()
            self._battery = Battery(self._row, size, tokens, state=state, rtol=rtol, log=depth > 0, depth=depth or None)
            if self.length > self._battery.joint_tokens:
                self._bet = ObjectBet(self.law, rtol=(1 + rtol) ** self.length - 1, weight=1 / STATISTICS)
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
        return object_name(self.about.tokens, self.context) + (", cut at boundary tokens" if self.boundary else "")

    @property
    def object_tokens(self) -> int:
        """How many tokens that is."""
        return self.about.tokens

    @property
    def planned(self) -> tuple[int, ...]:
        """Draws at which a look was planned."""
        return self._planned.sizes

    def needed(self) -> int | None:
        """Draws that bound the object for almost every correct subject; None: no number is enough."""
        return self.plan.pass_ if self.about.whole else None

    def words(self) -> int | None:
        """Possible words of the object, None where they are too many to be counted."""
        return len(self._joint.law) if self.about.whole else None

    def bounded(self, tv: float) -> tuple[int, float]:
        """The longest prefix of the object of which these draws show TV <= tv, and that bound; else the first token.

        All prefixes share delta, so whichever is named, its bound holds with that confidence.
        """
        bound = 1.0
        for length in range(min(self.about.tokens, self.about.longer.tokens), 0, -1):
            joint = self.about.longer.first(length)
            counts = joint.of_cells(self.tally.prefix_counts(length, joint.index, len(joint.law) + 1))
            bound = tv_upper_anytime(
                counts, joint.cell_law(), delta=self.delta / self.about.tokens, n_opt=self._n_opt,
                rtol=(1 + self.rtol) ** length - 1,
            )  # fmt: skip
            if bound <= tv:
                return length, bound
        return 1, bound

    def add(self, *draws: Draws) -> None:
        """Draws of the subject, in order."""
        (drawn,) = draws
        self._first_half.add(drawn.words[: len(drawn) // 2, : self.length])
        self.tally.add(drawn.words)
        self._found = None
        if self._whole is None:
            words = self._alphabet.numbers(drawn.words) if self._alphabet else drawn.words
            self._battery.update(words, rows=drawn.rows, calls=drawn.calls, blocks=drawn.blocks)
        else:
            cells = self._cell[self._whole.index(drawn.words)]
            self._battery.update(cells[:, None], rows=drawn.rows, calls=drawn.calls)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        self.looks += 1
        counts, share = self._counts(), self._planned.delta_at(self.n)
        if self._bet and self._bet.due(self.n, share is not None or self.n == self.samples):
            self._bet.place(counts)
        self.log_e = self._total()
        self.peak = max(self.peak, self.log_e)
        if not self.about.whole:
            return
        rtol = (1 + self.rtol) ** self.length - 1
        bound = tv_upper_anytime(counts, self.law, delta=self._planned.anytime, n_opt=self._n_opt, rtol=rtol)
        if share is not None:
            bound = min(bound, tv_upper_debiased(counts, self.law, delta=share) + rtol / 2)
        self.tv_upper = min(self.tv_upper, bound)

    def tallies(self) -> tuple[Tally, ...]:
        """What was drawn."""
        return (self.tally,)

    def clean(self) -> bool:
        """Whether the draws show no sign of dependence, which the bound takes for granted.

        A wrong law makes repetitions surprising too, though less than it is itself: that is no dependence. It excuses
        nothing before the law has been found wrong: a pass has no such sign at all.
        """
        streams, others = self._streams_and_others()
        return streams < DEPENDENT or (streams <= others and self.peak >= math.log(1 / self.alpha))

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic that had data."""
        found = {name: value / math.log(10) for name, value in self._each().items()}
        if self._bet and self._bet.n:
            found[f"joint prefix of {self.length} tokens"] = self._bet.log_e / math.log(10)
        if self._whole is None:
            return found
        found.pop("next token given context", None)  # of one-token words: the same as "first token"
        return {OF_CELLS.get(name, name): value for name, value in found.items()}

    def estimate(self) -> float | None:
        """Plug-in estimate of TV of the object; above 0 even without a bias. None where its law is not known."""
        if not self.about.whole:
            return None
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
        """Smallest TV of the object found with power 99.9 %: what is bet on tells apart at least as much.

        1.0 where no bet is on the whole object.
        """
        if not self.about.whole:
            return 1.0
        return smallest_detectable_tv(self._bets, self._bet.n if self._bet else self.n, self.alpha / STATISTICS)

    def cross_check(self) -> float:
        """The classical p-value, at this sample size: chi-square on the object, or on as much of it as is known."""
        return chi_square(self._counts(), self.law, rtol=(1 + self.rtol) ** self.length - 1).p_value

    def diagnosis(self) -> str | None:
        """The pair of tokens that depend on each other where that is what was found, and the fault that has a name."""
        pair = self._battery.dependent_pair() if self._strongest() in WITHIN else None
        depends = pair and f"token {pair[1] + 1} depends on token {pair[0] + 1} in a way that the target does not have"
        return "; ".join(text for text in (depends, self._named_fault()) if text) or None

    def _named_fault(self) -> str | None:
        """The named fault of a one-draft chain that explains the first token best, when the drafter's law is known."""
        if self.target.drafter is None:
            return None
        p, q = self._dense(()), np.array([float(x) for x in self.target.drafter(self.context)])
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
        near, size, impossible = self._near, self._size(), self._impossible()
        of_dependence = self._strongest() in (*STREAMS, *WITHIN)  # then no single token need be wrong
        witness = witness_against_law(self.tally, self._dense, near, size, impossible, certain=of_dependence)
        return witness and Witness(self.context + witness.context, witness.token, witness.emitted, witness.target)

    def boundary_tokens(self) -> tuple[BoundaryToken, ...]:
        """Tokens within rounding of a filter's cut-off, and their hits."""
        found = []
        for prefix, near in sorted(self.boundary.items(), key=lambda item: (len(item[0]), item[0])):
            _, tokens, counts = self.tally.after(prefix)
            for x in sorted(near):
                hits = int(counts[tokens == x].sum())
                found.append(BoundaryToken(self.context + prefix, x, self._possible(prefix).at(x), hits))
        return tuple(found)

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "object": self.about.tokens,
            "tally": self.tally.state(),
            "first half": self._first_half.state(),
            "battery": self._battery.state(),
            "bet": self._bet.state() if self._bet else None,
            "n_opt": self._n_opt,
            "planned": [list(self._planned.sizes), list(self._planned.deltas), self._planned.anytime],
            "looks": self.looks,
            "peak": self.peak if math.isfinite(self.peak) else "inf",
            "tv_upper": self.tv_upper,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same law; the bound stays tightest, and is looked at, where it was planned."""
        self.tally.restore(state["tally"])
        self._first_half.restore(state["first half"])
        self._battery.restore(state["battery"])
        if self._bet:
            self._bet.restore(state["bet"])
        sizes, deltas, anytime = state["planned"]
        self._planned = PlannedLooks(tuple(sizes), tuple(deltas), anytime, self.plan.pass_)
        self._n_opt, self.looks = state["n_opt"], state["looks"]
        self.peak, self.tv_upper = float(state["peak"]), state["tv_upper"]
        self.log_e, self._found = self._total(), None

    def _total(self) -> float:
        """ln E of all bets together."""
        others = self._battery.total()
        return self._bet.mixed(others, self.n) if self._bet else others

    def _each(self) -> dict[str, float]:
        """ln E of each statistic that had data, worked out once a look."""
        if self._found is None:
            self._found = self._battery.log_e()
        return self._found

    def _strongest(self) -> str:
        """The statistic that has won the most."""
        found = self._each()
        return max(found, key=lambda name: found[name]) if found else ""

    def _streams_and_others(self) -> tuple[float, float]:
        """The largest ln E of the bets on dependence between draws, and of the others."""
        found = self._each()
        streams = [found.get(name, 0.0) for name in STREAMS]
        return max(streams), max((value for name, value in found.items() if name not in STREAMS), default=0.0)

    def _with_boundary(self) -> JointLaw | None:
        """The joint law of whole words, where a filter's cut-off comes into it."""
        if self.target.boundary is None:
            return None
        whole = self.about.longer
        if whole.tokens < self.tokens:
            whole = joint_law(self.target, self.context, self.tokens, self.rtol)
        return whole if whole.boundary else None

    def _impossible(self) -> list[tuple[Context, int]]:
        """Hits of tokens of probability 0, each after a prefix of possible tokens."""
        if self._whole is not None:
            prefixes = set(self._whole.rows)
        else:
            first = "next token given context"
            prefixes = {self._word(found.prefix) for found in self._battery.impossible if found.statistic == first}
        hits = []
        for prefix in sorted(prefixes):
            _, tokens, _ = self.tally.after(prefix)
            never = tokens[self._possible(prefix).of(tokens) == 0]
            hits += [(prefix, int(x)) for x in never if x not in self._near(prefix)]
        return hits

    def _possible_tokens(self) -> Alphabet | None:
        """The tokens to bet on, where the vocabulary is large, or unknown, and most of it is impossible."""
        size, longer = self.target.vocab_size, self.about.longer
        if longer.tokens < self.tokens:
            if size is None:
                raise InputError(
                    f"a sparse law must say its vocab_size where {self.tokens} tokens have too many possible words, "
                    "got none: give the law an attribute vocab_size, or lower --tokens"
                )
            return None
        alphabet = Alphabet.of(longer)
        few = size is None or (size > LARGE_VOCABULARY and 4 * alphabet.size <= size)
        return alphabet if few else None

    def _size(self) -> int:
        """The size of the vocabulary, at least of what is possible in it."""
        if self.target.vocab_size is not None:
            return self.target.vocab_size
        return 1 + max(int(level.tokens.max()) for level in self.about.longer.levels)

    def _possible(self, prefix: Context) -> LawRow:
        """The law after the context and this prefix."""
        known = self.about.longer.rows.get(prefix)
        return self.target.possible(self.context + prefix, self.rtol) if known is None else known

    def _dense(self, prefix: Context) -> Floats:
        return self._possible(prefix).dense(self._size())

    def _row(self, prefix: Context) -> Floats:
        """The law after a prefix as the battery spells it."""
        row = self._possible(self._word(prefix))
        return self._alphabet.row(row) if self._alphabet else row.dense(self._size())

    def _word(self, prefix: Context) -> Context:
        """The tokens of a prefix as the battery spells it."""
        return self._alphabet.word(prefix) if self._alphabet else prefix

    def _state(self, prefix: Context) -> Any:
        assert self.target.state is not None  # given to the battery only where there is one
        return self.target.state(self.context + self._word(prefix))

    def _near(self, prefix: Context) -> frozenset[int]:
        return self.target.near_cutoff(self.context + prefix)

    def _counts(self, tally: Tally | None = None) -> Floats:
        words = (tally or self.tally).prefix_counts(self.length, self._joint.index, len(self._joint.law) + 1)
        return self._joint.of_cells(words)


def law_plan(
    law: Floats,
    *,
    tv: float,
    alpha: float,
    delta: float,
    power: float = 0.999,
    samples: int | None = None,
    simulate: int = 0,
) -> Plan:
    """The plan of an audit whose object has this law: E is a mean, so one bet must win STATISTICS times as much."""
    return plan(law, tv=tv, alpha=alpha / STATISTICS, delta=delta, power=power, samples=samples, simulate=simulate)


def law_reach(law: Floats, samples: int, *, alpha: float, delta: float) -> tuple[float, float]:
    """The TV of the object that so many draws find for certain, and the one that they rule out where there is none."""
    found = smallest_detectable_tv(law, samples, alpha / STATISTICS)
    ruled_out = mean_empirical_tv(law, samples) + anytime_width(samples, delta, samples) + FLUCTUATION / samples**0.5
    return found, min(1.0, float(ruled_out), reach_at(law, samples, delta))


def _numbered_cells(whole: JointLaw) -> tuple[Ints, Floats]:
    """The number of every word's cell [w + 1], and the law of these [cells]; impossible words share the last cell."""
    law = whole.cell_law()
    used = np.flatnonzero(law > 0)
    numbers = np.full(len(law), len(used), dtype=np.int64)
    numbers[used] = np.arange(len(used))
    cells = np.append(law[used] / law[used].sum(), 0.0)
    return numbers[whole.cells], cells
