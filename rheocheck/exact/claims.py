"""Are the claims honest? The claims audit, and `relabel`, which makes them so.

The true law of a kept node's token is conditioned on what a verifier that looks at the children elder first has
seen when it comes to the claim: the path to the parent, with the slots and the kept elder siblings on it; the
tokens, slots and claims of the node's own kept elder siblings; its slot; that it is kept; and, if its claim is
one-hot, that claim. Nothing about younger siblings, cousins or descendants: given those even RheoSampling's claims
would be "false", because the shape of a subtree reveals its token.
"""

from dataclasses import dataclass
from typing import Any

from rheocheck.core.chance import Chance
from rheocheck.core.decoder import Builder, build
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node, Tree
from rheocheck.exact.budget import Budget
from rheocheck.exact.enumeration import forest_of
from rheocheck.exact.forest import HOT, Forest, Known
from rheocheck.exact.guests import unwatched

Step = tuple[Any, ...]  # (kept elder siblings, slot, token) of one node on a path
Key = tuple[tuple[Step, ...], Any, int, Any]  # (path to the parent, kept elder siblings, slot, one-hot claim or None)


@dataclass
class ClaimsAudit:
    """The true conditional laws of a forest's kept tokens.

    labels  {key: the true law of the token}
    false   the keys at which a claim differs from it
    """

    labels: dict[Key, Law]
    false: set[Key]

    def count(self) -> int:
        """The number of (context, slot, kept elder siblings) whose claim is false."""
        return len({(tuple(step[-1] for step in path), elders, slot) for path, elders, slot, _ in self.false})


def audit_claims(forest: Forest, vocab_size: int, budget: Budget | None = None) -> ClaimsAudit | None:
    """Every claim of the forest against the truth; None when the budget's time ran out first."""
    masses: dict[Key, list[Any]] = {}
    claims: dict[Key, set[int]] = {}
    layer: dict[tuple[tuple[Step, ...], int], Any] = {((), tree): mass for tree, mass in forest.roots.items()}
    while layer:
        below: dict[tuple[tuple[Step, ...], int], Any] = {}
        groups: dict[Any, Any] = {}
        for (path, tree), mass in layer.items():
            family = forest.families[tree]
            groups[path, family] = groups.get((path, family), 0) + mass
            subtrees = forest.subtrees[tree]
            if not any(subtrees):
                continue
            for chance, _, children in forest.revealed(*family):
                for place, subtree in enumerate(subtrees):
                    if subtree:
                        at = ((*path, _step(children, place, forest)), subtree)
                        below[at] = below.get(at, 0) + mass * chance
        for (path, family), mass in groups.items():
            if budget is not None and budget.late():
                return None
            for chance, _, children in forest.revealed(*family):
                for place, child in enumerate(children):
                    key = claim_key(path, children, place, forest)
                    masses.setdefault(key, [0] * vocab_size)[child.token] += mass * chance
                    claims.setdefault(key, set()).add(child.claim)
        layer = below
    totals = {key: sum(mass) for key, mass in masses.items()}
    labels = {key: tuple(m / totals[key] for m in mass) for key, mass in masses.items()}
    false = {key for key, law in labels.items() if any(_differs(forest, key, c, law) for c in claims[key])}
    return ClaimsAudit(labels, false)


def claim_key(path: tuple[Step, ...], children: list[Known], place: int, forest: Forest) -> Key:
    """What the claim of children[place] is conditioned on."""
    claim = _stated(children[place], forest)
    return path, _elders(children, place, forest), children[place].slot, claim if isinstance(claim, int) else None


def _step(children: list[Known], place: int, forest: Forest) -> Step:
    return (_elders(children, place, forest), children[place].slot, children[place].token)


def _elders(children: list[Known], place: int, forest: Forest) -> tuple[Any, ...]:
    return tuple((c.slot, c.token, _stated(c, forest)) for c in children[:place])


def _stated(child: Known, forest: Forest) -> int | Law:
    """The token that a one-hot claim names, or the claim itself."""
    if child.claim == HOT:
        return child.token
    claim = forest.claims[child.claim]
    return claim.index(1) if max(claim) == 1 else claim


def _differs(forest: Forest, key: Key, claim: int, law: Law) -> bool:
    if claim == HOT:
        return law[key[-1]] != 1  # the key of a one-hot claim ends with its token
    return forest.claims[claim] != law


class Relabelled:
    """A builder whose claims are replaced by the true conditional laws: the honest twin of `builder`.

    The trees are the same, only the claims change. It is a callable builder, for any builder small enough to
    enumerate.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.__name__ = f"relabel({getattr(builder, '__name__', type(builder).__name__)})"
        self._audits: dict[Any, tuple[Pair, Forest, ClaimsAudit]] = {}

    def __call__(self, pair: Pair, context: Context, chance: Chance, shape: Shape) -> Tree:
        key = (id(pair), context, shape)
        if key not in self._audits:
            with unwatched():
                forest = forest_of(pair, self.builder, context, shape, Budget())
                audit = audit_claims(forest, pair.vocab_size)
            assert audit is not None  # no budget, no giving up
            self._audits[key] = (pair, forest, audit)  # holding the pair keeps its id
        _, forest, audit = self._audits[key]
        tree = build(self.builder, pair, context, chance, shape)
        return Tree(self._relabelled(tree.children, (), forest, audit))

    def _relabelled(
        self, nodes: tuple[Node, ...], path: tuple[Step, ...], forest: Forest, audit: ClaimsAudit
    ) -> tuple[Node, ...]:
        children = [Known(node.slot, node.token, forest.claim(node.claim)) for node in nodes]
        return tuple(
            Node(
                node.token,
                node.slot,
                audit.labels[claim_key(path, children, place, forest)],
                self._relabelled(node.children, (*path, _step(children, place, forest)), forest, audit),
            )
            for place, node in enumerate(nodes)
        )


def relabel(builder: Builder) -> Relabelled:
    """The honest twin of a builder: the same trees under the true conditional claims (see `Relabelled`)."""
    return Relabelled(builder)
