"""`rheocheck.generation.generate` on SmolLM2-135M and its drafter, against the target's own plain sampling.

    rheocheck audit rheocheck.adapters.smollm2_subject:subject --baseline rheocheck.adapters.smollm2_subject:baseline \\
        --set top_k=3 --tokens 3 --samples 4000 --tv 0.11

    subject   the pair of `rheocheck.adapters.smollm2`; all draws go on from one prompt, in batches
    baseline  transformers' own target.generate(do_sample=True) with the same temperature, top_k and top_p

A text that ends early is filled up with its end token in both, as transformers does. The ids of --context follow those
of the prompt. `builder=naive` is a fault that such an audit finds: it ranks its probe by what it drew.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters import smollm2
from rheocheck.adapters.batches import draws
from rheocheck.adapters.tiny_models import check_integer, seeded
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.core.shape import Shape

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROMPT = "Today is"
BATCH = 100  # texts decoded at once: N + 1 rows of 49,152 logits each


class Speculative:
    """`generate` from one prompt; every draw is a request with a seed of its own."""

    def __init__(
        self,
        models: "tuple[PreTrainedModel, Any]",
        prompt: Sequence[int],
        parameters: dict[str, float],
        *,
        shape: Shape,
        builder: str,
        verifier: str,
    ) -> None:
        self._models, self._prompt, self._parameters = models, tuple(prompt), parameters
        self._how = {"shape": shape, "builder": builder, "verifier": verifier}
        self._end = _end(models[0])

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`."""
        return self._answers(context, n_tokens, [seed])[0]

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens]."""
        return draws(lambda seeds: self._answers(context, n_tokens, seeds), samples, seed, BATCH)

    def _answers(self, context: Context, n_tokens: int, seeds: list[int]) -> list[list[int]]:
        from rheocheck.generation import Request, generate

        prompt = self._prompt + tuple(context)
        asked = [Request(prompt=prompt, max_new_tokens=n_tokens, seed=seed, **self._parameters) for seed in seeds]
        found = generate(*self._models, asked, **self._how)
        return [[*ids, *[self._end] * (n_tokens - len(ids))] for ids in found.tokens]


class Plain:
    """`target.generate(do_sample=True)` from the same prompt."""

    def __init__(self, model: "PreTrainedModel", prompt: Sequence[int], parameters: dict[str, float]) -> None:
        self._model, self._prompt, self._parameters = model, tuple(prompt), parameters
        self._end = _end(model)

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`."""
        return self.sample(context, n_tokens, 1, seed)[0].tolist()

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens], in one batch."""
        import torch

        prompt = self._prompt + tuple(context)
        ids = torch.tensor([prompt] * samples, device=self._model.device)
        with seeded(seed), torch.inference_mode():
            rows = self._model.generate(
                ids, attention_mask=torch.ones_like(ids), do_sample=True, max_new_tokens=n_tokens,
                pad_token_id=self._end, **self._parameters,
            )  # fmt: skip
        new = rows[:, len(prompt) :]  # shorter when all have ended
        return torch.nn.functional.pad(new, (0, n_tokens - new.shape[1]), value=self._end).numpy(force=True)


def subject(
    *,
    prompt: str = PROMPT,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    builder: str = "rheo",
    verifier: str = "rheo",
    leads: int = 1,
    branching: int = 3,
    depth: int = 2,
    nodes: int = 3,
) -> Speculative:
    """A factory for the command line."""
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes)
    models = smollm2.target(), smollm2.drafter()
    parameters = _parameters(temperature, top_k, top_p)
    return Speculative(models, _ids(prompt), parameters, shape=shape, builder=builder, verifier=verifier)


def baseline(*, prompt: str = PROMPT, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Plain:
    """The same engine with speculation off: a factory for --baseline."""
    return Plain(smollm2.target(), _ids(prompt), _parameters(temperature, top_k, top_p))


def _ids(prompt: str) -> list[int]:
    ids = smollm2.tokenizer()(prompt).input_ids
    if not ids:
        raise InputError("prompt must have at least one token, got none; begin with a word")
    return ids


def _parameters(temperature: float, top_k: int, top_p: float) -> dict[str, float]:
    if not temperature > 0:
        raise InputError(f"temperature must be positive, got {temperature}; greedy decoding has no law to audit")
    return {"temperature": float(temperature), "top_k": top_k, "top_p": float(top_p)}


def _end(model: "PreTrainedModel") -> int:
    """The one token that ends a text."""
    end = model.generation_config.eos_token_id
    check_integer("the model's eos_token_id", end, 0, model.config.vocab_size - 1, instead=0)
    return end
