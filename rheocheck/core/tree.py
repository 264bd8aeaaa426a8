"""A draft tree whose nodes carry claims.

A claim is what a builder says about a node: the law its token was drawn from, given the path to its parent and
its elder siblings. A token that was not drawn has the one-hot claim. *Lossless = honest claims + a verifier that
is exact for the claims.*
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Law


@dataclass(frozen=True)
class Node:
    """One kept draft token.

    token     the token id
    slot      its place among the slots of its parent, counted from 1; younger siblings have larger slots
    claim     the law (length V) the token is said to have been drawn from
    children  its kept children, in slot order
    """

    token: int
    slot: int
    claim: Law
    children: tuple["Node", ...] = ()

    def one_hot(self) -> bool:
        """Whether the claim says that the token was not drawn at all."""
        return self.claim[self.token] == 1 or max(self.claim) == 1

    def leaf(self) -> "Node":
        """The node without what is below it: all that a verifier may look at."""
        return Node(self.token, self.slot, self.claim) if self.children else self


@dataclass(frozen=True)
class Tree:
    """The kept children of the root, in slot order; no children means plain target sampling."""

    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[tuple[Context, Node]]:
        """Every node with the tokens on the path to it, itself included; parents first."""
        stack: list[tuple[Context, Node]] = [((n.token,), n) for n in reversed(self.children)]
        while stack:
            path, node = stack.pop()
            yield path, node
            stack += [((*path, child.token), child) for child in reversed(node.children)]


def drawn(children: tuple[Node, ...]) -> Node | None:
    """The probe among a node's kept children: the one whose claim is not one-hot; None when it was not kept.

    Raises InputError when several are drawn, as under `sampled`: no verifier that trusts a single probe may run.
    """
    probes = [child for child in children if not child.one_hot()]
    if len(probes) > 1:
        slots = ", ".join(str(child.slot) for child in probes)
        raise InputError(
            f"the rheo verifier needs at most one drawn child a node, got {len(probes)} (slots {slots}); "
            "try the recursive or the matching verifier"
        )
    return probes[0] if probes else None
