"""A forest: a measure over draft trees, with every subtree stored once.

The engine's result before any verifier is chosen. A tree is a number; `children[t]` lists its (child, subtree)
pairs. A kept probe that nothing asked about stays a *cloud*: its token is None and `clouds[t]` says which tokens
it may still be and how likely each is. A cloud has no subtree, since a kept child would have revealed it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rheocheck.core.pair import Law
from rheocheck.core.tree import Node, Tree
from rheocheck.exact.numbers import Number


class Child(NamedTuple):
    """A kept child as the verifier sees it; token None for a cloud."""

    slot: int
    token: int | None
    claim: int  # index into Forest.claims, or HOT


class Known(NamedTuple):
    """A kept child whose token is known."""

    slot: int
    token: int
    claim: int


Family = tuple[int, ...]  # the kept children of a node, as indices into Forest.kinds, in slot order
Cloud = tuple[tuple[int, Any], ...]  # (token, conditional probability)
LEAF = 0  # the tree without children
HOT = -1  # the claim of a token that was not drawn: one-hot on it


@dataclass
class Forest:
    """{tree: weight}, hash-consed.

    roots      {tree: probability}; they sum to 1 - unseen
    families   per tree: its kept children, and the key of its cloud (None when all tokens are known)
    subtrees   per tree: the subtree below each child
    unseen     probability of the trees that a spent budget left out
    """

    roots: dict[int, Any] = field(default_factory=dict)
    kinds: list[Child] = field(default_factory=list)
    claims: list[Law] = field(default_factory=list)
    families: list[tuple[Family, int | None]] = field(default_factory=lambda: [((), None)])
    subtrees: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    clouds: list[Cloud] = field(default_factory=list)
    unseen: Any = 0
    _ids: dict[Any, int] = field(default_factory=dict, repr=False)

    def claim(self, claim: Law | None) -> int:
        """The index of a claim; None is one-hot on the token held."""
        if claim is None:
            return HOT
        index = self._ids.setdefault(("claim", claim), len(self.claims))
        if index == len(self.claims):
            self.claims.append(claim)
        return index

    def kind(self, slot: int, token: int | None, claim: int) -> int:
        """The index of a kind of child."""
        index = self._ids.setdefault(("kind", slot, token, claim), len(self.kinds))
        if index == len(self.kinds):
            self.kinds.append(Child(slot, token, claim))
        return index

    def cloud(self, cloud: Cloud) -> int:
        """The index of a cloud."""
        index = self._ids.setdefault(("cloud", cloud), len(self.clouds))
        if index == len(self.clouds):
            self.clouds.append(cloud)
        return index

    def tree(self, family: Family, subtrees: tuple[int, ...], cloud: int | None) -> int:
        """The number of the tree with these children."""
        key = (family, subtrees, cloud)
        index = self._ids.get(key)
        if index is None:
            index = self._ids[key] = len(self.families)
            self.families.append((family, cloud))
            self.subtrees.append(subtrees)
        return index

    def add(self, tree: int, weight: Any) -> None:
        """Put `weight` more on a tree."""
        self.roots[tree] = self.roots.get(tree, 0) + weight

    def plant(self, tree: Tree, number: Number) -> int:
        """The number of a core tree, its claims converted."""
        return self._plant(tree.children, number)

    def _plant(self, children: tuple[Node, ...], number: Number) -> int:
        if not children:
            return LEAF
        claims = [self.claim(tuple(number(x) for x in node.claim)) for node in children]
        family = tuple(self.kind(node.slot, node.token, c) for node, c in zip(children, claims, strict=True))
        return self.tree(family, tuple(self._plant(node.children, number) for node in children), None)

    def revealed(self, family: Family, cloud: int | None) -> Iterator[tuple[Any, int, list[Known]]]:
        """The ways a family's cloud may turn out: (probability, the probe's token or -1 without cloud, children)."""
        children = [self.kinds[kind] for kind in family]
        for token, mass in self.clouds[cloud] if cloud is not None else ((-1, 1),):
            yield mass, token, [Known(c.slot, token if c.token is None else c.token, c.claim) for c in children]
