"""One point of a curve: the trees of a builder at one value, and what a verifier makes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rheocheck.core.decoder import Builder, Verifier, is_rule
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.exact.acceptance import acceptance, best_acceptance
from rheocheck.exact.budget import Budget
from rheocheck.exact.curves.ceiling import length_ceiling
from rheocheck.exact.curves.values import LeftOut, Point, Value
from rheocheck.exact.emission import Emission, Walk
from rheocheck.exact.enumeration import forest_of
from rheocheck.exact.forest import Forest
from rheocheck.exact.numbers import as_fraction
from rheocheck.exact.slots import RuleSlots
from rheocheck.exact.variation import total_variation


@dataclass
class Trees:
    """The trees of one builder, grown and bounded once for all verifiers; `pair` in the engine's number type."""

    pair: Pair
    builder: Builder
    shape: Shape
    start: Context
    forest: Forest | None = None
    classes: int = 0
    ceiling: Any = None
    bounded: bool = False

    def grown(self, budget: Budget) -> Forest:
        """The forest, a partial one when the budget is spent; a later verifier's budget tries again."""
        if self.forest is None:
            forest = forest_of(self.pair, self.builder, self.start, self.shape, budget)
            if forest.unseen:
                return forest
            self.forest, self.classes = forest, budget.classes
        return self.forest

    def bound(self, budget: Budget) -> Any:
        """The ceiling of a complete forest, or None; tried once."""
        if not self.bounded:
            self.bounded = True
            forest = self.grown(budget)
            self.ceiling = _in_time(
                lambda: length_ceiling(self.pair, forest, self.start, self.shape.depth, budget), budget
            )
        return self.ceiling

    def probes(self) -> bool:
        """Whether a rule draws a token at the first node."""
        return any(slot.law is not None for slot in RuleSlots(self.pair, self.builder, self.shape).at(self.start))


def point_of(value: Value, trees: Trees, verifier: Verifier, budget: Budget) -> Point | LeftOut:
    """Compute the point of a verifier on these trees, or say why it was skipped."""
    pair, start = trees.pair, trees.start
    emission = Walk(pair, trees.grown(budget), verifier).emission(start, budget)
    covered = sum(emission.completed.values())
    if covered != 1:
        return LeftOut(value, str(budget.stopped), as_fraction(covered))
    rule = is_rule(trees.builder)  # of any other builder nobody knows which child is the probe
    survived, parents = (emission.survived, emission.parents) if rule else (0, 0)
    return Point(
        value=value,
        expected_length=as_fraction(emission.expected_length),
        acceptance=acceptance(emission),
        levels=_levels(emission, trees.shape.depth),
        total_variation=as_fraction(total_variation(pair, start, emission.completed)),
        probe_survival=as_fraction(survived / parents) if survived or (parents and trees.probes()) else None,
        probe_acceptance=as_fraction(emission.to_probe / survived) if survived else None,
        optimal_acceptance=_in_time(lambda: best_acceptance(pair, emission, budget), budget),
        ceiling=_fraction(trees.bound(budget)),
        classes=trees.classes,
        seconds=budget.seconds(),
    )


def _levels(emission: Emission, depth: int) -> tuple[Fraction | None, ...]:
    """Per layer: the probability that its draft is accepted, given that the walk came to its parent."""
    reached: list[Any] = [0] * (depth + 1)
    for context, mass in emission.visits.items():
        reached[len(context) - len(emission.start)] += mass
    return tuple(as_fraction(down / here) if here else None for here, down in zip(reached, reached[1:], strict=False))


def _in_time(compute: Callable[[], Any], budget: Budget) -> Any:
    """What `compute` gives; None when it is interrupted or too late, since the length stands without it."""
    if budget.stopped == "interrupted" or budget.late():
        return None
    try:
        return compute()
    except KeyboardInterrupt:
        budget.stopped = budget.stopped or "interrupted"
        return None


def _fraction(x: Any) -> Fraction | None:
    return None if x is None else as_fraction(x)
