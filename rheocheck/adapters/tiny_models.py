"""The small models that adapters decode with: Llamas of random weights, and tables of logits.

A decoder runs the same code on them as on a large model, and their laws have few enough words to be counted
or enumerated. No download, no tokenizer, no stop token; the weights come from a seed alone.

    p  the target: seed TARGET_SEED        q  the drafter: seed DRAFTER_SEED

Models need a token to start from, so every context is appended to the one-token prompt (0,).
"""

import contextlib
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters.sampling_parameters import SamplingParameters, next_token_law
from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.core.pair import Context

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import LlamaForCausalLM

PROMPT: Context = (0,)
MAX_VOCAB = 8
HIDDEN = 16
SCALE = 0.3  # standard deviation of the weights: laws clearly not uniform, and different after every context
TARGET_SEED, DRAFTER_SEED = 26, 29  # ensemble weight 0.9 then has TV 0.135 over 3 tokens of 4, the drafter TV 0.76
DTYPES = ("float32", "float64")


class Model(Protocol):
    """What the adapters use of a causal model: `model(input_ids [1, n]).logits` [1, n, V]."""

    vocab_size: int

    def __call__(self, input_ids: "Tensor") -> Any: ...


class TableModel:
    """A causal model that looks its logits up by the last two tokens; before the first stands token 0.

    Standard normal logits from `seed`. Two tokens deep, so that a decoder that mixes up positions or keeps a
    stale context shows; in float64 its law is exact to 1e-15.
    """

    def __init__(self, vocab_size: int, seed: int, dtype: str = "float64") -> None:
        check_integer("vocab_size", vocab_size, 2, MAX_VOCAB, instead=4)
        if dtype not in DTYPES:
            raise InputError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}: try float64")
        with needs("torch"):
            import torch
        generator = torch.Generator().manual_seed(seed)
        self.vocab_size = vocab_size
        self._logits = torch.randn((vocab_size,) * 3, generator=generator, dtype=torch.float64).to(
            getattr(torch, dtype)
        )

    def __call__(self, input_ids: "Tensor") -> SimpleNamespace:
        """`.logits` [batch, n, V] after every token of `input_ids` [batch, n]."""
        before = input_ids.roll(1, dims=-1)
        before[..., 0] = 0
        return SimpleNamespace(logits=self._logits[before, input_ids])

    def after(self, ids: Sequence[int]) -> "Tensor":
        """The logits [V] of the token that follows `ids`."""
        return self._logits[ids[-2] if len(ids) > 1 else 0, ids[-1]]


class ModelLaw:
    """The next-token law of a causal model under sampling parameters: one plain forward pass per context."""

    def __init__(self, model: Model, parameters: SamplingParameters) -> None:
        self._model, self._parameters = model, parameters
        self.vocab_size: int = model.vocab_size
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
        with torch.inference_mode(), one_thread():
            logits = self._model(torch.tensor([ids])).logits[0, -1]
        return next_token_law(logits.tolist(), ids, self._parameters)


class RoundsSubject:
    """A decoder given by one round of it: `decode_round(ids) -> the new ids`, repeated until enough are there."""

    def __init__(self, decode_round: Callable[[list[int]], list[int]]) -> None:
        self._decode_round = decode_round

    def __call__(self, context: Context, n_tokens: int, seed: int | None = None) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`; without a seed, from the global generators."""
        ids = [*PROMPT, *context]
        start = len(ids)
        with seeded(seed), one_thread():
            while len(ids) < start + n_tokens:
                ids += self._decode_round(ids)
        return ids[start : start + n_tokens]


def tiny_llama(vocab_size: int, seed: int, *, layers: int = 1) -> "LlamaForCausalLM":
    """A float32 Llama, weights from a generator of its own: the same for the same arguments.

    float64 weights would not help: transformers casts logits to float32 before it samples.
    """
    check_integer("vocab_size", vocab_size, 2, MAX_VOCAB, instead=4)
    with needs("hf"):
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=HIDDEN,
        intermediate_size=HIDDEN,
        num_hidden_layers=layers,
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


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around late imports: what is not installed raises MissingExtra naming the extra of ours that installs it."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or extra).partition(".")[0]
        raise MissingExtra(
            f"this command must have the extra {extra!r}, {missing} is missing: pip install 'rheocheck[{extra}]'"
        ) from error


def check_integer(name: str, value: object, low: int, high: int | None = None, *, instead: int) -> None:
    """Raise InputError unless `value` is an integer in low..high."""
    if type(value) is not int or value < low or (high is not None and value > high):
        must = f">= {low}" if high is None else f"in {low}..{high}"
        raise InputError(f"{name} must be an integer {must}, got {value!r}: try {instead}")


@contextlib.contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Seed `random` and torch's global generator, and put both back afterwards; with None, leave them alone."""
    import torch

    if seed is None:
        yield
        return
    state = random.getstate()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        try:
            yield
        finally:
            random.setstate(state)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Tiny tensors on one thread: on a busy machine, waking others costs ten times the whole call."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def messages_hidden(logger_name: str, *beginnings: str) -> Iterator[None]:
    """Hide what this logger says with one of these beginnings; anything else still shows."""
    logger = logging.getLogger(logger_name)

    def shows(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(beginnings)

    logger.addFilter(shows)
    try:
        yield
    finally:
        logger.removeFilter(shows)
