"""What the top 128 of the drafter leave out, of the drafter's own mass and of the target's, by temperature.

Read on held-out text, every position of it. What is not in the top 128 is never proposed; the target's mass there is
lost to every method alike.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rheocheck.bench.result import Coverage
from rheocheck.bench.settings import TOP


@torch.inference_mode()
def coverage(
    models: tuple[Any, Any], windows: Tensor, temperatures: Sequence[float], batch: int = 8
) -> tuple[Coverage, ...]:
    """Over windows of token ids [n, width]; temperatures above 0."""
    sums = torch.zeros(len(temperatures), 3, dtype=torch.float64)
    positions = 0
    for part in windows.split(batch):
        p_logits, q_logits = (model(input_ids=part).logits.flatten(0, 1) for model in models)
        best = q_logits.topk(min(TOP, q_logits.shape[-1])).indices
        positions += len(best)
        for place, T in enumerate(temperatures):
            p, q = (p_logits / T).softmax(-1), (q_logits / T).softmax(-1)
            masses = q.gather(-1, best).sum(), p.gather(-1, best).sum(), torch.minimum(p, q).sum()
            sums[place] += torch.stack(masses).double()
    return tuple(Coverage(T, *(row / positions).tolist(), positions) for T, row in zip(temperatures, sums, strict=True))
