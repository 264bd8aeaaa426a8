"""The uniforms of one cycle, drawn before it so that nothing inside draws.

probe is float32, on a grid of 2^-24: a race decides by ratios of 128 clocks, which that moves little. coin is float64:
an inverse CDF over a large vocabulary would lose its rare tokens to the grid.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape

TOP = 128  # drafter logits kept at a node


@dataclass(frozen=True)
class CycleNoise:
    """Uniforms in [0, 1): clocks per expanded node and ranked tail token, coins per kept node."""

    probe: Float[Tensor, "B E T"]
    coin: Float[Tensor, "B N1 K1"]


def expanded_nodes(shape: Shape) -> int:
    """E: the root and F nodes of every layer but the last."""
    return 1 + (shape.depth - 1) * shape.width


def draw_noise(
    shape: Shape,
    batch: int,
    vocab_size: int,
    *,
    generator: torch.Generator | Sequence[torch.Generator] | None = None,
    device: torch.device | str | None = None,
    top: int = TOP,
) -> CycleNoise:
    """Fresh noise for `batch` sequences.

    generator  one for the batch, or one a row: a row's noise then does not depend on the batch it is in
    """
    sizes = (expanded_nodes(shape), min(vocab_size, top)), (shape.nodes + 1, shape.branching + 1)
    if generator is None or isinstance(generator, torch.Generator):
        probe = torch.rand(batch, *sizes[0], generator=generator, device=device)
        return CycleNoise(probe, torch.rand(batch, *sizes[1], generator=generator, device=device, dtype=torch.float64))
    if len(generator) != batch:
        raise InputError(f"generators must be one a row, got {len(generator)} for {batch} rows; pass a list of {batch}")
    probes = [torch.rand(sizes[0], generator=g, device=device) for g in generator]
    coins = [torch.rand(sizes[1], generator=g, device=device, dtype=torch.float64) for g in generator]
    return CycleNoise(torch.stack(probes), torch.stack(coins))
