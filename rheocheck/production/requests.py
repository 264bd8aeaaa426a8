"""What is asked of `generate`: one request a row, each with a prompt, parameters and a seed of its own.

    T          0 is greedy, the first of the largest logits; others in 1e-30 .. 1e30, where float32 can follow
    top_k      0 is off            top_p   1 is off
    eos        tokens that end a text and are its last; None: those of the target's generation config

With all of them off, a text has the target's own law. A generation config that asks for more, such as a repetition
penalty, is refused: transformers would apply it, and the law would not be the one that is named here.
"""

import inspect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rheocheck.core.errors import InputError
from rheocheck.production.target import Parameters

TREE = ("attention_mask", "position_ids", "cache")  # what the forward pass of a model must take, to read a tree

# What else of a generation config shapes the law of transformers' generate, and which values do not (None never does).
# A request stands in for its temperature, top_k, top_p and do_sample.
OTHERS: dict[str, tuple[object, ...]] = {
    "repetition_penalty": (1.0,), "encoder_repetition_penalty": (1.0,), "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,), "bad_words_ids": ([],), "sequence_bias": ({},), "min_length": (0,),
    "min_new_tokens": (0,), "forced_bos_token_id": (), "forced_eos_token_id": (), "suppress_tokens": ([],),
    "begin_suppress_tokens": ([],), "exponential_decay_length_penalty": (), "guidance_scale": (1.0,), "min_p": (0.0,),
    "top_h": (1.0,), "typical_p": (1.0,), "epsilon_cutoff": (0.0, 1.0), "eta_cutoff": (0.0, 1.0),
    "watermarking_config": (), "num_beams": (1,),
}  # fmt: skip


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
    if not all(isinstance(request, Request) for request in requests):
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


def check_model(name: str, model: Any) -> None:
    """Raise InputError where a model cannot read a tree: it must be told who sees whom, and where each token stands."""
    if model.training:
        raise InputError(f"{name} must not be in training mode, where dropout is drawn; call {name}.eval()")
    lacks = [word for word in TREE if word not in inspect.signature(model.forward).parameters]
    if getattr(model.config, "alibi", False):
        lacks.append("positions apart from columns (it has ALiBi)")
    if lacks:
        raise InputError(
            f"{name} must take {', '.join(TREE)}, {type(model).__name__} lacks {', '.join(lacks)}; "
            "take a decoder-only transformer, such as Llama or Qwen"
        )


def check_generation_config(target: Any) -> None:
    """Raise InputError where transformers would shape the law by more than the parameters of a request."""
    config = getattr(target, "generation_config", None)
    for name, off in OTHERS.items():
        value = getattr(config, name, None)
        if value is not None and value not in off:
            raise InputError(
                f"{name} of the target's generation config must be off, got {value!r}, which is not applied "
                f"here; set target.generation_config.{name} = None to do without it (command line: --bare)"
            )


def positions(model: Any) -> float:
    """How many a model has; infinite where it does not say."""
    last = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return math.inf if last is None else last


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
