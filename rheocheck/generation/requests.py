"""What is asked of `generate`: one request a row, each with a prompt, parameters and a seed of its own.

    T          0 is greedy, the first of the largest logits; others in 1e-30 .. 1e30, where float32 can follow
    top_k      0 is off            top_p   1 is off
    eos        tokens that end a text and are its last; None: those of the target's generation config

With all of them off, a text has the target's own law. A generation config that asks for more, such as a repetition
penalty, is refused: transformers would apply it, and the law would not be the one that is named here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rheocheck.core.errors import InputError
from rheocheck.generation.models import check_generation_config, check_model, positions
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
        for name in ("prompt", "eos") if self.eos is not None else ("prompt",):
            ids = getattr(self, name)
            if not isinstance(ids, Iterable):
                raise InputError(f"{name} must be a tuple of token ids, got {ids!r}; try ({ids!r},)")
            object.__setattr__(self, name, tuple(ids))
        if not self.prompt:
            raise InputError("prompt must have at least one token, got none; begin with the model's start token")
        T, eos = self.temperature, self.eos
        for name, holds, must in (
            ("max_new_tokens", _whole(self.max_new_tokens) and self.max_new_tokens > 0, "an integer of at least 1"),
            ("temperature", _number(T) and (T == 0 or 1e-30 <= T <= 1e30), "0 (greedy) or a number in 1e-30..1e30"),
            ("top_k", _whole(self.top_k) and self.top_k >= 0, "an integer of at least 0 (0: off)"),
            ("top_p", _number(self.top_p) and 0 < self.top_p <= 1, "in (0, 1] (1: off)"),
            ("seed", _whole(self.seed) and -(2**63) <= self.seed < 2**64, "an integer of 64 bits"),
            ("eos", eos is None or all(map(_whole, eos)), "token ids (none: never; None: those of the model)"),
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
    top_k = torch.tensor([min(request.top_k, 2**31) for request in requests], dtype=torch.long, device=device)
    return Parameters(temperature, top_k, top_p)


def check_requests(requests: Sequence[Request], target: Any, drafter: Any) -> None:
    """Raise InputError unless these models can answer these requests."""
    if not isinstance(requests, Sequence) or not all(isinstance(request, Request) for request in requests):
        raise InputError(f"requests must be a sequence of Request, got {requests!r:.60}; try [Request(prompt=(1, 2))]")
    for name, model in (("target", target), ("drafter", drafter)):
        check_model(name, model)
    V, theirs = (model.config.get_text_config().vocab_size for model in (target, drafter))
    if theirs != V:
        raise InputError(
            f"target and drafter must have one vocabulary, got {V} and {theirs} tokens; take two models of one family"
        )
    check_generation_config(target)
    limit = min(map(positions, (target, drafter)))
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


def _number(value: object) -> bool:
    return type(value) in (int, float)
