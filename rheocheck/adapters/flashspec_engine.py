"""flashspec's engine (PyPI, 0.3.1) as a subject: SpeculativeEngine.generate end to end, with its caches, unmodified.

    rheocheck audit rheocheck.adapters.flashspec_engine:engine --target rheocheck.adapters.flashspec_engine:target \\
        --set strategy=lookup --set temperature=0.5

Two tiny Llamas of random weights (`tiny_models`) are target and drafter. One arm: with several, flashspec
chooses by measured speed, and the same random choices would not give the same tokens.

    model            the drafter model drafts
    lookup           drafts are copied from the text so far
    composite-g4, composite-g6-f2   lookup (up to 4; 6 tokens) where it finds something, else the model (4; 2)

`top_p` is the field that flashspec documents as "nucleus sampling threshold". In 0.3.1 nothing reads it when
tokens are verified by rejection: any value below 1 is biased against the target with that nucleus.
"""

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import (
    DRAFTER_SEED,
    PROMPT,
    TARGET_SEED,
    ModelLaw,
    check_integer,
    messages_hidden,
    needs,
    one_thread,
    seeded,
    tiny_llama,
)
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

if TYPE_CHECKING:
    from flashspec import SpeculativeEngine

STRATEGIES = ("model", "lookup", "composite-g4", "composite-g6-f2")


class EngineSubject:
    """A SpeculativeEngine as a subject."""

    def __init__(self, decoder: "SpeculativeEngine") -> None:
        self._decoder = decoder

    def __call__(self, context: Context, n_tokens: int, seed: int | None = None) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`; without a seed, from torch's global generator."""
        import torch

        with seeded(seed), one_thread(), _known_messages_off():
            result = self._decoder.generate(torch.tensor([[*PROMPT, *context]]), max_new_tokens=n_tokens)
        return result.output_ids[0].tolist()


def engine(
    *, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, strategy: str = "model", top_p: float = 1.0
) -> EngineSubject:
    """The loop for a batch of one; `drafts` a round, except for the composites, which set their own."""
    check_integer("drafts", drafts, 1, instead=2)
    SamplingParameters(temperature, top_p=top_p)
    if strategy not in STRATEGIES:
        raise InputError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}: try model")
    with needs("flashspec"):
        import torch
        from flashspec import FlashSpecConfig, SamplingConfig, SpeculativeEngine
        from flashspec.engine import ArmSpec, HuggingFaceDrafter, NgramDrafter, TargetModel
    composite = strategy.startswith("composite")
    config = FlashSpecConfig(
        device="cpu",
        dtype="float32",
        compile=False,
        sampling=SamplingConfig(gamma=drafts, temperature=temperature, top_p=top_p),
        drafter_strategy=strategy if composite else "auto",
    )
    drafter = HuggingFaceDrafter("q", "cpu", temperature=temperature, model=tiny_llama(vocab_size, DRAFTER_SEED))
    return EngineSubject(
        SpeculativeEngine(
            config,
            [NgramDrafter()] if strategy == "lookup" else [drafter],
            TargetModel("p", torch.device("cpu"), model=tiny_llama(vocab_size, TARGET_SEED)),
            arms=None if composite else [ArmSpec(drafter=0, gamma=drafts)],
        )
    )


def target(*, vocab_size: int = 4, temperature: float = 1.0, top_p: float = 1.0) -> ModelLaw:
    """The law that `engine` should follow with these settings."""
    return ModelLaw(tiny_llama(vocab_size, TARGET_SEED), SamplingParameters(temperature, top_p=top_p))


@contextlib.contextmanager
def _known_messages_off() -> Iterator[None]:
    """Hide that flashspec names the cache of transformers by a deprecated keyword."""
    with warnings.catch_warnings(), messages_hidden("transformers.utils.generic", "`past_key_values`/`cache_params`"):
        warnings.filterwarnings("ignore", "`past_key_values` is deprecated", FutureWarning)
        yield
