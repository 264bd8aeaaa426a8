"""sequential-speculative-decoding (PyPI, 0.1.1; import name seqspecdecod) as a subject: its three steps, unmodified.

    rheocheck audit rheocheck.adapters.sequential_speculative_decoding:capped \\
        --target rheocheck.adapters.sequential_speculative_decoding:target --set drafts=3 --set vocab_size=3

    standard  standard_speculative_step: token by token (arXiv:2211.17192, algorithm 1)
    naive     naive_hsd_step: hierarchical, accepts a whole prefix and resamples what is left of the branch
    capped    capped_hsd_step: the same with capped ratios and one resampled token; meant to be lossless too
    target    the law that all three should follow

A step takes two models and the text so far and returns the longer text; a subject repeats it. The models are
logits tables (`tiny_models`), which a step calls as it would call transformers' models.
"""

from collections.abc import Callable
from typing import Any

from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import (
    DRAFTER_SEED,
    TARGET_SEED,
    ModelLaw,
    RoundsSubject,
    TableModel,
    check_integer,
    needs,
)


def standard(
    *, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, dtype: str = "float64"
) -> RoundsSubject:
    """Speculative sampling with `drafts` drafts a round."""
    with needs("seqspecdecod"):
        from seqspecdecod.standard_sd import standard_speculative_step
    return _subject(standard_speculative_step, vocab_size, drafts, temperature, dtype)


def naive(*, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, dtype: str = "float64") -> RoundsSubject:
    """Hierarchical speculative decoding without caps: the target is run again for every resampled token."""
    with needs("seqspecdecod"):
        from seqspecdecod.naive_hsd import naive_hsd_step
    return _subject(naive_hsd_step, vocab_size, drafts, temperature, dtype)


def capped(*, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, dtype: str = "float64") -> RoundsSubject:
    """Hierarchical speculative decoding with capped prefix ratios. In 0.1.1 it is biased."""
    with needs("seqspecdecod"):
        from seqspecdecod.capped_hsd import capped_hsd_step
    return _subject(capped_hsd_step, vocab_size, drafts, temperature, dtype)


def target(*, vocab_size: int = 4, temperature: float = 1.0, dtype: str = "float64") -> ModelLaw:
    """The target's law at this temperature."""
    return ModelLaw(TableModel(vocab_size, TARGET_SEED, dtype), SamplingParameters(temperature))


def _subject(step: Callable[..., Any], vocab_size: int, drafts: int, temperature: float, dtype: str) -> RoundsSubject:
    import torch

    check_integer("drafts", drafts, 1, instead=2)
    SamplingParameters(temperature)
    p = TableModel(vocab_size, TARGET_SEED, dtype)
    q = TableModel(vocab_size, DRAFTER_SEED, dtype)

    def decode_round(ids: list[int]) -> list[int]:
        text, _, _ = step(
            q, p, torch.tensor([ids]), gamma=drafts, draft_temperature=temperature, target_temperature=temperature
        )
        return text[0, len(ids) :].tolist()

    return RoundsSubject(decode_round)
