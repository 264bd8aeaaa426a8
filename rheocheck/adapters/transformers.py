"""Hugging Face transformers as a subject: assisted generation as installed, end to end, unmodified.

    rheocheck audit rheocheck.adapters.transformers:assisted --target rheocheck.adapters.transformers:target \\
        --set temperature=0.7 --set top_k=3 --set assistant_ensemble_weight=0.9

Two tiny Llama models with random weights (no download, no tokenizer, no stop token) are target and drafter.
Three factories take the same settings: `assisted` (target.generate(assistant_model=drafter,
do_sample=True)), `plain` (the same call with speculation off, for --baseline) and `target` (the law that
both should follow: softmax of the target's own logits under the sampling parameters, computed by
`sampling_parameters`, not by transformers).

Llama needs a token to start from, so every context is appended to the one-token prompt (0,), which counts
for the repetition penalty. Speculative sampling: arXiv:2211.17192, algorithm 1. `assistant_ensemble_weight`
(DIVERSE, arXiv:2604.07622) is declared lossy by transformers: it emits w p + (1 - w) q for drafted tokens.
"""

import contextlib
import logging
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters.sampling_parameters import SamplingParameters, next_token_law
from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.core.pair import Context

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

PROMPT: Context = (0,)
MAX_VOCAB = 8
HIDDEN = 16
SCALE = 0.3  # standard deviation of the weights: laws clearly not uniform, and different after every context
TARGET_SEED, DRAFTER_SEED = 26, 29  # ensemble weight 0.9 then has TV 0.135 over 3 tokens of 4, the drafter TV 0.76


class ModelLaw:
    """The next-token law of a causal model under sampling parameters: one plain forward pass per context."""

    def __init__(self, model: "LlamaForCausalLM", parameters: SamplingParameters) -> None:
        self._model, self._parameters = model, parameters
        self.vocab_size: int = model.config.vocab_size
        self._law = lru_cache(maxsize=2**16)(self._compute)

    def __call__(self, context: Context) -> NDArray[np.float64]:
        """Probabilities [V], float64, after the prompt and `context`."""
        return self._law(tuple(context))[0]

    def boundary(self, context: Context) -> frozenset[int]:
        """The tokens within 1e-6 of a filter's cut-off after `context`: rounding may keep or drop them."""
        return self._law(tuple(context))[1]

    def _compute(self, context: Context) -> tuple[NDArray[np.float64], frozenset[int]]:
        import torch

        ids = PROMPT + context
        with torch.inference_mode(), _one_thread():
            logits = self._model(torch.tensor([ids]), use_cache=False).logits[0, -1]
        return next_token_law(logits.tolist(), ids, self._parameters)


class GenerateSubject:
    """`model.generate` as a subject; with a drafter, assisted generation."""

    def __init__(self, model: "LlamaForCausalLM", drafter: "LlamaForCausalLM | None", settings: dict[str, Any]) -> None:
        self._model, self._drafter, self._settings = model, drafter, settings
        self._config = lru_cache(maxsize=16)(self._new_config)
        if drafter is None:
            self.sample = self._sample  # transformers cannot run assisted generation in a batch

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`; torch's generator is seeded, then put back."""
        return self._generate(context, n_tokens, 1, seed)[0]

    def _sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens] in one batch."""
        return np.array(self._generate(context, n_tokens, samples, seed), dtype=np.int64)

    def _generate(self, context: Context, n_tokens: int, samples: int, seed: int) -> list[list[int]]:
        import torch

        ids = torch.tensor([PROMPT + tuple(context)] * samples)
        with torch.random.fork_rng(devices=[]), torch.inference_mode(), _one_thread(), _known_messages_off():
            torch.default_generator.manual_seed(seed)
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
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty)
    if type(num_assistant_tokens) is not int or num_assistant_tokens < 1:
        raise InputError(f"num_assistant_tokens must be an integer >= 1, got {num_assistant_tokens!r}: try 2")
    if not 0 <= assistant_confidence_threshold <= 1:
        raise InputError(
            f"assistant_confidence_threshold must be in [0, 1], got {assistant_confidence_threshold!r}: "
            "0 switches it off"
        )
    settings = _settings(parameters)
    if assistant_ensemble_weight is not None:
        if not 0 < assistant_ensemble_weight < 1:
            raise InputError(
                f"assistant_ensemble_weight must be in (0, 1), got {assistant_ensemble_weight!r}: "
                "drop it for lossless decoding"
            )
        settings["assistant_ensemble_weight"] = assistant_ensemble_weight
    drafter = tiny_llama(vocab_size, drafter_seed)
    drafter.generation_config.num_assistant_tokens = num_assistant_tokens
    drafter.generation_config.num_assistant_tokens_schedule = "constant"
    drafter.generation_config.assistant_confidence_threshold = float(assistant_confidence_threshold)
    return GenerateSubject(tiny_llama(vocab_size, target_seed), drafter, settings)


def plain(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    target_seed: int = TARGET_SEED,
) -> GenerateSubject:
    """The same target with speculation off; it draws whole batches."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty)
    return GenerateSubject(tiny_llama(vocab_size, target_seed), None, _settings(parameters))


def target(
    *,
    vocab_size: int = 4,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
    repetition_penalty: float = 1.0,
    target_seed: int = TARGET_SEED,
) -> ModelLaw:
    """The law that `assisted` and `plain` should follow with these settings."""
    parameters = SamplingParameters(temperature, top_k, top_p, min_p, repetition_penalty)
    return ModelLaw(tiny_llama(vocab_size, target_seed), parameters)


def demo_arms() -> tuple[GenerateSubject, GenerateSubject, ModelLaw]:
    """Assisted generation as it is, the same with the lossy ensemble weight 0.9, and the law of both."""
    return assisted(), assisted(assistant_ensemble_weight=0.9), target()


def tiny_llama(vocab_size: int, seed: int) -> "LlamaForCausalLM":
    """A one-layer float32 Llama, weights from a generator of its own: the same for the same arguments."""
    if type(vocab_size) is not int or not 2 <= vocab_size <= MAX_VOCAB:
        raise InputError(f"vocab_size must be an integer in 2..{MAX_VOCAB}, got {vocab_size!r}: try 4")
    try:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError as error:
        raise MissingExtra(
            f"this audit must have torch and transformers, {error.name} is missing: pip install 'rheocheck[hf]'"
        ) from error
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=HIDDEN,
        intermediate_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=256,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
        attn_implementation="eager",
    )
    with torch.random.fork_rng(devices=[]):  # building draws weights from the global generator, then thrown away
        model = LlamaForCausalLM(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:  # the norms keep their ones
                weight.normal_(0.0, SCALE, generator=generator)
    return model


def _settings(parameters: SamplingParameters) -> dict[str, Any]:
    """Every sampling parameter of `generate`: one left out would get a default of transformers' own."""
    return {
        "temperature": float(parameters.temperature),
        "top_k": parameters.top_k,
        "top_p": float(parameters.top_p),
        "min_p": float(parameters.min_p) or None,
        "repetition_penalty": float(parameters.repetition_penalty),
    }


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Tiny tensors on one thread: on a busy machine, waking others costs ten times the whole call."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _known_messages_off() -> Iterator[None]:
    """Hide two warnings that assisted generation logs about its own inner call; anything else still shows."""
    logger = logging.getLogger("transformers.generation.utils")
    logger.addFilter(_not_about_the_inner_call)
    try:
        yield
    finally:
        logger.removeFilter(_not_about_the_inner_call)


def _not_about_the_inner_call(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(
        ("Passing `generation_config` together with generation-related", "A custom logits processor of type")
    )
