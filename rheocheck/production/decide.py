"""Verification at a node, from a few probabilities: which kept child is descended to, and what is left if none is.

A draw from a law w lays the kept children first (the noise contract), so whether it descends is decided by
w(children) and the sum of w; only the last node of a path needs a pass over the vocabulary:

    rest   (p - c q~)+ without the kept children, up to a factor;  v   where in it, in [0, 1)

c is the part of the claim that a rejected probe took off: 0 when no probe was rejected.

Sums of residuals come from 1 - sum min(p, q~): near p = q~ that cancels and is off by about 1e-7 in float32, which is
then also the probability of coming there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rheocheck.production.tops import TINY


@dataclass(frozen=True)
class Look:
    """What a verifier sees of n nodes a row. Without a probe anywhere, the last three are None.

    kept, p       which slots hold a kept child, and the target's probability there
    coin          coins of the node; the last is the draw's
    m             the probe's slot
    claim         q~ at the slots, 0 at leads;  tail_p, tail_claim: p and q~ on the tail
    """

    kept: Bool[Tensor, "B n K"]
    p: Float[Tensor, "B n K"]
    coin: Float[Tensor, "B n K1"]
    m: int
    claim: Float[Tensor, "B n K"] | None
    tail_p: Float[Tensor, "B n T"] | None
    tail_claim: Float[Tensor, "B n T"] | None


class Decision(NamedTuple):
    """The slot descended to (K: none), and the rest: c and v."""

    slot: Int[Tensor, "B n"]
    c: Float[Tensor, "B n"] | None
    v: Float[Tensor, "B n"]


Verifier = Callable[[Look], Decision]


def matching(look: Look) -> Decision:
    """Draw y ~ p; descend if y is a kept child."""
    return _draw_child(look.p * look.kept, 1.0, look.coin[..., -1])


def rheo(look: Look) -> Decision:
    """The probe by min(1, p/q~), else a draw from what is left. Our reconstruction of RheoVerification."""
    if look.claim is None or look.tail_p is None or look.tail_claim is None:
        return matching(look)
    m = look.m
    claim = look.claim[..., m]
    probe = look.kept[..., m] & (claim < 1)  # a claim of 1 was no draw
    accepted = probe & (look.coin[..., 0] * claim < look.p[..., m])
    c = (probe ^ accepted).to(look.p.dtype)
    left = 1 - c * torch.minimum(look.tail_p, look.tail_claim).sum(-1)
    weights = (look.p - look.claim * c[..., None]).clamp_min_(0) * look.kept
    drawn = _draw_child(weights, left, look.coin[..., -1])
    return Decision(drawn.slot.masked_fill_(accepted, m), c, drawn.v)


def recursive(look: Look) -> Decision:
    """Children in slot order, each by min(1, r/claim), in units of p: `left` is the mass of r before a child.

    A rejected one-hot child takes its own r off; a rejected probe takes min(p, h q~) off everywhere, h being the mass
    that is left then.
    """
    m, K = look.m, look.kept.shape[-1]
    asked = (look.kept.cumsum(-1) - 1).clamp_min_(0)  # the coin of a child: as many as elder kept children
    u = look.coin[..., :K].gather(-1, asked)
    weights = look.p * look.kept
    if look.claim is None or look.tail_p is None or look.tail_claim is None or m >= K:
        left = 1 - (weights.cumsum(-1) - weights)
        slot = _first(u * left < weights)
        return Decision(slot, None, look.coin[..., -1])
    claim = look.claim[..., m]
    probe = look.kept[..., m] & (claim < 1)
    h = (1 - weights[..., :m].sum(-1)) * probe
    taken = torch.minimum(look.tail_p, look.tail_claim * h[..., None]).sum(-1)
    place = torch.arange(K, device=h.device)
    weights = torch.where(place > m, (weights - look.claim * h[..., None]).clamp_min_(0), weights)
    drawn = (place == m) & probe[..., None]
    off = torch.where(drawn, taken[..., None], weights)
    left = 1 - (off.cumsum(-1) - off)
    bar = u * torch.where(drawn, (claim * h)[..., None], left)
    return Decision(_first(bar < weights), h, look.coin[..., -1])


VERIFIERS: dict[str, Verifier] = {"matching": matching, "recursive": recursive, "rheo": rheo}


def _draw_child(weights: Float[Tensor, "B n K"], total: Tensor | float, u: Float[Tensor, "B n"]) -> Decision:
    """The child on which u * total falls, or none and where beyond the children it falls."""
    reached = weights.cumsum(-1)
    point, last = u * total, reached[..., -1]
    slot = (reached <= point[..., None]).sum(-1)
    return Decision(slot, None, (point - last) / (total - last).clamp_min(TINY))


def _first(accepted: Bool[Tensor, "B n K"]) -> Int[Tensor, "B n"]:
    """The first True, or K."""
    return (accepted.cumsum(-1) == 0).sum(-1)
