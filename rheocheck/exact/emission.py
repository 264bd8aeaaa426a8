"""What one cycle emits: the forest pushed through a verifier, one layer of contexts at a time.

The block's law is linear in the trees, so it is also right, as a partial sum, for a forest that a spent budget cut
short.
"""

from dataclasses import dataclass, field
from typing import Any

from rheocheck.core.decoder import Verifier
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.tree import Node
from rheocheck.exact.budget import Budget
from rheocheck.exact.forest import HOT, LEAF, Family, Forest, Known
from rheocheck.exact.node_law import NodeLaw, NodeLaws
from rheocheck.exact.numbers import one_hots


@dataclass
class Emission:
    """One cycle from `start`, as measures. All masses are probabilities of the cycle.

    visits   {context: probability that the walk comes to it}: one token is emitted there
    emitted  {context: {token: probability of coming there and emitting it}}
    stops    {context: probability that the block ends exactly there}
    accepts  {context: probability of coming there and descending}
    kept     {context: {set of kept tokens: probability of coming there and finding it}}
    fallbacks  configurations (context, kept children) at which a residual of zero mass can occur
    parents, survived, to_probe  expected visits to nodes with kept children; to those of them that kept a probe (a
             child whose claim is not the one-hot of a fixed token); to the probes themselves. Of a rule's forest
    """

    start: Context
    visits: dict[Context, Any] = field(default_factory=dict)
    emitted: dict[Context, dict[int, Any]] = field(default_factory=dict)
    stops: dict[Context, Any] = field(default_factory=dict)
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
            (self.stops, other.stops),
            (self.accepts, other.accepts),
        ):
            for context, mass in theirs.items():
                mine[context] = mine.get(context, 0) + mass
        for tables, more in ((self.emitted, other.emitted), (self.kept, other.kept)):
            for context, law in more.items():
                table: dict[Any, Any] = tables.setdefault(context, {})
                for key, mass in law.items():
                    table[key] = table.get(key, 0) + mass
        self.fallbacks |= other.fallbacks
        self.parents += other.parents
        self.survived += other.survived
        self.to_probe += other.to_probe

    @property
    def expected_length(self) -> Any:
        """The expected number of tokens of a block."""
        return sum(self.visits.values())


CHUNK = 16_384  # trees pushed at once: many share subtrees, few are lost when time runs out


class Walk:
    """Pushes a forest through one verifier; node laws are shared by equal states and children."""

    def __init__(self, pair: Pair, forest: Forest, verifier: Verifier) -> None:
        self.pair, self.forest, self.verifier = pair, forest, verifier
        self._hot = one_hots(pair.vocab_size, type(pair.p(())[0]))
        self._asker = NodeLaws(verifier)
        self._laws: dict[Any, NodeLaw] = {}
        self._families: dict[Any, Any] = {}

    def emission(self, start: Context, budget: Budget | None = None) -> Emission:
        """The cycle from `start`, the context the forest was built for.

        Trees are pushed in chunks; those that a spent budget leaves out count as unseen.
        """
        out = Emission(start, unseen=self.forest.unseen)
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
        forest, out = self.forest, Emission(start)
        layer: dict[tuple[Context, int], Any] = {(start, tree): mass for tree, mass in trees}
        while layer:
            below: dict[tuple[Context, int], Any] = {}
            groups: dict[tuple[Context, Any], Any] = {}
            for (context, tree), mass in layer.items():
                key = forest.families[tree]
                groups[context, key] = groups.get((context, key), 0) + mass
                subtrees = forest.subtrees[tree]
                if subtrees:
                    descend = self._family(context, *key)[0]
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
        _, ways, fallback, probe = self._family(context, family, cloud)
        if fallback:
            out.fallbacks.add((context, family, cloud))
        if family:
            out.parents += mass
        if probe is not None:
            out.survived += mass
            out.to_probe += mass * probe
        out.visits[context] = out.visits.get(context, 0) + mass
        emitted = out.emitted.setdefault(context, {})
        kept = out.kept.setdefault(context, {})
        for chance, leaf, tokens, law in ways:
            part = mass * chance
            kept[tokens] = kept.get(tokens, 0) + part
            for token, weight in law.stop.items():
                emitted[token] = emitted.get(token, 0) + part * weight
                block = (*context, token)
                out.stops[block] = out.stops.get(block, 0) + part * weight
            for token, weight in law.descend.items():
                emitted[token] = emitted.get(token, 0) + part * weight
                out.accepts[context] = out.accepts.get(context, 0) + part * weight
                if token == leaf:  # a cloud has no subtree: what follows is a leaf
                    at = ((*context, token), LEAF)
                    below[at] = below.get(at, 0) + part * weight

    def _family(self, context: Context, family: Family, cloud: int | None) -> Any:
        """What happens at a node with this family, whatever is below it:

        [(token, chance of descending to this child)] per child, a cloud's left out;
        [(probability, token by which the walk enters the cloud or None, kept tokens, law)] per token of the cloud;
        whether a fallback can occur;
        the chance of descending to the probe, None when none was kept
        """
        key = (self.pair.state(context), family, cloud)
        if key not in self._families:
            ways = []
            kinds = [self.forest.kinds[kind] for kind in family]
            descend = [[kind.token, 0] for kind in kinds]
            drawn = next((place for place, kind in enumerate(kinds) if kind.claim != HOT), None)
            probe: Any = None if drawn is None else 0
            for chance, _, children in self.forest.revealed(family, cloud):
                law = self._law(context, children)
                reached: set[int] = set()
                leaf = None
                for place, child in enumerate(children):
                    if child.token not in reached:  # the walk takes the eldest child that carries the token
                        reached.add(child.token)
                        if place == drawn:
                            probe += chance * law.descend.get(child.token, 0)
                        if kinds[place].token is None:
                            leaf = child.token
                        else:
                            descend[place][1] += chance * law.descend.get(child.token, 0)
                ways.append((chance, leaf, frozenset(reached), law))
            self._families[key] = (descend, ways, any(law.fallback for *_, law in ways), probe)
        return self._families[key]

    def _law(self, context: Context, children: list[Known]) -> NodeLaw:
        key = (self.pair.state(context), tuple(children))
        if key not in self._laws:
            nodes = tuple(Node(c.token, c.slot, self._claim(c)) for c in children)
            self._laws[key] = self._asker.at(self.pair.p(context), nodes, context)
        return self._laws[key]

    def _claim(self, child: Known) -> Law:
        return self._hot[child.token] if child.claim == HOT else self.forest.claims[child.claim]
