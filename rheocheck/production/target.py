"""The target's probabilities, where they are asked for: at a few tokens of many nodes, or at all tokens of one.

    p(x) = exp((l(x) - max l) / T) / sum exp((l - max l) / T);  T = 0: one-hot on the first largest logit

The maximum is subtracted before scaling, so a small T costs no digits. A float32 copy of [B, N+1, V] is never made:
nodes are taken in parts, of a size that stays in a CPU's cache, or that fills a GPU.
"""

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rheocheck.production.filters import filtered
from rheocheck.production.tops import working

PART = {"cpu": 2**19, "cuda": 2**27}  # elements of a temporary: 2 MiB, 512 MiB of float32


@dataclass(frozen=True)
class Logits:
    """A law for each of n nodes a row, as logits and the temperature of the row (None: 1)."""

    rows: Float[Tensor, "B n V"]
    temperature: Float[Tensor, "B"] | None = None

    def select(self, node: Int[Tensor, "B"]) -> "Logits":
        """One node a row."""
        return Logits(_select(self.rows, node), self.temperature)

    def at(self, tokens: Int[Tensor, "B n J"]) -> Float[Tensor, "B n J"]:
        """Probabilities at `tokens`."""
        B, n, V = self.rows.shape
        nodes = max(1, PART.get(self.rows.device.type, PART["cuda"]) // (B * V))
        if nodes >= n:
            return self._at(self.rows, tokens)
        pieces = zip(self.rows.split(nodes, 1), tokens.split(nodes, 1), strict=True)
        return torch.cat([self._at(*piece) for piece in pieces], 1)

    def dense(self) -> Float[Tensor, "B V"]:
        """All probabilities of the only node."""
        e, largest = self._exp(self.rows)
        p = (e / e.sum(-1, keepdim=True))[:, 0]
        if self.temperature is None:
            return p
        V = torch.arange(p.shape[-1], device=p.device)
        return torch.where(self.temperature[:, None] > 0, p, (V == largest[:, 0]).to(p.dtype))

    def _at(self, rows: Tensor, tokens: Tensor) -> Tensor:
        e, largest = self._exp(rows)
        p = e.gather(-1, tokens) / e.sum(-1, keepdim=True)
        if self.temperature is None:
            return p
        return torch.where(self.temperature[:, None, None] > 0, p, (tokens == largest).to(p.dtype))

    def _exp(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """exp((l - max l) / T) in float32 or better, and where the first maximum is."""
        dtype = working(rows.dtype)
        if self.temperature is None:
            return (rows.to(dtype) - rows.amax(-1, keepdim=True)).exp_(), rows[..., :0]
        largest, place = rows.max(-1, keepdim=True)
        scale = torch.where(self.temperature > 0, self.temperature, 1.0).reciprocal().to(dtype)[:, None, None]
        return (rows.to(dtype) - largest).mul_(scale).exp_(), place


@dataclass(frozen=True)
class Laws:
    """The same, given as probabilities; for tests, where a softmax would round."""

    rows: Float[Tensor, "B n V"]

    def select(self, node: Int[Tensor, "B"]) -> "Laws":
        """One node a row."""
        return Laws(_select(self.rows, node))

    def at(self, tokens: Int[Tensor, "B n J"]) -> Float[Tensor, "B n J"]:
        """Probabilities at `tokens`."""
        return self.rows.gather(-1, tokens)

    def dense(self) -> Float[Tensor, "B V"]:
        """All probabilities of the only node."""
        return self.rows[:, 0].clone()


@dataclass(frozen=True)
class Parameters:
    """Sampling parameters, one a row: T (0 is greedy), top_k (0 is off), top_p (1 is off)."""

    temperature: Float[Tensor, "B"]
    top_k: Int[Tensor, "B"]
    top_p: Float[Tensor, "B"]


@dataclass(frozen=True)
class Filtered:
    """Logits as the model gives them, filtered by the parameters where they are asked for."""

    rows: Float[Tensor, "B n V"]
    parameters: Parameters

    def select(self, node: Int[Tensor, "B"]) -> Logits:
        """One node a row."""
        return self._logits(_select(self.rows, node))

    def at(self, tokens: Int[Tensor, "B n J"]) -> Float[Tensor, "B n J"]:
        """Probabilities at `tokens`."""
        return self._logits(self.rows).at(tokens)

    def _logits(self, rows: Tensor) -> Logits:
        asked = self.parameters
        scores = filtered(rows, asked.temperature, asked.top_k, asked.top_p)
        return Logits(scores, (asked.temperature > 0).to(scores.dtype))  # what is not greedy is scaled already


Target = Logits | Laws | Filtered


def _select(rows: Float[Tensor, "B n V"], node: Int[Tensor, "B"]) -> Float[Tensor, "B 1 V"]:
    B, n, _ = rows.shape
    return rows.flatten(0, 1).index_select(0, counted(B, n, rows.device) + node)[:, None]


@cache
def counted(count: int, step: int, device: torch.device) -> Int[Tensor, "count"]:
    """0, step, 2 step, ...: made once, not in every cycle."""
    return torch.arange(0, count * step, step, device=device)
