"""One call for all three answers: exact, certificate, interval.

verify(pair, rheo, recursive, Shape(leads=1, branching=4, depth=3, nodes=8)).verdict   # "lossless"
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from rheocheck.core.builders import rheo as rheo_builder
from rheocheck.core.decoder import Builder, Verifier, is_rule
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact.acceptance import acceptance, best_acceptance
from rheocheck.exact.assignments import raw_assignments
from rheocheck.exact.budget import Budget
from rheocheck.exact.certificate import ASSUMES, certify
from rheocheck.exact.claims import audit_claims
from rheocheck.exact.emission import Emission, Walk
from rheocheck.exact.enumeration import forest_of
from rheocheck.exact.forest import Forest
from rheocheck.exact.numbers import Number, as_fraction, fastest
from rheocheck.exact.slots import RuleSlots
from rheocheck.exact.tokens import joint_law, prefixes
from rheocheck.exact.variation import Witness, certain_excess, first_token_variation, total_variation, witness
from rheocheck.exact.verification import Verification

REACH = 1_000_000  # classes an enumeration may take when no budget was set: about a minute, 1 GiB
REACH_REPLAY = 200_000  # the same for a callable builder, whose classes are replays
T = TypeVar("T")
METHODS = ("auto", "exact", "certificate")


def verify(
    pair: Pair,
    builder: Builder = rheo_builder,
    verifier: Verifier = rheo_verifier,
    shape: Shape | None = None,
    *,
    context: Context = (),
    tokens: int | None = None,
    method: str = "auto",
    budget: Budget | None = None,
    number: Number | None = None,
) -> Verification:
    """Whether builder + verifier emit exactly the target's law on `pair` after `context`.

    tokens   None for one cycle completed to D+1 tokens by the target, L for the joint law of L tokens over cycles
    method   "exact" enumerates until the budget is spent; "certificate" runs the local checks alone; "auto"
             enumerates; when no budget was set, it turns to the certificate past a million classes
    budget   limits of work; when it is spent the result is an interval for the total variation
    number   the exact number type, by default the fastest installed

    Raises InputError when the builder or the verifier breaks its contract or raises.
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}; try auto")
    if not isinstance(pair, Pair):
        raise InputError(f"the pair must be a Pair, got {type(pair).__name__}; try load_pair(path)")
    if not all(type(x) is int and 0 <= x < pair.vocab_size for x in context):
        raise InputError(f"the context must hold tokens 0..{pair.vocab_size - 1}, got {context!r:.60}; check it")
    if tokens is not None and (type(tokens) is not int or tokens < 1):
        raise InputError(f"tokens must be an integer of at least 1, got {tokens!r}; raise it")
    if tokens is not None and tokens * math.log2(pair.vocab_size) > 20:
        raise InputError(f"the joint law must have at most 2^20 words, got {pair.vocab_size}^{tokens}; lower tokens")
    budget = budget or Budget()
    unlimited = method == "auto" and budget.max_classes is None and budget.max_seconds is None
    engine = _Engine(pair, builder, verifier, shape or Shape(), context, tokens, budget, number or fastest())
    if method == "certificate":
        return engine.certificate()
    if not unlimited:
        return engine.enumerate()
    budget.max_classes = REACH if is_rule(builder) else REACH_REPLAY
    try:
        result = engine.enumerate()
    finally:
        budget.max_classes = None  # the budget is the caller's
    if result.stopped == "max_classes":
        certificate = engine.certificate()
        if certificate.verdict == "lossless":
            return certificate
    return result


