"""Verification of B trees from the target's logits [B, N+1, V]: all nodes at once, or a walk.

Both ask the same verifier at the same nodes with the same coins and emit the same tokens. All at once decides at every
node and fits a GPU with few sequences; the walk reads one row of V a step and sequence, D+1 instead of N+1 of them, and
fits a CPU, or many sequences.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.production.decide import VERIFIERS, Decision, Look, Verifier
from rheocheck.production.target import Laws, Logits, Target
from rheocheck.production.tree import DraftTree

BELOW_ONE = 1 - 2.0**-52


@dataclass(frozen=True)
class Emitted:
    """What a cycle emits.

    tokens  D+1 a row: the accepted path and one more token, then -1
    length  how many there are
    nodes   the root and the accepted nodes by depth, then 0: whose keys and values to keep
    """

    tokens: Int[Tensor, "B D1"]
    length: Int[Tensor, "B"]
    nodes: Int[Tensor, "B D1"]


def verify(
    tree: DraftTree,
    target: Float[Tensor, "B N1 V"] | Laws,
    coin: Float[Tensor, "B N1 K1"],
    *,
    verifier: Verifier = VERIFIERS["rheo"],
    temperature: Float[Tensor, "B"] | None = None,
    walk: bool = False,
    early_exit: bool = False,
) -> Emitted:
    """Accept a path of every tree and emit one more token.

    target       logits at the root and the N nodes; or Laws
    temperature  one a row; None is 1, and 0 is greedy
    early_exit   stop a walk when every path has ended: asks the host, so on a CPU only
    """
    laws = Logits(target, temperature) if isinstance(target, Tensor) else target
    _check(tree, laws, coin)
    nodes = _Nodes(tree, coin)
    if walk:
        end, decision = _walk(nodes, laws, verifier, tree.shape.depth, early_exit)
    else:
        end, decision = _all_at_once(nodes, laws, verifier, tree.shape.depth)
    return _emit(tree, end, _last_token(nodes, laws.select(end), end, decision))


def cut_at(emitted: Emitted, stop: int) -> Emitted:
    """The same blocks, each ended after its first `stop` token (EOS)."""
    places = torch.arange(emitted.tokens.shape[1], device=emitted.tokens.device)
    before = (emitted.tokens == stop).cumsum(-1) - (emitted.tokens == stop).long() == 0
    length = torch.minimum(emitted.length, before.sum(-1))
    inside = places < length[:, None]
    return Emitted(torch.where(inside, emitted.tokens, -1), length, torch.where(inside, emitted.nodes, 0))


class _Nodes:
    """What the verifiers look at, for every node of every tree."""

    def __init__(self, tree: DraftTree, coin: Tensor) -> None:
        B, nodes, K = tree.child.shape
        self.m, self.K = tree.shape.leads, K
        self.child, self.coin = tree.child, coin
        tokens = tree.token.gather(1, tree.child.flatten(1)).unflatten(1, (nodes, K))  # the root's where none is held
        self.claim = self.tail_claim = None
        self.batch = torch.arange(B, device=coin.device)
        if tree.tail is not None and tree.slot_claim is not None and tree.tail_claim is not None:
            at = (self.batch[:, None], tree.row)
            self.claim, self.tail_claim = tree.slot_claim[at], tree.tail_claim[at]
            tokens = torch.cat([tokens, tree.tail[at]], -1)
        self.tokens = tokens

    def decide(self, target: Target, verifier: Verifier, node: Tensor | None = None) -> tuple[Tensor, Decision]:
        """The next node of every node, itself where the path ends; or of one node a row."""

        def here(values: Tensor | None) -> Tensor | None:
            return values if node is None or values is None else values[self.batch, node][:, None]

        child, tokens, coin = here(self.child), here(self.tokens), here(self.coin)
        assert child is not None and tokens is not None and coin is not None
        p = target.at(tokens)
        tail_p = p[..., self.K :] if self.claim is not None else None
        decision = verifier(
            Look(child > 0, p[..., : self.K], coin, self.m, here(self.claim), tail_p, here(self.tail_claim))
        )
        own = torch.arange(child.shape[1], device=p.device).expand(len(child), -1) if node is None else node[:, None]
        following = torch.cat([child, own[..., None]], -1).gather(-1, decision.slot[..., None])[..., 0]
        return following, decision


def _all_at_once(nodes: _Nodes, target: Target, verifier: Verifier, depth: int) -> tuple[Tensor, Decision]:
    """Decide everywhere, then follow the pointers from the root by doubling."""
    following, decision = nodes.decide(target, verifier)
    reach = 1
    while reach < depth:
        following, reach = following.gather(1, following), 2 * reach
    end = following[:, 0]
    return end, Decision(*(part if part is None else part[nodes.batch, end] for part in decision))


def _walk(
    nodes: _Nodes, target: Target, verifier: Verifier, depth: int, early_exit: bool
) -> tuple[Tensor, Decision]:
    """Decide where the path is. A path that has ended stays and decides the same again."""
    node = torch.zeros_like(nodes.batch)
    for step in range(depth + 1):
        following, decision = nodes.decide(target.select(node), verifier, node)
        if step == depth or (early_exit and bool((following[:, 0] == node).all())):
            break
        node = following[:, 0]
    return node, Decision(*(part if part is None else part[:, 0] for part in decision))


def _last_token(nodes: _Nodes, target: Target, end: Tensor, decision: Decision) -> Int[Tensor, "B"]:
    """One draw over the vocabulary from (p - c q~)+ without the kept children of the last node.

    Children that are not held point at the root's token; they take 0 off, by adding, and so collide with nobody.
    """
    p = target.dense()
    rest = p
    tokens, K = nodes.tokens[nodes.batch, end], nodes.K
    if decision.c is not None and nodes.tail_claim is not None:
        claim = nodes.tail_claim[nodes.batch, end] * -decision.c[:, None]
        rest = rest.scatter_add(1, tokens[:, K:], claim.to(p.dtype)).clamp_min_(0)
    children, kept = tokens[:, :K], nodes.child[nodes.batch, end] > 0
    rest = rest.scatter_add(1, children, rest.gather(1, children) * kept.to(p.dtype).neg_())
    reached = rest.cumsum(-1, dtype=torch.float64)
    total = reached[:, -1:]
    point = decision.v[:, None].clamp(0, BELOW_ONE) * total
    drawn = torch.searchsorted(reached, point, right=True)
    return torch.where(total > 0, drawn, p.argmax(-1, keepdim=True))[:, 0]  # nothing is left by rounding only


def _emit(tree: DraftTree, end: Int[Tensor, "B"], last: Int[Tensor, "B"]) -> Emitted:
    """Lay the accepted path out by depth. Nodes off the path add 0 at their place."""
    batch = torch.arange(len(end), device=end.device)
    numbers = torch.arange(tree.token.shape[1], device=end.device)
    on_path = tree.mask[batch, end] * numbers
    places = torch.arange(tree.shape.depth + 1, device=end.device)
    nodes = torch.zeros_like(places).repeat(len(end), 1).scatter_add_(1, tree.position, on_path)
    accepted = tree.position[batch, end]
    tokens = tree.token.gather(1, nodes).roll(-1, 1).scatter_(1, accepted[:, None], last[:, None])
    return Emitted(torch.where(places <= accepted[:, None], tokens, -1), accepted + 1, nodes)


def _check(tree: DraftTree, target: Target, coin: Tensor) -> None:
    B, nodes, K = tree.child.shape
    if target.rows.shape[:2] != (B, nodes):
        raise InputError(
            f"target must have shape ({B}, {nodes}, V), the root and N nodes a row, got {tuple(target.rows.shape)}; "
            "gather its rows in node order"
        )
    if coin.shape != (B, nodes, K + 1):
        raise InputError(f"coin must have shape {(B, nodes, K + 1)}, got {tuple(coin.shape)}; try draw_noise(shape, B, V)")
