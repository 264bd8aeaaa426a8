"""The ranking loop that every dynamic tree shares (EAGLE-2's, with a strict order).

    score(root) = 1,  score(child) = score(parent) * rank weight
    layer d = the children of the F best nodes of layer d-1, for d = 1..D
    kept    = the N best nodes of all layers

The order is strict and blind to identity: (-score, layer, tie, parent's rank in its layer, slot), tie 0 unless a
faulty rule sets it. It never looks at a token, and no weight exceeds 1, so the parent of a kept node is kept.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from rheocheck.core.chance import Chance
from rheocheck.core.pair import Context, Law, Pair, one_hot
from rheocheck.core.rule import Rule, Slot, check_slots
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node, Tree


@dataclass(frozen=True)
class Proposal:
    """A child that a node proposes.

    slot    its place among the slots of the node, from 1
    weight  its rank weight
    held    gives (token, claim); asked once or more, but only when the child is expanded or kept, so that a draw
            nobody needs is not made
    tie     see Slot.tie
    """

    slot: int
    weight: Any
    held: Callable[[], tuple[int, Law]]
    tie: Any = 0


@dataclass
class _Candidate:
    key: tuple[Any, ...]
    proposal: Proposal
    parent: "_Candidate | None"

    def path(self) -> Context:
        return (*(self.parent.path() if self.parent else ()), self.proposal.held()[0])


def grow(propose: Callable[[Context], Sequence[Proposal]], context: Context, shape: Shape) -> Tree:
    """The tree that `propose(context of a node)` and the ranking give: layer by layer, then the N best of all."""
    kept: list[_Candidate] = []
    frontier: list[_Candidate | None] = [None]
    for layer in range(1, shape.depth + 1 if shape.nodes else 1):
        children = []
        for rank, parent in enumerate(frontier):
            score = -parent.key[0] if parent else 1
            for it in propose(context + (parent.path() if parent else ())):
                children.append(_Candidate((-score * it.weight, layer, it.tie, rank, it.slot), it, parent))
        children.sort(key=lambda child: child.key)
        kept = sorted(kept + children, key=lambda child: child.key)[: shape.nodes]
        # Children rank behind their parents, so a parent that is already out has no kept child: do not ask it.
        frontier = [child for child in children[: shape.width] if child.key <= kept[-1].key]
    return _assemble(kept)


def draw(rule: Rule, pair: Pair, context: Context, chance: Chance, shape: Shape) -> list[Proposal]:
    """The proposals of one node under a rule: the probe is drawn, and the slots that depend on it are filled."""
    q = pair.q(context)
    K, m = shape.branching, shape.leads
    slots = _slots(rule, q, K, m) if isinstance(rule, Hashable) else check_slots(rule(q, K, m), q)
    probe = next((chance.choose(slot.law) for slot in slots if slot.law is not None), None)
    proposals = []
    for number, slot in enumerate(slots, start=1):
        token = held_token(slot, probe)
        if token is not None:
            claim = slot.claim if slot.claim is not None else one_hot(len(q), token)
            held = partial(_pair_of, token, claim)
            proposals.append(Proposal(number, slot.weight_of(token), held, slot.tie_of(token)))
    return proposals


@lru_cache(maxsize=4096)
def _slots(rule: Rule, q: Law, K: int, m: int) -> Sequence[Slot]:
    """A rule's slots, checked once per law: a rule is a pure function."""
    return check_slots(rule(q, K, m), q)


def held_token(slot: Slot, probe: int | None) -> int | None:
    """The token a slot holds when the node's probe drew `probe` (None: no probe); None when it holds nothing."""
    if slot.law is not None:
        return probe
    if slot.given is not None:
        return slot.given.get(probe) if probe is not None else None
    return slot.token


def _pair_of(token: int, claim: Law) -> tuple[int, Law]:
    return token, claim


def _assemble(kept: list[_Candidate]) -> Tree:
    children: dict[int, list[Node]] = {}
    held = [candidate.proposal.held() for candidate in kept]  # parents first, elder siblings first
    for candidate, (token, claim) in zip(reversed(kept), reversed(held), strict=True):
        below = sorted(children.get(id(candidate), []), key=lambda node: node.slot)
        node = Node(token, candidate.proposal.slot, claim, tuple(below))
        children.setdefault(id(candidate.parent), []).append(node)
    return Tree(tuple(sorted(children.get(id(None), []), key=lambda node: node.slot)))
