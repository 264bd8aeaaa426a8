"""What is asked of `generate`: one request a row, each with a prompt, parameters and a seed of its own.

    T          0 is greedy, the first of the largest logits
    top_k      0 is off            top_p   1 is off
    eos        tokens that end a text and are its last; None: those of the target's generation config

With all of them off, a text has the target's own law.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rheocheck.core.errors import InputError
from rheocheck.production.target import Parameters


@dataclass(frozen=True, kw_only=True)
class Request:
    """A prompt (token ids), how much is to follow it, the sampling parameters and the seed of its noise."""

    prompt: tuple[int, ...]
    max_new_tokens: int = 64
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    eos: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt", tuple(self.prompt))
        if not self.prompt:
            raise InputError("prompt must have at least one token, got none; begin with the model's start token")
        for name, holds, must in (
            ("max_new_tokens", _whole(self.max_new_tokens) and self.max_new_tokens > 0, "an integer of at least 1"),
            ("temperature", 0 <= self.temperature < math.inf, "a number of at least 0 (0: greedy)"),
            ("top_k", _whole(self.top_k) and self.top_k >= 0, "an integer of at least 0 (0: off)"),
            ("top_p", 0 < self.top_p <= 1, "in (0, 1] (1: off)"),
            ("seed", _whole(self.seed), "an integer"),
        ):
            if not holds:
                raise InputError(f"{name} must be {must}, got {getattr(self, name)!r}; change or drop it")

    def cut(self, block: Sequence[int], before: int, eos: frozenset[int]) -> tuple[tuple[int, ...], bool]:
        """What of a block counts after `before` new tokens, and whether the text ends with it."""
        kept = tuple(block[: self.max_new_tokens - before])
        for place, token in enumerate(kept):
            if token in eos:
                return kept[: place + 1], True
        return kept, before + len(kept) == self.max_new_tokens


def parameters(requests: Sequence[Request], device: torch.device) -> Parameters:
    """The sampling parameters of a batch, one a row."""
    temperature, top_p = (
        torch.tensor([getattr(request, name) for request in requests], dtype=torch.float64, device=device)
        for name in ("temperature", "top_p")
    )
    top_k = torch.tensor([request.top_k for request in requests], dtype=torch.long, device=device)
    return Parameters(temperature, top_k, top_p)


def check_requests(requests: Sequence[Request], target: Any, drafter: Any) -> None:
    """Raise InputError unless these models can answer these requests."""
    V = target.config.vocab_size
    if drafter.config.vocab_size != V:
        raise InputError(
            f"target and drafter must have one vocabulary, got {V} and {drafter.config.vocab_size} tokens; "
            "take two models of one family"
        )
    for name, model in (("target", target), ("drafter", drafter)):
        if model.training:
            raise InputError(f"{name} must not be in training mode, where dropout is drawn; call {name}.eval()")
    limit = min(getattr(model.config, "max_position_embeddings", math.inf) for model in (target, drafter))
    for number, request in enumerate(requests):
        outside = [token for token in request.prompt if not (_whole(token) and 0 <= token < V)]
        if outside:
            raise InputError(f"prompt of request {number} must be ids in 0..{V - 1}, got {outside[0]!r}; use token ids")
        asked = len(request.prompt) + request.max_new_tokens
        if asked > limit:
            raise InputError(
                f"prompt and new tokens of request {number} must fit {limit} positions, got {len(request.prompt)} + "
                f"{request.max_new_tokens} = {asked}; shorten the prompt or lower max_new_tokens"
            )


def eos_of(request: Request, target: Any) -> frozenset[int]:
    """The tokens that end this request."""
    if request.eos is not None:
        return frozenset(request.eos)
    own = getattr(getattr(target, "generation_config", None), "eos_token_id", None)
    return frozenset(() if own is None else [own] if isinstance(own, int) else own)


def _whole(value: object) -> bool:
    return type(value) is int
