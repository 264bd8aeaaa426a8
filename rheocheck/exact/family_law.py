"""What happens at one node, by the family of children that its tree has there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.tree import Node
from rheocheck.exact.forest import HOT, Family, Forest, Known
from rheocheck.exact.node_law import NodeLaw, NodeLaws
from rheocheck.exact.numbers import one_hots

Key = TypeVar("Key")


def add_measure(total: dict[Key, Any], measure: Mapping[Key, Any], factor: Any) -> None:
    """Add `factor` times a measure to another, in place."""
    for key, mass in measure.items():
        total[key] = total.get(key, 0) + factor * mass


@dataclass
class FamilyLaw:
    """What happens at a node with one family of children, whatever is below it: masses that sum to 1.

    descend   [token, chance of descending to this child] per child, with 0 for a cloud's
    to_cloud  {token: chance of descending to a cloud's child by it}
    kept      {set of kept tokens: chance}
    stop      {token: chance that the block ends with it}
    emitted   {token: chance that it is emitted}
    accepted  chance of descending at all
    bonus     whether nothing is kept and the token is drawn from the target's own law
    fallback  whether a residual of zero mass can occur
    probe     the chance of descending to the probe, None when none was kept
    """

    descend: list[list[Any]]
    probe: Any
    to_cloud: dict[int, Any] = field(default_factory=dict)
    kept: dict[frozenset[int], Any] = field(default_factory=dict)
    stop: dict[int, Any] = field(default_factory=dict)
    emitted: dict[int, Any] = field(default_factory=dict)
    accepted: Any = 0
    bonus: bool = False
    fallback: bool = False


class FamilyLaws:
    """The laws of one verifier on one forest; nodes with equal states and children share one."""

    def __init__(self, pair: Pair, forest: Forest, asker: NodeLaws) -> None:
        self.pair, self.forest, self._asker = pair, forest, asker
        self._hot = one_hots(pair.vocab_size, type(pair.p(())[0]))
        self._laws: dict[Any, NodeLaw] = {}
        self._families: dict[Any, FamilyLaw] = {}

    def at(self, context: Context, family: Family, cloud: int | None) -> FamilyLaw:
        """The law of the node at a context with this family."""
        key = (self.pair.state(context), family, cloud)
        if key not in self._families:
            self._families[key] = self._ask(context, family, cloud)
        return self._families[key]

    def _ask(self, context: Context, family: Family, cloud: int | None) -> FamilyLaw:
        kinds = [self.forest.kinds[kind] for kind in family]
        drawn = next((place for place, kind in enumerate(kinds) if kind.claim != HOT), None)
        found = FamilyLaw([[kind.token, 0] for kind in kinds], probe=None if drawn is None else 0)
        for chance, _, children in self.forest.revealed(family, cloud):
            law = self._law(context, children)
            found.fallback |= law.fallback
            reached: set[int] = set()
            for place, child in enumerate(children):
                if child.token in reached:  # the walk takes the eldest child that carries the token
                    continue
                reached.add(child.token)
                down = chance * law.descend.get(child.token, 0)
                if place == drawn:
                    found.probe += down
                if kinds[place].token is not None:
                    found.descend[place][1] += down
                elif down:
                    add_measure(found.to_cloud, {child.token: down}, 1)
            add_measure(found.kept, {frozenset(reached): chance}, 1)
            add_measure(found.stop, law.stop, chance)
            add_measure(found.emitted, law.stop, chance)
            add_measure(found.emitted, law.descend, chance)
            found.accepted += chance * sum(law.descend.values())
        p = {y: mass for y, mass in enumerate(self.pair.p(context)) if mass}
        found.bonus = not family and {y: mass for y, mass in found.stop.items() if mass} == p
        return found

    def _law(self, context: Context, children: list[Known]) -> NodeLaw:
        key = (self.pair.state(context), tuple(children))
        if key not in self._laws:
            nodes = tuple(Node(c.token, c.slot, self._claim(c)) for c in children)
            self._laws[key] = self._asker.at(self.pair.p(context), nodes, context)
        return self._laws[key]

    def _claim(self, child: Known) -> Law:
        return self._hot[child.token] if child.claim == HOT else self.forest.claims[child.claim]
