"""Build-and-rank of a layer in one Triton kernel, for a GPU where launches are what a small batch waits for.

    build(..., builder=rheo, step=fused_step)

One program a sequence holds the [R, S] laws of its frontier: the race, the tail's mass, the K slots, their scores, and
the F best of the R K children, ranked by counting who stands before whom: a larger score, or an equal one further left.
It stands for about 13 launches of `rheocheck.production.build.rank_layer`, its slow twin. `rheo` only; float32; z is
added up in another order than the twin's, so it may differ in its last bit. Needs the extra `triton`.

Checked by Triton's interpreter on a CPU (TRITON_INTERPRET=1); it has not been run, nor timed, on a GPU.
"""

from typing import Any

import torch
from torch import Tensor

from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.core.shape import Shape
from rheocheck.production.build import Best, Layer, rank_layer
from rheocheck.production.slots import SlotTensors, rheo

try:
    import triton
    import triton.language as tl
except ImportError as error:
    raise MissingExtra(
        f"the fused kernel must have triton, {error.name} is missing: pip install 'rheocheck[triton]'"
    ) from error


@triton.jit
def _layer(
    tokens_at, q_at, clocks_at, parent_at, token_at, weight_at, own_at, z_at, best_score_at, best_token_at, place_at,
    R, S, T, clock_stride,
    K: tl.constexpr, M: tl.constexpr, F: tl.constexpr,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, SLOTS: tl.constexpr, COUNT: tl.constexpr,
):  # fmt: skip
    """ROWS, WIDTH, SLOTS: the powers of two from R, S, K up; COUNT = ROWS SLOTS."""
    b = tl.program_id(0).to(tl.int64)
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, WIDTH)[None, :]
    inside = (row < R) & (column < S)
    q = tl.load(q_at + (b * R + row) * S + column, mask=inside, other=0.0)
    tail = tl.where(column >= M, q, 0.0)
    z = tl.sum(tail, 1)
    timed = inside & (column >= M) & (column < M + T)
    clock = tl.load(clocks_at + b * clock_stride + row * T + column - M, mask=timed, other=float("inf"))
    y = tl.argmin(tl.where(tail > 0, clock / tl.where(tail > 0, tail, 1.0), float("inf")), 1) - M
    y = tl.maximum(y, 0)  # an empty tail: nobody raced

    slot = tl.arange(0, SLOTS)[None, :]
    fill = slot - 1 + (slot - M - 1 >= y[:, None])
    rank = tl.where(slot < M, slot, tl.where(slot == M, M + y[:, None], fill))
    held = (row < R) & (slot < K)
    own = tl.load(q_at + (b * R + row) * S + rank, mask=held, other=0.0)
    token = tl.load(tokens_at + (b * R + row) * S + rank, mask=held, other=0)
    first = tl.load(q_at + (b * R + row) * S + (M - 1 if M > 0 else 0), mask=row < R, other=0.0)
    bar = tl.minimum(first, z[:, None]) if M > 0 else first
    parent = tl.load(parent_at + b * R + row, mask=row < R, other=0.0)
    score = tl.where(slot == M, bar, own) * parent

    out = (b * R + row) * K + slot
    tl.store(token_at + out, token, mask=held)
    tl.store(weight_at + out, score, mask=held)
    tl.store(own_at + out, own, mask=held)
    one = tl.arange(0, ROWS)
    tl.store(z_at + b * R + one, z, mask=one < R)

    flat = tl.reshape(tl.where(held, score, -1.0), (COUNT,))
    name = tl.reshape(token, (COUNT,))
    line = tl.arange(0, COUNT)
    position = (line // SLOTS) * K + line % SLOTS
    ahead = (flat[None, :] > flat[:, None]) | ((flat[None, :] == flat[:, None]) & (line[None, :] < line[:, None]))
    standing = tl.sum(ahead.to(tl.int32), 1)
    chosen = (standing < F) & (flat >= 0.0)
    tl.store(best_score_at + b * F + standing, flat, mask=chosen)
    tl.store(best_token_at + b * F + standing, name, mask=chosen)
    tl.store(place_at + b * F + standing, position.to(tl.int64), mask=chosen)


def fused_step(
    builder: Any,
    tokens: Tensor,
    q: Tensor,
    clocks: Tensor,
    parent_score: Tensor | None,
    shape: Shape,
    last: bool,
) -> Layer:
    """`rank_layer` in one launch; layers that have no probe, or fewer nodes than F, go the slow way."""
    B, R, S = q.shape
    K, F, m = shape.branching, shape.width, shape.leads
    if builder is not rheo or q.dtype != torch.float32:
        raise InputError(f"the fused step must get the rheo builder and float32, got {builder}, {q.dtype}; drop step=")
    if K <= m or S <= m or R * K < F:
        return rank_layer(builder, tokens, q, clocks, parent_score, shape, last)
    parent = q.new_ones(B, R) if parent_score is None else parent_score.contiguous()
    tokens, q = tokens.contiguous(), q.contiguous()
    clocks = clocks if clocks.stride()[1:] == (clocks.shape[2], 1) else clocks.contiguous()
    token, score, own = tokens.new_empty(B, R, K), q.new_empty(B, R, K), q.new_empty(B, R, K)
    z, best_score = q.new_empty(B, R), q.new_empty(B, F)
    best_token, place = tokens.new_empty(B, F), tokens.new_empty(B, F)
    sizes = [triton.next_power_of_2(n) for n in (R, S, K)]
    _layer[(B,)](
        tokens, q, clocks, parent, token, score, own, z, best_score, best_token, place,
        R, S, clocks.shape[2], clocks.stride(0), K, m, F, *sizes, sizes[0] * sizes[2],
    )  # fmt: skip
    return SlotTensors(token, score, own, z), score, None if last else Best(best_score, best_token, place)
