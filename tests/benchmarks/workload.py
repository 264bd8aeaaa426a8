"""Synthetic logits for timing a cycle: Zipf-like rows, a target that is the drafter's row plus noise.

A drafter's answer does not depend on the tokens it is given, so it costs nothing and is the same for every contender:
the frontier's r-th node of a layer gets row r of the layer.
"""

from dataclasses import dataclass

import torch

from rheocheck.core import Shape

SHAPE = Shape(leads=1, branching=10, depth=8, nodes=59)  # EAGLE-2's: top 10, 8 levels, 60 tokens


@dataclass
class Workload:
    """Drafter logits per layer [B, R, V]; target logits of the nodes of a tree by the rows it expanded."""

    layers: list
    target_rows: torch.Tensor
    leaf_rows: torch.Tensor

    def target(self, row, leaf):
        """[B, N+1, V]: of the expanded row of each node, or some row of its own at a leaf."""
        batch = torch.arange(len(row), device=row.device)[:, None]
        number = torch.arange(row.shape[1], device=row.device) % self.leaf_rows.shape[1]
        return torch.where(leaf[..., None], self.leaf_rows[:, number], self.target_rows[batch, row])


def workload(B, V, *, shape=SHAPE, seed=0, noise=0.5, exponent=1.7, dtype=torch.float32, device="cpu"):
    """Rows like -exponent log(rank) over a shuffled vocabulary, with Gaussian noise between drafter and target.

    Exponent and noise are such that EAGLE's verification has the profile that was measured for it.
    """
    layers, target, leaves = _rows(B, V, shape, seed, noise, exponent)
    return Workload([x.to(device, dtype) for x in layers], target.to(device, dtype), leaves.to(device, dtype))


def _rows(B, V, shape, seed, noise, exponent):
    g = torch.Generator().manual_seed(seed)
    rows = 1 + (shape.depth - 1) * shape.width
    zipf = -exponent * torch.log(torch.arange(1.0, V + 1))
    draft = torch.empty(B, rows, V)
    for b in range(B):
        for r in range(rows):
            draft[b, r] = zipf[torch.randperm(V, generator=g)]
    draft += 0.3 * torch.randn(B, rows, V, generator=g)
    target = draft + noise * torch.randn(B, rows, V, generator=g)
    layers = [draft[:, :1].contiguous()]
    layers += [draft[:, 1 + i * shape.width : 1 + (i + 1) * shape.width].contiguous() for i in range(shape.depth - 1)]
    return layers, target, target[:, :8].flip(-1).contiguous()
