"""What the nodes of a layer propose (the table of `rheocheck.core.builders.rheo`), all rows at once.

    q        [B, R, S] laws of the R nodes, best first       tail   q[..., m:], of mass z
    clocks   [B, R, T] exponential clocks of the race        y      its winner, a place in the tail

The K slots hold ranks that only depend on y, so they are one lookup in a table of T rows.
A slot of weight 0 holds nothing. z is added up and not 1 - sum(leads), and a sum of non-negative numbers, rounded in
any order, is never below one of them: fills <= probe <= parent without a further maximum.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class SlotTensors(NamedTuple):
    """Tokens, rank weights and drafter probabilities of the K slots; z is None when nothing is drawn."""

    token: Int[Tensor, "B R K"]
    weight: Float[Tensor, "B R K"]
    q: Float[Tensor, "B R K"]
    z: Float[Tensor, "B R"] | None


Builder = Callable[[Int[Tensor, "B R S"], Float[Tensor, "B R S"], Float[Tensor, "B R T"], int, int], SlotTensors]


def top_k(tokens: Tensor, q: Tensor, clocks: Tensor, K: int, m: int) -> SlotTensors:
    """The K best tokens, none drawn."""
    return SlotTensors(tokens[..., :K], q[..., :K], q[..., :K], None)


def rheo(tokens: Tensor, q: Tensor, clocks: Tensor, K: int, m: int) -> SlotTensors:
    """Leads, a probe ranked by min(q(xm), z) (q(x1) for m = 0), fills."""
    drawn = naive(tokens, q, clocks, K, m)
    if drawn.z is None:
        return drawn
    weight = torch.minimum(q[..., m - 1], drawn.z) if m else q[..., 0]
    probe = _probe_slot(K, m, q.device)
    return drawn._replace(weight=torch.where(probe, weight[..., None], drawn.weight))


def naive(tokens: Tensor, q: Tensor, clocks: Tensor, K: int, m: int) -> SlotTensors:
    """The same slots, the probe ranked by its own q: the negative control."""
    if K <= m or q.shape[-1] <= m:
        return top_k(tokens, q, clocks, K, m)
    tail = q[..., m:]
    z = tail.cumsum(-1)[..., -1]  # in rank order, as the reference adds
    y = (clocks[..., : tail.shape[-1]] / tail).argmin(-1)
    rank = _ranks(tail.shape[-1], K, m, q.device).index_select(0, y.flatten()).view(*y.shape, K)
    own = q.gather(-1, rank)
    return SlotTensors(tokens.gather(-1, rank), own, own, z)


BUILDERS: dict[str, Builder] = {"top_k": top_k, "rheo": rheo, "naive": naive}


@cache
def _ranks(T: int, K: int, m: int, device: torch.device) -> Int[Tensor, "T K"]:
    """Row y: the ranks of the leads, of the probe, and of the best tail tokens other than it."""
    table = [[*range(m), m + y, *(m + i + (y <= i) for i in range(K - m - 1))] for y in range(T)]
    return torch.tensor(table, device=device)


@cache
def _probe_slot(K: int, m: int, device: torch.device) -> Tensor:
    return torch.arange(K, device=device) == m
