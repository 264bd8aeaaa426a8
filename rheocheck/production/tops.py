"""A drafter's best tokens at every node of a layer, best first, and their law.

Top S of V in two steps: the maxima of V/w strided blocks choose S blocks, which hold the S best tokens, and these are
searched. A strided block is a column, so its maximum is taken by whole vectors. Which of equal logits at the cut enters
is arbitrary; it is a fact of the logits and not of a draw, and what entered is what is claimed.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

TINY = 2.0**-126  # stands in for 0 under a division line: the least normal float32
Ranked = tuple[Int[Tensor, "B R S"], Float[Tensor, "B R S"]]


def top_law(logits: Float[Tensor, "B R V"], scale: Float[Tensor, "B 1 1"] | None, top: int, least: int) -> Ranked:
    """Tokens and law of the `top` best logits, times `scale`; at least `least` columns, padded by q = 0."""
    values, tokens = best(logits, min(top, logits.shape[-1]))
    dtype = working(logits.dtype)
    values = values.to(dtype) if scale is None else values * scale.to(dtype)
    return _padded(tokens, values.softmax(-1), least)


def given_law(laws: Float[Tensor, "B R V"], scale: Float[Tensor, "B 1 1"] | None, top: int, least: int) -> Ranked:
    """The same of laws that are taken as they are, whole; for tests, where a softmax would round."""
    q, tokens = laws.sort(dim=-1, descending=True, stable=True)
    return _padded(tokens, q, least)


def best(logits: Float[Tensor, "B R V"], top: int) -> tuple[Float[Tensor, "B R S"], Int[Tensor, "B R S"]]:
    """The `top` largest logits, largest first, and their tokens; equal ones by token id when none is cut off."""
    V = logits.shape[-1]
    if V == top:
        return logits.sort(dim=-1, descending=True, stable=True)
    width = block_width(V, top)
    blocks = V // width
    if width == 1 or blocks <= top:
        return logits.topk(top)
    columns = logits[..., : width * blocks].unflatten(-1, (width, blocks))
    chosen = columns.amax(-2).topk(top, sorted=False).indices
    offsets = torch.arange(0, width * blocks, blocks, device=logits.device)
    tokens = (chosen[..., None] + offsets).flatten(-2)
    if width * blocks < V:  # the last few tokens are in no block
        rest = torch.arange(width * blocks, V, device=logits.device).expand(*tokens.shape[:-1], -1)
        tokens = torch.cat([tokens, rest], -1)
    values, place = logits.gather(-1, tokens).topk(top)
    return values, tokens.gather(-1, place)


def block_width(V: int, top: int) -> int:
    """About sqrt(V / top): both steps then search equally many."""
    return max(1, round(math.sqrt(V / top)))


def working(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the arithmetic on logits of this one."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def _padded(tokens: Int[Tensor, "B R S"], q: Float[Tensor, "B R S"], least: int) -> Ranked:
    empty = least - q.shape[-1]
    if empty <= 0:
        return tokens, q
    return torch.nn.functional.pad(tokens, (0, empty)), torch.nn.functional.pad(q, (0, empty))
