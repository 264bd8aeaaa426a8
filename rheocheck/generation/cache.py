"""A causal model and its key-value cache over a batch of texts of different lengths and over trees.

    columns   0 .. length - 1    the text of a row that was read, at positions 0 .. length - 1
              length .. held - 1 dead: masked in this row, used by longer ones
              held ..            read since the last `keep`: a block, or nodes of a tree, which only `among` masks

`keep` moves what counts of the last columns to where the text of its row ends and forgets the others; nothing else of
the cache is touched. A row sees its own columns and its own positions only, so that rows are independent.

What a model must do: take a 4-D attention mask that is added to the scores, position ids, and a `DynamicCache` whose
layers hold all columns (no sliding window).
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.generation.models import positions, takes

LONG = 16  # tokens of a pass, from which on logits are asked for where they are needed only


class CachedModel:
    """What a model has read of `rows` texts; `length` tokens of each.

    `broken` rows have had logits that no law follows from: NaN, +inf, or -inf for every token.
    """

    def __init__(self, model: Any, rows: int) -> None:
        self.model = model
        self.length = torch.zeros(rows, dtype=torch.long, device=model.device)
        self._held = 0
        self._cache: Any = None
        self.broken = torch.zeros(rows, dtype=torch.bool, device=model.device)
        self._last = positions(model)
        self._chooses = takes(model, "logits_to_keep")

    def read(
        self,
        tokens: Int[Tensor, "B n"],
        place: Int[Tensor, "B n"],
        among: Bool[Tensor, "B n u"],
        after: Int[Tensor, "a"] | None = None,
    ) -> Float[Tensor, "B a V"]:
        """Logits after each token, or after these, `place` tokens behind the text's end.

        among  which of the unkept columns a token sees
        """
        position = self.length[:, None] + place
        if self._last < math.inf:  # drafts beyond the last position are cut off with the block, whatever they hold
            position = position.clamp_max(int(self._last) - 1)
        columns = torch.arange(self._held, device=tokens.device)
        text = (columns < self.length[:, None])[:, None].expand(-1, tokens.shape[1], -1)
        seen = torch.cat([text, among], -1)[:, None]
        dtype = self.model.dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill_(~seen, torch.finfo(dtype).min)
        fewer = {} if after is None else {"logits_to_keep": after}
        out = self.model(
            input_ids=tokens, attention_mask=mask, position_ids=position, cache=self._cache, use_cache=True, **fewer
        )
        self._cache = getattr(out, "cache", None)
        self._layers()
        self.broken |= ~out.logits.amax(-1).isfinite().all(-1)
        return out.logits

    def keep(self, nodes: Int[Tensor, "B w"], count: Int[Tensor, "B"]) -> None:
        """Append the first `count` of these unkept columns to the text of each row, and forget the other columns."""
        if self._cache is None:
            return
        place = torch.arange(nodes.shape[1], device=nodes.device)
        source, goal = self._held + nodes, self.length[:, None] + place
        self.length = self.length + count
        self._held = int(self.length.max())
        for layer in self._layers():
            for name in ("keys", "values"):
                whole = getattr(layer, name)
                heads, width = whole.shape[1], whole.shape[3]
                moved = whole.gather(2, source[:, None, :, None].expand(-1, heads, -1, width))
                whole.scatter_(2, goal[:, None, :, None].expand(-1, heads, -1, width), moved)
                setattr(layer, name, whole[:, :, : self._held])

    def drop(self) -> None:
        """Forget all unkept columns."""
        self.keep(self.length.new_zeros(len(self.length), 0), torch.zeros_like(self.length))

    def follow(self, tokens: Int[Tensor, "B n"], count: Int[Tensor, "B"]) -> Float[Tensor, "B V"]:
        """Read and keep the first `count` tokens of each row; the logits after the last of them."""
        B, n = tokens.shape
        place = torch.arange(n, device=tokens.device).expand(B, -1)
        last = (count - 1).clamp_min(0)
        after, at = None, last
        if n > LONG and self._chooses:  # logits after all tokens of a long prompt would be most of the memory
            after, at = last.unique(return_inverse=True)
        logits = self.read(tokens, place, tokens.new_ones((B, n, n), dtype=torch.bool).tril(), after)
        self.keep(place, count)
        return logits[torch.arange(B, device=at.device), at]

    def select(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        chosen = torch.tensor(rows, dtype=torch.long, device=self.length.device)
        self.length, self.broken = self.length[chosen], self.broken[chosen]
        for layer in self._layers() if self._cache is not None else ():
            layer.keys, layer.values = layer.keys[chosen], layer.values[chosen]

    def _layers(self) -> Any:
        layers = getattr(self._cache, "layers", None)
        if layers is None or not all(type(layer).__name__ == "DynamicLayer" for layer in layers):
            raise InputError(
                f"the cache of a model must hold all keys and values, got that of {type(self.model).__name__}; "
                "take a model without sliding windows or recurrent layers"
            )
        return layers
