"""Hugging Face transformers as a subject: its `generate` as installed, end to end, unmodified.

    rheocheck audit rheocheck.adapters.transformers:assisted --target rheocheck.adapters.transformers:target \\
        --set temperature=0.7 --set top_k=3 --set assistant_ensemble_weight=0.9

On tiny Llamas of random weights (`tiny_models`). The factories take the same sampling parameters:

    assisted       target.generate(assistant_model=drafter), speculative sampling (arXiv:2211.17192, algorithm 1)
    prompt_lookup  target.generate(prompt_lookup_num_tokens=2): drafts copied from the text so far
    early_exit     target.generate(assistant_early_exit=1): a two-layer target drafts with its first layer
    plain          the target with speculation off, for --baseline
    target         the law that these should follow: softmax of the target's own logits under the sampling
                   parameters, computed by `sampling_parameters`, not by transformers
    early_exit_target  the same for the two-layer target

Every context is appended to the prompt (0,), which counts for the repetition penalty. Numbers of drafts are
constant: the heuristic schedule, which adapts to what was accepted, is off. `assistant_ensemble_weight`
(DIVERSE, arXiv:2604.07622) is declared lossy by transformers: it emits w p + (1 - w) q for drafted tokens.

transformers 5.24 hands its temperature to the drafter, which applies its own again: q is of the temperature
squared. Drafts then fit less well; the law stays.
"""

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import (
    DRAFTER_SEED,
    PROMPT,
    TARGET_SEED,
    ModelLaw,
    check_integer,
    messages_hidden,
    one_thread,
    seeded,
    tiny_llama,
)
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

LAYERS = 2  # of the target of `early_exit`, whose first layer drafts
LOOKUP_CONTEXT: Context = (1, 2, 0)  # after the prompt (0,): the last token has occurred, so the first round looks up


