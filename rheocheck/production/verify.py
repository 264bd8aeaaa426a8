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
from rheocheck.production.target import Filtered, Laws, Logits, Target, counted
from rheocheck.production.tops import check_temperature
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


@torch.inference_mode()
def verify(
    tree: DraftTree,
    target: Float[Tensor, "B N1 V"] | Laws | Filtered,
    coin: Float[Tensor, "B N1 K1"],
    *,
    verifier: Verifier = VERIFIERS["rheo"],
    temperature: Float[Tensor, "B"] | None = None,
    walk: bool = False,
    early_exit: bool = False,
) -> Emitted:
    """Accept a path of every tree and emit one more token. Runs in inference mode.

    target       logits at the root and the N nodes; or Laws, or Filtered
    temperature  one a row; None is 1, and 0 is greedy
    early_exit   stop a walk when every path has ended: asks the host, so on a CPU only
    """
    laws = Logits(target, temperature) if isinstance(target, Tensor) else target
    _check(tree, laws, coin)
    check_temperature(temperature, len(tree.token))
    nodes = _Nodes.of(tree, coin)
    if walk:
        end, decision = _walk(nodes, laws, verifier, tree.shape.depth, early_exit)
    else:
        end, decision = _all_at_once(nodes, laws, verifier, tree.shape.depth)
    return _emit(tree, end, _last_token(nodes.select(end), laws.select(end), decision))


def cut_at(emitted: Emitted, stop: int) -> Emitted:
    """The same blocks, each ended after its first `stop` token (EOS)."""
    places = torch.arange(emitted.tokens.shape[1], device=emitted.tokens.device)
    before = (emitted.tokens == stop).cumsum(-1) - (emitted.tokens == stop).long() == 0
    length = torch.minimum(emitted.length, before.sum(-1))
    inside = places < length[:, None]
    return Emitted(torch.where(inside, emitted.tokens, -1), length, torch.where(inside, emitted.nodes, 0))


class _Nodes:
    """What the verifiers look at, for every node of every tree, or for one node a row.

    ids     child by slot; then the tokens that probabilities are needed of: the children's, the tail's
    claims  q~ by slot, then on the tail; None when no node has a probe
    """

    def __init__(self, ids: Tensor, claims: Tensor | None, coin: Tensor, leads: int, K: int) -> None:
        self.ids, self.claims, self.coin, self.leads, self.K = ids, claims, coin, leads, K

    @classmethod
    def of(cls, tree: DraftTree, coin: Tensor) -> "_Nodes":
        B, nodes, K = tree.child.shape
        tokens = tree.token.gather(1, tree.child.flatten(1)).unflatten(1, (nodes, K))  # the root's where none is held
        if tree.tail is None or tree.slot_claim is None or tree.tail_claim is None:
            return cls(torch.cat([tree.child, tokens], -1), None, coin, tree.shape.leads, K)
        E = tree.tail.shape[1]
        row = (tree.row + counted(B, E, coin.device)[:, None]).flatten()
        claims = torch.cat([tree.slot_claim, tree.tail_claim], -1).flatten(0, 1).index_select(0, row)
        tail = tree.tail.flatten(0, 1).index_select(0, row).unflatten(0, (B, nodes))
        ids = torch.cat([tree.child, tokens, tail], -1)
        return cls(ids, claims.unflatten(0, (B, nodes)), coin, tree.shape.leads, K)

    def select(self, node: Int[Tensor, "B"]) -> "_Nodes":
        B, nodes, _ = self.ids.shape
        at = counted(B, nodes, node.device) + node
        ids, claims, coin = (
            part if part is None else part.flatten(0, 1).index_select(0, at)[:, None]
            for part in (self.ids, self.claims, self.coin)
        )
        assert ids is not None and coin is not None
        return _Nodes(ids, claims, coin, self.leads, self.K)

    def decide(self, target: Target, verifier: Verifier, own: Int[Tensor, "B n"]) -> tuple[Tensor, Decision]:
        """The next node of every node, `own` where the path ends."""
        K, child, claims = self.K, self.ids[..., : self.K], self.claims
        p = target.at(self.ids[..., K:])
        look = Look(child > 0, p[..., :K], self.coin, self.leads, None, None, None)
        if claims is not None:
            look = Look(look.kept, look.p, look.coin, self.leads, claims[..., :K], p[..., K:], claims[..., K:])
        decision = verifier(look)
        return torch.cat([child, own[..., None]], -1).gather(-1, decision.slot[..., None])[..., 0], decision


