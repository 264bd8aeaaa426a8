"""`rheocheck.generation.generate` as a subject, on tiny Llamas of random weights in float64.

    rheocheck audit rheocheck.adapters.generate:subject --target rheocheck.adapters.generate:target \\
        --set temperature=0.7 --set top_k=2 --set builder=rheo --set verifier=recursive

`company=true` puts the requests into a batch with two others, of other lengths and parameters. These are greedy: an
exact audit then has no choices of theirs to follow, unless a probe is drawn (which it refuses for a greedy row).
"""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters.batches import draws
from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import DRAFTER_SEED, PROMPT, TARGET_SEED, ModelLaw, one_thread, tiny_llama
from rheocheck.core.pair import Context
from rheocheck.core.shape import Shape

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM

    from rheocheck.generation import Request

BATCH = 1024  # requests decoded at once


class ProductionGenerate:
    """Requests that continue the one-token prompt, answered by `generate`."""

    def __init__(
        self,
        models: "tuple[LlamaForCausalLM, LlamaForCausalLM]",
        parameters: dict[str, float],
        shape: Shape,
        builder: str,
        verifier: str,
        company: bool = False,
    ) -> None:
        self._models, self._parameters, self._company = models, parameters, company
        self._how = {"shape": shape, "builder": builder, "verifier": verifier}

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new ids after the prompt and `context`."""
        return self._answers(context, n_tokens, [seed])[0]

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens], in batches."""
        return draws(lambda seeds: self._answers(context, n_tokens, seeds), samples, seed, BATCH)

    def _answers(self, context: Context, n_tokens: int, seeds: list[int]) -> list[list[int]]:
        from rheocheck.generation import Request, generate

        mine = [
            Request(prompt=PROMPT + tuple(context), max_new_tokens=n_tokens, seed=seed, **self._parameters)
            for seed in seeds
        ]
        before, after = self._others(n_tokens, seeds[0]) if self._company else ((), ())
        with one_thread():
            found = generate(*self._models, [*before, *mine, *after], **self._how)
        return [list(ids) for ids in found.tokens[len(before) : len(before) + len(seeds)]]

    def _others(self, n_tokens: int, seed: int) -> "tuple[tuple[Request, ...], tuple[Request, ...]]":
        from rheocheck.generation import Request

        shorter = Request(prompt=(1,), max_new_tokens=n_tokens + 2, temperature=0.0, seed=seed + 1)
        longer = Request(prompt=(1, 0, 1, 1, 0), max_new_tokens=max(1, n_tokens - 1), temperature=0.0, seed=seed + 2)
        return (shorter,), (longer,)


def subject(
    *,
    vocab_size: int = 3,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    builder: str = "rheo",
    verifier: str = "rheo",
    leads: int = 1,
    branching: int = 2,
    depth: int = 2,
    nodes: int = 3,
    company: bool = False,
    target_seed: int = TARGET_SEED,
    drafter_seed: int = DRAFTER_SEED,
) -> ProductionGenerate:
    """A factory for the command line."""
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes)
    parameters = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    models = model(vocab_size, target_seed), model(vocab_size, drafter_seed)
    return ProductionGenerate(models, parameters, shape, builder, verifier, company)


def target(
    *,
    vocab_size: int = 3,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    target_seed: int = TARGET_SEED,
) -> ModelLaw:
    """The law that `subject` should follow with these settings."""
    return ModelLaw(model(vocab_size, target_seed), SamplingParameters(temperature, top_k, top_p))


@lru_cache(maxsize=8)
def model(vocab_size: int, seed: int) -> "LlamaForCausalLM":
    """The Llama of this seed in float64, made once."""
    return tiny_llama(vocab_size, seed).double()