class _Engine:
    """One question and what was computed for it: forests and emissions of every cycle, in the engine's number type."""

    def __init__(
        self,
        pair: Pair,
        builder: Builder,
        verifier: Verifier,
        shape: Shape,
        context: Context,
        tokens: int | None,
        budget: Budget,
        number: Number,
    ) -> None:
        self.pair = pair.converted(number)
        self.builder, self.verifier, self.shape = builder, verifier, shape
        self.start, self.tokens = context, tokens
        self.budget = budget
        self.forests: list[Forest] = []
        self.emissions: dict[int | Context, Emission] = {}

    def enumerate(self) -> Verification:
        emission = self.cycle(self.start)
        if self.tokens is None:
            ends, visits, drawn, bonus = emission.completed, emission.visits, emission.drawn, emission.bonus
        else:
            ends = joint_law(self.cycle, self.start, self.tokens, self.budget)
            (visits, drawn), bonus = prefixes(ends, self.start), {}
        covered = sum(ends.values())
        lower = total_variation(self.pair, self.start, ends)
        if covered == 1:
            return self._exact(lower, emission, witness(self.pair, visits, drawn, bonus))
        ladder = self._first_tokens()
        return Verification(
            verdict="biased" if lower else "inconclusive",
            method="interval",
            seconds=self.budget.seconds(),
            tokens=self.tokens,
            lower=as_fraction(lower),
            upper=as_fraction(min(lower + 1 - covered, 1)),
            first_token_total_variation=ladder.get(1),
            first_tokens=ladder,
            classes=self.budget.classes,
            assignments=self._assignments(),
            covered=as_fraction(covered),
            stopped=self.budget.stopped,
            witness=certain_excess(self.pair, self.start, ends) if lower else None,
        )

    def certificate(self) -> Verification:
        certificate = certify(self.pair, self.builder, self.verifier, self.shape, self.start, self.tokens)
        lossless = certificate.lossless
        return Verification(
            verdict="lossless" if lossless else "inconclusive",
            method="certificate",
            seconds=self.budget.seconds(),
            tokens=self.tokens,
            total_variation=Fraction(0) if lossless else None,
            lower=Fraction(0),
            upper=Fraction(0 if lossless else 1),
            assignments=self._assignments(),
            covered=Fraction(0),
            assumes=ASSUMES if lossless else (),
            reason=certificate.reason,
        )

    def cycle(self, context: Context) -> Emission:
        """One cycle from a context, or from one that a rule cannot tell apart from it, whichever came first."""
        key = self.pair.state(context) if is_rule(self.builder) else context
        if key not in self.emissions:
            forest = forest_of(self.pair, self.builder, context, self.shape, self.budget)
            self.forests.append(forest)
            self.emissions[key] = Walk(self.pair, forest, self.verifier).emission(context, self.budget)
        return self.emissions[key]

    def _exact(self, variation: Any, emission: Emission, found: Witness | None) -> Verification:
        false_claims = self._in_time(self._false_claims)
        first = emission.emitted_at(self.start)
        best = self._in_time(lambda: best_acceptance(self.pair, emission, self.budget))
        return Verification(
            verdict="biased" if variation else "lossless",
            method="exact",
            seconds=self.budget.seconds(),
            tokens=self.tokens,
            total_variation=as_fraction(variation),
            lower=as_fraction(variation),
            upper=as_fraction(variation),
            first_token_total_variation=as_fraction(first_token_variation(self.pair, self.start, first)),
            expected_length=as_fraction(emission.expected_length),
            classes=self.budget.classes,
            assignments=self._assignments(),
            false_claims=false_claims,
            fallbacks=sum(len(cycle.fallbacks) for cycle in self.emissions.values()),
            acceptance=acceptance(emission),
            optimal_acceptance=best,
            witness=found,
        )

    def _false_claims(self) -> int | None:
        audits = [audit_claims(forest, self.pair.vocab_size, self.budget) for forest in self.forests]
        return sum(audit.count() for audit in audits if audit) if None not in audits else None

    def _in_time(self, compute: Callable[[], T]) -> T | None:
        """What `compute` gives; None when it is interrupted, since the verdict stands without it."""
        if self.budget.stopped == "interrupted":
            return None
        try:
            return compute()
        except KeyboardInterrupt:
            return None

    def _first_tokens(self) -> dict[int, Fraction]:
        """Exact total variations of the first 1, 2, ... tokens, each under the same number of classes as the whole.

        Over cycles only the first token is the same as in one cycle; time that is used up stays used up.
        """
        ladder: dict[int, Fraction] = {}
        if not is_rule(self.builder) or self.budget.stopped == "interrupted":
            return ladder
        for length in range(1, 2 if self.tokens else self.shape.depth + 1):
            seconds = self.budget.max_seconds
            left = None if seconds is None else seconds - self.budget.seconds()
            if left is not None and left <= 0:
                break
            budget = Budget(self.budget.max_classes, left)
            forest = forest_of(self.pair, self.builder, self.start, self.shape, budget, first=length)
            emission = Walk(self.pair, forest, self.verifier).emission(self.start, budget)
            if emission.unseen:
                break
            ends = self._first(emission, length)
            ladder[length] = as_fraction(total_variation(self.pair, self.start, ends))
        return ladder

    def _first(self, emission: Emission, length: int) -> dict[Context, Any]:
        """The blocks of an emission, those that reach `length` tokens cut there."""
        ends: dict[Context, Any] = {}
        end = len(self.start) + length
        for block, mass in emission.completed.items():
            ends[block[:end]] = ends.get(block[:end], 0) + mass
        return ends

    def _assignments(self) -> str:
        if not is_rule(self.builder):
            return str(self.budget.classes) if self.budget.stopped is None else ""
        slots = RuleSlots(self.pair, self.builder, self.shape)
        count, equal = raw_assignments(self.pair, slots, self.start, self.shape)
        return f"{'' if equal else '<='}{count}"