class GenerateSubject:
    """`model.generate` with fixed settings as a subject; with `batched`, it draws many continuations at once."""

    def __init__(
        self,
        model: "LlamaForCausalLM",
        settings: dict[str, Any],
        *,
        drafter: "LlamaForCausalLM | None" = None,
        batched: bool = False,
    ) -> None:
        self._model, self._drafter, self._settings = model, drafter, settings
        self._config = lru_cache(maxsize=16)(self._new_config)
        if batched:
            self.sample = self._sample

    def __call__(self, context: Context, n_tokens: int, seed: int | None = None) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`; without a seed, from torch's global generator."""
        return self._generate(context, n_tokens, 1, seed)[0]

    def _sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens] in one batch."""
        return np.array(self._generate(context, n_tokens, samples, seed), dtype=np.int64)

    def _generate(self, context: Context, n_tokens: int, samples: int, seed: int | None) -> list[list[int]]:
        import torch

        # An early exit lowers this number for its drafts and does not put it back when a draft raises.
        self._model.config.num_hidden_layers = len(self._model.model.layers)
        ids = torch.tensor([PROMPT + tuple(context)] * samples)
        with seeded(seed), torch.inference_mode(), one_thread(), _known_messages_off():
            new = self._model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                generation_config=self._config(n_tokens),
                assistant_model=self._drafter,
            )
        return new[:, ids.shape[1] :].tolist()

    def _new_config(self, n_tokens: int) -> Any:
        from transformers import GenerationConfig

        return GenerationConfig(do_sample=True, max_new_tokens=n_tokens, **self._settings)


def assisted(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    num_assistant_tokens: int = 2,
    assistant_confidence_threshold: float = 0.0,
    assistant_ensemble_weight: float | None = None,
    target_seed: int = TARGET_SEED,
    drafter_seed: int = DRAFTER_SEED,
) -> GenerateSubject:
    """Assisted generation with `num_assistant_tokens` drafts a round (constant schedule).

    The defaults of the sampling parameters switch each off (transformers' own default is top_k=50). Raises
    MissingExtra without transformers, InputError on parameters out of range.
    """
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    settings = _settings(parameters, vocab_size)
    if assistant_ensemble_weight is not None:
        if not 0 < assistant_ensemble_weight < 1:
            raise InputError(
                f"assistant_ensemble_weight must be in (0, 1), got {assistant_ensemble_weight!r}: "
                "drop it for lossless decoding"
            )
        settings["assistant_ensemble_weight"] = assistant_ensemble_weight
    drafter = tiny_llama(vocab_size, drafter_seed)
    _draft_constantly(drafter, num_assistant_tokens, assistant_confidence_threshold)
    return GenerateSubject(tiny_llama(vocab_size, target_seed), settings, drafter=drafter)


def prompt_lookup(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    prompt_lookup_num_tokens: int = 2,
    target_seed: int = TARGET_SEED,
) -> GenerateSubject:
    """Prompt lookup: up to that many drafts, copied from after an earlier place that ended in the same tokens.

    From the empty context the first tokens are drawn plainly, for want of a text to look up in; LOOKUP_CONTEXT
    is looked up from the first round on.
    """
    check_integer("prompt_lookup_num_tokens", prompt_lookup_num_tokens, 1, instead=2)
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    settings = _settings(parameters, vocab_size) | {"prompt_lookup_num_tokens": prompt_lookup_num_tokens}
    return GenerateSubject(tiny_llama(vocab_size, target_seed), settings)


def early_exit(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    num_assistant_tokens: int = 2,
    target_seed: int = TARGET_SEED,
) -> GenerateSubject:
    """Self-drafting: the first layer of a two-layer Llama drafts for both (LayerSkip, arXiv:2404.16710)."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    model = tiny_llama(vocab_size, target_seed, layers=LAYERS)
    _draft_constantly(model, num_assistant_tokens, 0.0)
    return GenerateSubject(model, _settings(parameters, vocab_size) | {"assistant_early_exit": 1})


def plain(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    target_seed: int = TARGET_SEED,
) -> GenerateSubject:
    """The same target with speculation off; it draws whole batches."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    return GenerateSubject(tiny_llama(vocab_size, target_seed), _settings(parameters, vocab_size), batched=True)


def target(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    target_seed: int = TARGET_SEED,
) -> ModelLaw:
    """The law that `assisted`, `prompt_lookup` and `plain` should follow with these settings."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    return ModelLaw(tiny_llama(vocab_size, target_seed), parameters)


def early_exit_target(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    bad_token: int | None = None,
    target_seed: int = TARGET_SEED,
) -> ModelLaw:
    """The law that `early_exit` should follow with these settings: that of both layers."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty, bad_token)
    return ModelLaw(tiny_llama(vocab_size, target_seed, layers=LAYERS), parameters)


def demo_arms() -> tuple[GenerateSubject, GenerateSubject, ModelLaw]:
    """Assisted generation as it is, the same with the lossy ensemble weight 0.9, and the law of both."""
    return assisted(), assisted(assistant_ensemble_weight=0.9), target()


def _draft_constantly(drafter: "LlamaForCausalLM", tokens: int, threshold: float) -> None:
    """The drafter's own settings: `tokens` drafts in every round, fewer where its confidence drops below."""
    check_integer("num_assistant_tokens", tokens, 1, instead=2)
    if not 0 <= threshold <= 1:
        raise InputError(f"assistant_confidence_threshold must be in [0, 1], got {threshold!r}: 0 switches it off")
    drafter.generation_config.num_assistant_tokens = tokens
    drafter.generation_config.num_assistant_tokens_schedule = "constant"
    drafter.generation_config.assistant_confidence_threshold = float(threshold)


def _settings(parameters: SamplingParameters, vocab_size: int) -> dict[str, Any]:
    """Every sampling parameter of `generate`: one left out would get a default of transformers' own."""
    bad_token = parameters.bad_token
    if bad_token is not None:
        check_integer("bad_token", bad_token, 0, vocab_size - 1, instead=vocab_size - 1)
    return {
        "temperature": float(parameters.temperature),
        "top_k": parameters.top_k,
        "top_p": float(parameters.top_p),
        "min_p": float(parameters.min_p) or None,
        "repetition_penalty": float(parameters.repetition_penalty),
        "bad_words_ids": None if bad_token is None else [[bad_token]],
    }


def _known_messages_off() -> AbstractContextManager[None]:
    """Hide two warnings that assisted generation logs about its own inner call."""
    return messages_hidden(
        "transformers.generation.utils",
        "Passing `generation_config` together with generation-related",
        "A custom logits processor of type",
    )
