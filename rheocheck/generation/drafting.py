"""A cached model as the drafter of one tree: a layer of the tree a pass, every node after its ancestors only."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from rheocheck.generation.cache import CachedModel
from rheocheck.production.build import Frontier


class TreeDrafter:
    """The `drafter` of `build`. The root is the end of what the model keeps; the nodes stay unkept."""

    def __init__(self, model: CachedModel) -> None:
        self._model = model
        self._seen: Bool[Tensor, "B F u"] | None = None  # by the nodes of the last frontier, of all nodes read so far

    def __call__(self, frontier: Frontier) -> Float[Tensor, "B F V"]:
        B, F = frontier.token.shape
        itself = torch.eye(F, dtype=torch.bool, device=frontier.token.device).expand(B, -1, -1)
        if self._seen is not None:
            above = frontier.parent[..., None].expand(-1, -1, self._seen.shape[-1])
            itself = torch.cat([self._seen.gather(1, above), itself], -1)
        self._seen = itself
        return self._model.read(frontier.token, torch.full_like(frontier.token, frontier.layer - 1), itself)
