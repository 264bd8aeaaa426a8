"""What one cycle emits: the forest pushed through a verifier, one layer of contexts at a time.

The block's law is linear in the trees, so it is also right, as a partial sum, for a forest that a spent budget cut
short.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rheocheck.core.decoder import Verifier
from rheocheck.core.pair import Context, Pair
from rheocheck.exact.budget import Budget
from rheocheck.exact.family_law import FamilyLaws, Key, add_measure
from rheocheck.exact.forest import LEAF, Family, Forest
from rheocheck.exact.node_law import NodeLaws


@dataclass
class Emission:
    """One cycle from `start`, as measures. All masses are probabilities of the cycle.

    visits   {context: probability that the walk comes to it}: one token is emitted there
    bonus    {context: probability that the block ends with a token drawn there from the target's own law}: kept apart,
             since completing a block that ends at the context is the same
    drawn    {context: {token: probability of coming there and emitting it otherwise}}
    ends     {context: probability that the block ends exactly there, other than by a bonus}
    accepts  {context: probability of coming there and descending}
    kept     {context: {set of kept tokens: probability of coming there and finding it}}
    fallbacks  configurations (context, kept children) at which a residual of zero mass can occur
    parents, survived, to_probe  expected visits to nodes with kept children; to those of them that kept a probe (a
             child whose claim is not the one-hot of a fixed token); to the probes themselves. Of a rule's forest
    """

    start: Context
    pair: Pair = field(repr=False)
    visits: dict[Context, Any] = field(default_factory=dict)
    bonus: dict[Context, Any] = field(default_factory=dict)
    drawn: dict[Context, dict[int, Any]] = field(default_factory=dict)
    ends: dict[Context, Any] = field(default_factory=dict)
    accepts: dict[Context, Any] = field(default_factory=dict)
    kept: dict[Context, dict[frozenset[int], Any]] = field(default_factory=dict)
    fallbacks: set[Any] = field(default_factory=set)
    parents: Any = 0
    survived: Any = 0
    to_probe: Any = 0
    unseen: Any = 0

    def add(self, other: "Emission") -> None:
        """Add the measures of more trees."""
        for mine, theirs in (
            (self.visits, other.visits),
            (self.bonus, other.bonus),
            (self.ends, other.ends),
            (self.accepts, other.accepts),
        ):
            add_measure(mine, theirs, 1)
        for context, law in other.drawn.items():
            add_measure(self.drawn.setdefault(context, {}), law, 1)
        for context, sets in other.kept.items():
            add_measure(self.kept.setdefault(context, {}), sets, 1)
        self.fallbacks |= other.fallbacks
        self.parents += other.parents
        self.survived += other.survived
        self.to_probe += other.to_probe

    @property
    def expected_length(self) -> Any:
        """The expected number of tokens of a block."""
        return sum(self.visits.values())

    @property
    def completed(self) -> dict[Context, Any]:
        """{context: mass}: completed by plain target sampling, these prefixes of blocks have the law of the blocks."""
        return _sum(self.ends, self.bonus)

    @cached_property
    def stops(self) -> dict[Context, Any]:
        """{context: probability that the block ends exactly there}; to be read when all trees are added."""
        drawn = ({(*at, y): mass for y, mass in self._bonus_at(at).items()} for at in self.bonus)
        return _sum(self.ends, *drawn)

    def emitted_at(self, context: Context) -> dict[int, Any]:
        """{token: probability of coming to the context and emitting it}."""
        return _sum(self.drawn.get(context, {}), self._bonus_at(context))

    def _bonus_at(self, context: Context) -> dict[int, Any]:
        mass = self.bonus.get(context, 0)
        return {y: mass * p for y, p in enumerate(self.pair.p(context)) if p} if mass else {}


def _sum(*measures: Mapping[Key, Any]) -> dict[Key, Any]:
    total: dict[Key, Any] = {}
    for measure in measures:
        add_measure(total, measure, 1)
    return total


CHUNK = 16_384  # trees pushed at once: many share subtrees, few are lost when time runs out


class Walk:
    """Pushes a forest through one verifier."""

    def __init__(self, pair: Pair, forest: Forest, verifier: Verifier) -> None:
        self.pair, self.forest, self.verifier = pair, forest, verifier
        self._asker = NodeLaws(verifier)
        self._laws = FamilyLaws(pair, forest, self._asker)

    def emission(self, start: Context, budget: Budget | None = None) -> Emission:
        """The cycle from `start`, the context the forest was built for.

        Trees are pushed in chunks; those that a spent budget leaves out count as unseen.
        """
        out = Emission(start, self.pair, unseen=self.forest.unseen)
        trees = list(self.forest.roots.items())
        first, size = 0, 64
        while first < len(trees):
            chunk = trees[first : first + size]
            try:
                part = self._push(start, chunk, budget)
            except KeyboardInterrupt:
                if budget is None:
                    raise
                budget.stopped, part = "interrupted", None
            if part is None:
                out.unseen += sum(mass for _, mass in trees[first:])
                break
            out.add(part)
            first, size = first + len(chunk), min(2 * size, CHUNK)
        if budget is None:
            self._asker.ask_again()
        elif budget.stopped != "interrupted":
            self._asked_again(budget)
        return out

    def _asked_again(self, budget: Budget) -> None:
        try:
            self._asker.ask_again(budget.late)
        except KeyboardInterrupt:
            budget.stopped = "interrupted"

    def _push(self, start: Context, trees: list[tuple[int, Any]], budget: Budget | None) -> Emission | None:
        """The emission of some trees; None when the budget was spent before it was complete."""
        forest, out = self.forest, Emission(start, self.pair)
        layer: dict[tuple[Context, int], Any] = {(start, tree): mass for tree, mass in trees}
        while layer:
            below: dict[tuple[Context, int], Any] = {}
            groups: dict[tuple[Context, Any], Any] = {}
            for (context, tree), mass in layer.items():
                key = forest.families[tree]
                groups[context, key] = groups.get((context, key), 0) + mass
                subtrees = forest.subtrees[tree]
                if subtrees:
                    descend = self._laws.at(context, *key).descend
                    for (token, chance), subtree in zip(descend, subtrees, strict=True):
                        if chance:
                            at = ((*context, token), subtree)
                            below[at] = below.get(at, 0) + mass * chance
            for (context, (family, cloud)), mass in groups.items():
                self._record(out, context, family, cloud, mass, below)
                if budget is not None and budget.late():
                    return None
            layer = below
        return out

    def _record(self, out: Emission, context: Context, family: Family, cloud: Any, mass: Any, below: Any) -> None:
        found = self._laws.at(context, family, cloud)
        if found.fallback:
            out.fallbacks.add((context, family, cloud))
        if family:
            out.parents += mass
        if found.probe is not None:
            out.survived += mass
            out.to_probe += mass * found.probe
        out.visits[context] = out.visits.get(context, 0) + mass
        add_measure(out.kept.setdefault(context, {}), found.kept, mass)
        if found.bonus:
            out.bonus[context] = out.bonus.get(context, 0) + mass
            return
        add_measure(out.drawn.setdefault(context, {}), found.emitted, mass)
        add_measure(out.ends, {(*context, token): weight for token, weight in found.stop.items()}, mass)
        if found.accepted:
            out.accepts[context] = out.accepts.get(context, 0) + mass * found.accepted
        # a cloud has no subtree: what follows is a leaf
        add_measure(below, {((*context, token), LEAF): weight for token, weight in found.to_cloud.items()}, mass)
