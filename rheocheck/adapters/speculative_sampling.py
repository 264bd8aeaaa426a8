"""The bare function `_speculative_sampling` of transformers (5.24) as a subject: no generate, no model, no cache.

    rheocheck audit rheocheck.adapters.speculative_sampling:speculative_sampling \\
        --target rheocheck.adapters.speculative_sampling:target --set drafts=3 --set vocab_size=3

The rule by itself (arXiv:2211.17192, algorithm 1): one round draws drafts from q with torch.multinomial, hands
the function the logits of p and q at every draft, and takes the tokens that it returns. Logits come from two
tables (`tiny_models`); in float64 the law has no rounding worth mentioning.
"""

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
from rheocheck.core.errors import InputError


def speculative_sampling(
    *,
    vocab_size: int = 4,
    drafts: int = 2,
    temperature: float = 1.0,
    ensemble_weight: float | None = None,
    dtype: str = "float64",
) -> RoundsSubject:
    """Rounds of `drafts` drafts each; with `ensemble_weight` in (0, 1), the lossy rule of DIVERSE."""
    check_integer("drafts", drafts, 1, instead=2)
    SamplingParameters(temperature)
    if ensemble_weight is not None and not 0 < ensemble_weight < 1:
        raise InputError(f"ensemble_weight must be in (0, 1), got {ensemble_weight!r}: drop it for lossless decoding")
    with needs("hf"):
        import torch
        from transformers.generation.utils import _speculative_sampling
    p = TableModel(vocab_size, TARGET_SEED, dtype)
    q = TableModel(vocab_size, DRAFTER_SEED, dtype)

    def decode_round(ids: list[int]) -> list[int]:
        drafted, q_logits = list(ids), []
        for _ in range(drafts):
            q_logits.append(q.after(drafted) / temperature)
            drafted.append(int(torch.multinomial(q_logits[-1].softmax(-1), 1)))
        candidates = torch.tensor([drafted])
        p_logits = p(candidates).logits[:, len(ids) - 1 :] / temperature
        valid, _ = _speculative_sampling(
            candidates, torch.stack(q_logits)[None], drafts, p_logits, assistant_ensemble_weight=ensemble_weight
        )
        return valid[0].tolist()

    return RoundsSubject(decode_round)


def target(*, vocab_size: int = 4, temperature: float = 1.0, dtype: str = "float64") -> ModelLaw:
    """The law that `speculative_sampling` should follow with these settings."""
    return ModelLaw(TableModel(vocab_size, TARGET_SEED, dtype), SamplingParameters(temperature))
