"""What one cycle emits: the forest pushed through a verifier, one layer of contexts at a time.

The block's law is linear in the trees, so it is also right, as a partial sum, for a forest that a spent budget cut
short.
"""

from dataclasses import dataclass, field
from typing import Any

from rheocheck.core.decoder import Verifier
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.tree import Node
from rheocheck.exact.forest import HOT, Family, Forest, Known
from rheocheck.exact.node_law import NodeLaw, node_law
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
    """

    start: Context
    visits: dict[Context, Any] = field(default_factory=dict)
    emitted: dict[Context, dict[int, Any]] = field(default_factory=dict)
    stops: dict[Context, Any] = field(default_factory=dict)
    accepts: dict[Context, Any] = field(default_factory=dict)
    kept: dict[Context, dict[frozenset[int], Any]] = field(default_factory=dict)
    fallbacks: int = 0
    unseen: Any = 0

    @property
    def expected_length(self) -> Any:
        """The expected number of tokens of a block."""
        return sum(self.visits.values())


class Walk:
    """Pushes a forest through one verifier; node laws are shared by equal states and children."""

    def __init__(self, pair: Pair, forest: Forest, verifier: Verifier) -> None:
        self.pair, self.forest, self.verifier = pair, forest, verifier
        self._hot = one_hots(pair.vocab_size, type(pair.p(())[0]))
        self._laws: dict[Any, NodeLaw] = {}
        self._families: dict[Any, Any] = {}

    def emission(self, start: Context) -> Emission:
        """The cycle from `start`, the context the forest was built for."""
        forest, out = self.forest, Emission(start, unseen=self.forest.unseen)
        layer: dict[tuple[Context, int], Any] = {(start, tree): mass for tree, mass in forest.roots.items()}
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
            layer = below
        return out

    def _record(self, out: Emission, context: Context, family: Family, cloud: Any, mass: Any, below: Any) -> None:
        _, ways, fallback = self._family(context, family, cloud)
        out.fallbacks += fallback
        out.visits[context] = out.visits.get(context, 0) + mass
        emitted = out.emitted.setdefault(context, {})
        kept = out.kept.setdefault(context, {})
        for chance, probe, tokens, law in ways:
            part = mass * chance
            kept[tokens] = kept.get(tokens, 0) + part
            for token, weight in law.stop.items():
                emitted[token] = emitted.get(token, 0) + part * weight
                block = (*context, token)
                out.stops[block] = out.stops.get(block, 0) + part * weight
            for token, weight in law.descend.items():
                emitted[token] = emitted.get(token, 0) + part * weight
                out.accepts[context] = out.accepts.get(context, 0) + part * weight
                if token == probe:  # a cloud has no subtree: what follows is a leaf
                    at = ((*context, token), 0)
                    below[at] = below.get(at, 0) + part * weight

    def _family(self, context: Context, family: Family, cloud: int | None) -> Any:
        """([(token, chance of descending)] per child, known ones only), [(chance, probe, kept, law)], fallback)."""
        key = (self.pair.state(context), family, cloud)
        if key not in self._families:
            ways = []
            descend = [[self.forest.kinds[kind].token, 0] for kind in family]
            for chance, probe, children in self.forest.revealed(family, cloud):
                law = self._law(context, children)
                ways.append((chance, probe, frozenset(c.token for c in children), law))
                reached: set[int] = set()
                for place, child in enumerate(children):
                    if child.token != probe and child.token not in reached:  # the walk takes the eldest
                        reached.add(child.token)
                        descend[place][1] += chance * law.descend.get(child.token, 0)
            self._families[key] = (descend, ways, any(law.fallback for *_, law in ways))
        return self._families[key]

    def _law(self, context: Context, children: list[Known]) -> NodeLaw:
        key = (self.pair.state(context), tuple(children))
        if key not in self._laws:
            nodes = tuple(Node(c.token, c.slot, self._claim(c)) for c in children)
            self._laws[key] = node_law(self.verifier, self.pair.p(context), nodes, context)
        return self._laws[key]

    def _claim(self, child: Known) -> Law:
        return self._hot[child.token] if child.claim == HOT else self.forest.claims[child.claim]