def _all_at_once(nodes: _Nodes, target: Target, verifier: Verifier, depth: int) -> tuple[Tensor, Decision]:
    """Decide everywhere, then follow the pointers from the root by doubling."""
    B, count, _ = nodes.ids.shape
    following, decision = nodes.decide(target, verifier, counted(count, 1, nodes.ids.device).expand(B, -1))
    reach = 1
    while reach < depth:
        following, reach = following.gather(1, following), 2 * reach
    end = following[:, :1]
    return end[:, 0], Decision(*(part if part is None else part.gather(1, end)[:, 0] for part in decision))


def _walk(nodes: _Nodes, target: Target, verifier: Verifier, depth: int, early_exit: bool) -> tuple[Tensor, Decision]:
    """Decide where the path is. A path that has ended stays and decides the same again."""
    node = nodes.ids.new_zeros(len(nodes.ids))
    for step in range(depth + 1):
        following, decision = nodes.select(node).decide(target.select(node), verifier, node[:, None])
        if step == depth or (early_exit and bool((following[:, 0] == node).all())):
            break
        node = following[:, 0]
    return node, Decision(*(part if part is None else part[:, 0] for part in decision))


def _last_token(nodes: _Nodes, target: Target, decision: Decision) -> Int[Tensor, "B"]:
    """One draw over the vocabulary from (p - c q~)+ without the kept children of the last node of each row.

    Children that are not held point at the root's token; they take 0 off, by adding, and so collide with nobody.
    """
    p, K = target.dense(), nodes.K
    rest, ids = p, nodes.ids[:, 0]
    if decision.c is not None and nodes.claims is not None:
        claim = nodes.claims[:, 0, K:] * decision.c[:, None]
        rest = rest.scatter_add(1, ids[:, 2 * K :], claim.neg_()).clamp_min_(0)
    children, held = ids[:, K : 2 * K], ids[:, :K] > 0
    rest = rest.scatter_add(1, children, (rest.gather(1, children) * held).neg_())
    reached = rest.cumsum(-1, dtype=torch.float64)
    total = reached[:, -1:]
    point = decision.v[:, None].clamp(0, BELOW_ONE) * total
    drawn = torch.searchsorted(reached, point, right=True)
    return torch.where(total > 0, drawn, p.argmax(-1, keepdim=True))[:, 0]  # nothing is left by rounding only


def _emit(tree: DraftTree, end: Int[Tensor, "B"], last: Int[Tensor, "B"]) -> Emitted:
    """Lay the accepted path out by depth. Nodes off the path add 0 at their place."""
    B, nodes = tree.token.shape
    at = counted(B, nodes, end.device) + end
    on_path = tree.mask.flatten(0, 1).index_select(0, at) * counted(nodes, 1, end.device)
    path = on_path.new_zeros(B, tree.shape.depth + 1).scatter_add_(1, tree.position, on_path)
    accepted = tree.position.gather(1, end[:, None])
    tokens = tree.token.gather(1, path).roll(-1, 1).scatter_(1, accepted, last[:, None])
    inside = counted(tree.shape.depth + 1, 1, end.device) <= accepted
    return Emitted(torch.where(inside, tokens, -1), accepted[:, 0] + 1, path)


def _check(tree: DraftTree, target: Target, coin: Tensor) -> None:
    B, nodes, K = tree.child.shape
    if target.rows.shape[:2] != (B, nodes):
        raise InputError(
            f"target must have shape ({B}, {nodes}, V), the root and N nodes a row, got {tuple(target.rows.shape)}; "
            "gather its rows in node order"
        )
    if coin.shape != (B, nodes, K + 1):
        raise InputError(
            f"coin must have shape {(B, nodes, K + 1)}, got {tuple(coin.shape)}; try draw_noise(shape, B, V)"
        )
