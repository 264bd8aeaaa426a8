"""The N best nodes of all layers, as a tree that a target model and a verifier can use.

A pool position is (row e, slot) of an expanded node in reading order; node n = 1..N are the kept positions, ascending,
so parents come first. Empty nodes, when fewer than N have a score, stand at the end: token 0, parent 0, position 0,
nobody's child. Ancestors by pointer doubling on a boolean mask: no limit of 63 nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rheocheck.core.shape import Shape
from rheocheck.production.noise import expanded_nodes
from rheocheck.production.slots import SlotTensors
from rheocheck.production.tops import TINY


@dataclass(frozen=True)
class DraftTree:
    """Kept nodes 0 (the root) .. N, and what a verifier needs of them.

    token      the drafted token (0 at the root, whose token is the last of the context)
    parent     the parent node
    position   tokens after the context's last: add it to the root's position id
    mask       [n, a]: whether a is n or an ancestor of n, for attention
    valid      False at empty nodes
    child      node held by each slot, 0 for none
    row        the law row of a node (any where it has no children)
    slot_claim q~ of the token in each slot; 0 at the leads; None when no node has a probe
    tail       tokens of the tail by law row, and tail_claim, their q~: as drawn from
    leads      m
    """

    shape: Shape
    token: Int[Tensor, "B N1"]
    parent: Int[Tensor, "B N1"]
    position: Int[Tensor, "B N1"]
    mask: Bool[Tensor, "B N1 N1"]
    valid: Bool[Tensor, "B N1"]
    child: Int[Tensor, "B N1 K"]
    row: Int[Tensor, "B N1"]
    slot_claim: Float[Tensor, "B E K"] | None
    tail: Int[Tensor, "B E T"] | None
    tail_claim: Float[Tensor, "B E T"] | None


def finish(
    laws: Sequence[tuple[Tensor, Tensor]],
    layers: Sequence[tuple[SlotTensors, Tensor]],
    frontiers: Sequence[Int[Tensor, "B F"]],
    shape: Shape,
) -> DraftTree:
    """Keep the N best and number them."""
    K, E, m = shape.branching, expanded_nodes(shape), shape.leads
    P, N = E * K, min(shape.nodes, E * K)
    table = _constants(shape, layers[0][1].device)
    score = torch.cat([score for _, score in layers], 1).flatten(1)
    B = len(score)
    zero = score.new_zeros((B, 1), dtype=torch.long)
    ranked, place = score.sort(dim=-1, descending=True, stable=True)
    kept = torch.where(ranked[:, :N] > 0, place[:, :N], P).sort(dim=-1).values
    if shape.nodes > N:
        kept = torch.nn.functional.pad(kept, (0, shape.nodes - N), value=P)

    token = torch.cat([*(slots.token.flatten(1) for slots, _ in layers), zero], 1).gather(1, kept)
    outside = zero - 1
    pool = torch.cat([outside, *frontiers, outside], 1) + table.first  # of the node of a row; -1 at the root, nowhere
    node = torch.cat([outside, kept], 1)
    row_of_kept = kept // K
    parent = torch.cat([zero, torch.searchsorted(node, pool.gather(1, row_of_kept))], 1)
    valid = node < P
    expanded = pool[:, 1:-1].clamp_max(P + 1)  # where a frontier's empty nodes stand, which nobody looks up
    below = score.new_full((B, P + 2), E, dtype=torch.long).scatter_(1, expanded, table.rows.expand(B, -1))
    row = torch.cat([zero, below.gather(1, kept)], 1)
    number = table.numbers * valid[:, 1:]
    holders = score.new_zeros((B, P + K), dtype=torch.long).scatter_(1, kept, number).unflatten(1, (E + 1, K))
    child = holders.gather(1, row[..., None].expand(-1, -1, K))
    claims: tuple[Tensor | None, ...] = (None, None, None)
    if layers[0][0].z is not None:
        z = torch.cat([slots.z for slots, _ in layers if slots.z is not None], 1).clamp_min(TINY)[..., None]
        tokens, q = (torch.cat(part, 1)[..., m:] for part in zip(*laws, strict=True))
        slot_claim = torch.cat([slots.q for slots, _ in layers], 1) / z * table.from_probe
        claims = (slot_claim, tokens, q / z)
    return DraftTree(
        shape,
        torch.cat([zero, token], 1),
        parent,
        torch.cat([zero, table.depth[row_of_kept]], 1),
        _ancestors(parent, shape.depth),
        valid,
        child,
        row.clamp_max(E - 1),
        *claims,
    )


def _ancestors(parent: Int[Tensor, "B N1"], depth: int) -> Bool[Tensor, "B N1 N1"]:
    """Reach 1, 2, 4, ... steps up."""
    B, nodes = parent.shape
    mask = torch.eye(nodes, dtype=torch.bool, device=parent.device).expand(B, -1, -1)
    up, reach = parent, 1
    while True:
        mask = mask | mask.gather(1, up[..., None].expand(-1, -1, nodes))
        if reach >= depth:
            return mask
        up, reach = up.gather(1, up), 2 * reach


@dataclass(frozen=True)
class _Constants:
    rows: Int[Tensor, "E2"]
    first: Int[Tensor, "E1"]
    numbers: Int[Tensor, "N"]
    depth: Int[Tensor, "E1"]
    from_probe: Bool[Tensor, "K"]


@cache
def _constants(shape: Shape, device: torch.device) -> _Constants:
    E, F, K = expanded_nodes(shape), shape.width, shape.branching
    depth = [1, *((e - 1) // F + 2 for e in range(1, E)), 0]  # of the children of a row; of nothing
    before = [0, *(max(0, 1 + (e - 1) // F * F - F) * K for e in range(1, E)), 0]  # positions before a row's parents
    return _Constants(
        torch.arange(1, E, device=device),
        torch.tensor(before, device=device),
        torch.arange(1, shape.nodes + 1, device=device),
        torch.tensor(depth, device=device),
        torch.arange(shape.branching, device=device) >= shape.leads,
    )
