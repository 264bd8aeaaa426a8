"""A drafter's best tokens at every node of a layer, best first, and their law.

    d(x) = max l - l(x) >= 0,   q = softmax(-d / T) over the S tokens of least d

On a CPU, S of V by blocks: the S blocks with the largest maxima hold the S best tokens, and only these are searched.
Blocks are strided, columns of a [w, V/w] view, so that their maxima are taken by whole vectors. d is searched by its
bits: non-negative floats stand in the order of their bits as integers, which are compared without a care for NaN. On a
GPU, where launches cost more than passes, it is one topk.

Which of equal logits at the cut enters is arbitrary; it is a fact of the logits and not of a draw, and what entered is
what is claimed. Where nothing is cut (V <= S), equal ones stand by token id.
"""

import math
from functools import cache, lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad, threshold_

from rheocheck.core.errors import InputError

TINY = 2.0**-126  # stands in for 0 under a division line: the least normal float32
FLOOR = 2.0**-100  # less probable tokens are not proposed: their race would overflow, their claims lose digits
Ranked = tuple[Int[Tensor, "B R S"], Float[Tensor, "B R S"]]


def top_law(logits: Float[Tensor, "B R V"], scale: Float[Tensor, "B 1 1"] | None, top: int, least: int) -> Ranked:
    """Tokens and law of the `top` best logits, times `scale`; at least `least` columns, padded by q = 0."""
    V = logits.shape[-1]
    if V <= top:
        values, tokens = logits.sort(dim=-1, descending=True, stable=True)
        d = values[..., :1].to(working(logits.dtype)) - values
    elif logits.is_cuda or block_width(V, top) == 1:
        values, tokens = logits.topk(top)
        d = values[..., :1].to(working(logits.dtype)) - values
    else:
        d, tokens = by_blocks(logits, top)
    q = (d.neg_() if scale is None else d * -scale.to(d.dtype)).softmax(-1)
    return _padded(tokens, threshold_(q, FLOOR, 0.0), least)


def given_law(laws: Float[Tensor, "B R V"], scale: Float[Tensor, "B 1 1"] | None, top: int, least: int) -> Ranked:
    """The same of laws that are taken as they are, whole; for tests, where a softmax would round."""
    q, tokens = laws.sort(dim=-1, descending=True, stable=True)
    return _padded(tokens, q, least)


def by_blocks(logits: Float[Tensor, "B R V"], top: int) -> tuple[Float[Tensor, "B R S"], Int[Tensor, "B R S"]]:
    """d and the tokens of the `top` largest logits, largest first."""
    columns, blocks = _columns(logits, top)
    maxima = columns.amax(-2).to(working(logits.dtype))
    peak = maxima.amax(-1, keepdim=True)
    tokens = _members(_least(peak - maxima, top), logits.shape[-1], blocks)
    found, place = _bits(peak - logits.gather(-1, tokens)).topk(top, largest=False)
    return found.view(peak.dtype), tokens.gather(-1, place)


def _least(d: Float[Tensor, "B R n"], top: int) -> Int[Tensor, "B R S"]:
    """Where the `top` least of non-negative numbers stand, in any order; by blocks again when they are many."""
    if block_width(d.shape[-1], top) == 1:
        return _bits(d).topk(top, largest=False, sorted=False).indices
    columns, blocks = _columns(d, top)
    where = _members(_least(columns.amin(-2), top), d.shape[-1], blocks)
    place = _bits(d.gather(-1, where)).topk(top, largest=False, sorted=False).indices
    return where.gather(-1, place)


def _columns(values: Float[Tensor, "B R n"], top: int) -> tuple[Float[Tensor, "B R w blocks"], int]:
    width = block_width(values.shape[-1], top)
    blocks = values.shape[-1] // width
    return values[..., : width * blocks].unflatten(-1, (width, blocks)), blocks


def _members(chosen: Int[Tensor, "B R S"], n: int, blocks: int) -> Int[Tensor, "B R C"]:
    """All places of the chosen blocks, and the last few places, which are in no block."""
    where = (chosen[..., None] + _steps(0, n - n % blocks, blocks, chosen.device)).flatten(-2)
    if n % blocks == 0:
        return where
    return torch.cat([where, _steps(n - n % blocks, n, 1, chosen.device).expand(*where.shape[:-1], -1)], -1)


def _bits(d: Float[Tensor, "*dims"]) -> Int[Tensor, "*dims"]:
    return d.view(torch.int64 if d.dtype == torch.float64 else torch.int32)


@lru_cache(maxsize=256)
def block_width(n: int, top: int) -> int:
    """Such that all searches go through about equally many: two of them, or three where n is more than 128 top.

    A width that divides n, if there is one nearby; 1 where blocks would not pay.
    """
    ratio = n / top
    if ratio < 8:
        return 1
    ideal = ratio ** (1 / 2 if ratio <= 128 else 1 / 3)
    near = [w for w in range(2, math.ceil(2 * ideal)) if n % w == 0 and w > ideal / 2]
    return min(near, key=lambda w: abs(math.log(w / ideal)), default=round(ideal))


@cache
def _steps(start: int, stop: int, step: int, device: torch.device) -> Int[Tensor, "n"]:
    return torch.arange(start, stop, step, device=device)


def working(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the arithmetic on logits of this one."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def check_temperature(temperature: Tensor | None, rows: int) -> None:
    """One temperature a row, or none."""
    if temperature is None or (isinstance(temperature, Tensor) and temperature.shape == (rows,)):
        return
    got = tuple(temperature.shape) if isinstance(temperature, Tensor) else repr(temperature)
    raise InputError(f"temperature must be a tensor of shape ({rows},), got {got}; try torch.full(({rows},), 1.0)")


def _padded(tokens: Int[Tensor, "B R S"], q: Float[Tensor, "B R S"], least: int) -> Ranked:
    empty = least - q.shape[-1]
    if empty <= 0:
        return tokens, q
    return pad(tokens, (0, empty)), pad(q, (0, empty))
