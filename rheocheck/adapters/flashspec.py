"""flashspec (PyPI, 0.3.1) as a subject: its sampling functions, one by one, unmodified.

    rheocheck audit rheocheck.adapters.flashspec:typical --target rheocheck.adapters.flashspec:target \\
        --set drafts=3 --set vocab_size=3

    rejection_step    flashspec.sampling.rejection.rejection_step: what the engine runs (arXiv:2211.17192, alg. 1)
    onehot_step       rejection_step_onehot: the same for drafts that are not drawn, so that q is one-hot
    rejection_sample  rejection_sample: the batched form; the bonus token is drawn here, as the engine draws it
    typical           typical_sample: declared lossy, accepts what is typical of p (arXiv:2401.10774)
    target            the law that these should follow

The functions get the logits of two tables (`tiny_models`). They cast to float32: laws agree to 1e-6.
The engine around them is audited by `flashspec_engine`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from torch import Tensor

LogLaw = Callable[[list[int]], "Tensor"]  # ids -> log-probabilities [V] of the token after them
Verified = tuple["Tensor", "Tensor", float]


def rejection_step(
    *, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, bonus: bool = True
) -> RoundsSubject:
    """Rounds of `drafts` drawn drafts; without `bonus`, a fully accepted round ends with its last draft."""
    with needs("flashspec"):
        from flashspec.sampling import rejection
    p, q = _log_laws(vocab_size, drafts, temperature)

    def decode_round(ids: list[int]) -> list[int]:
        drafted, q_rows = _draft(q, ids, drafts)
        p_rows = _rows(p, ids, drafted)
        step = rejection.rejection_step(drafted, q_rows, p_rows if bonus else p_rows[:, :drafts])
        return _emitted(drafted, step)

    return RoundsSubject(decode_round)


def onehot_step(
    *, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, lookup: bool = False
) -> RoundsSubject:
    """Drafts are the drafter's likeliest tokens or, with `lookup`, what flashspec's NgramDrafter finds."""
    with needs("flashspec"):
        from flashspec.engine import NgramDrafter
        from flashspec.sampling import rejection
    import torch

    p, q = _log_laws(vocab_size, drafts, temperature)
    ngram = NgramDrafter()

    def decode_round(ids: list[int]) -> list[int]:
        if lookup:
            drafted, found = ngram.propose(torch.tensor([ids]), len(ids), drafts)
        else:
            drafted, found = _draft(q, ids, drafts, likeliest=True)[0], None
        return _emitted(drafted, rejection.rejection_step_onehot(drafted, _rows(p, ids, drafted), found))

    return RoundsSubject(decode_round)


def rejection_sample(*, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0) -> RoundsSubject:
    """The batched form, on a batch of one."""
    with needs("flashspec"):
        from flashspec.sampling import rejection
    import torch

    def verify(ids: list[int], q_rows: "Tensor", p_rows: "Tensor", drafted: "Tensor") -> Verified:
        return rejection.rejection_sample(torch.tensor([ids]), q_rows, p_rows, drafted, drafts)

    return _batched_form(verify, vocab_size, drafts, temperature)


def typical(*, vocab_size: int = 4, drafts: int = 2, temperature: float = 1.0, typical_p: float = 0.5) -> RoundsSubject:
    """Lossy: a draft is accepted when |-log p(x) - entropy of p| <= -log(typical_p), whatever q is."""
    if not 0 < typical_p <= 1:
        raise InputError(f"typical_p must be in (0, 1], got {typical_p!r}: try 0.5")
    with needs("flashspec"):
        from flashspec.sampling.typical import typical_sample

    def verify(_: list[int], q_rows: "Tensor", p_rows: "Tensor", drafted: "Tensor") -> Verified:
        return typical_sample(q_rows, p_rows, drafted, drafts, typical_p)

    return _batched_form(verify, vocab_size, drafts, temperature)


def target(*, vocab_size: int = 4, temperature: float = 1.0) -> ModelLaw:
    """The target's law at this temperature."""
    return ModelLaw(TableModel(vocab_size, TARGET_SEED, "float32"), SamplingParameters(temperature))


def _batched_form(
    verify: Callable[[list[int], "Tensor", "Tensor", "Tensor"], Verified],
    vocab_size: int,
    drafts: int,
    temperature: float,
) -> RoundsSubject:
    """Rounds of `verify(ids, q, p, drafts) -> (kept and one more, padded with -1; first rejection; rate)`."""
    import torch

    p, q = _log_laws(vocab_size, drafts, temperature)

    def decode_round(ids: list[int]) -> list[int]:
        drafted, q_rows = _draft(q, ids, drafts)
        p_rows = _rows(p, ids, drafted)
        kept, first_rejection, _ = verify(ids, q_rows, p_rows[:, :drafts], drafted)
        emitted = [x for x in kept[0].tolist() if x >= 0]
        if int(first_rejection[0]) == drafts:
            emitted.append(int(torch.multinomial(p_rows[0, -1].exp(), 1)))
        return emitted

    return RoundsSubject(decode_round)


def _log_laws(vocab_size: int, drafts: int, temperature: float) -> tuple[LogLaw, LogLaw]:
    """log p and log q."""
    check_integer("drafts", drafts, 1, instead=2)
    SamplingParameters(temperature)
    p = TableModel(vocab_size, TARGET_SEED, "float32")
    q = TableModel(vocab_size, DRAFTER_SEED, "float32")
    return (
        lambda ids: (p.after(ids) / temperature).log_softmax(-1),
        lambda ids: (q.after(ids) / temperature).log_softmax(-1),
    )


def _draft(q: LogLaw, ids: list[int], drafts: int, *, likeliest: bool = False) -> tuple["Tensor", "Tensor"]:
    """Drafts [1, drafts], drawn from q or its likeliest tokens, and the log-laws [1, drafts, V] behind them."""
    import torch

    drafted, rows = list(ids), []
    for _ in range(drafts):
        rows.append(q(drafted))
        drafted.append(int(rows[-1].argmax() if likeliest else torch.multinomial(rows[-1].exp(), 1)))
    return torch.tensor([drafted[len(ids) :]]), torch.stack(rows)[None]


def _rows(p: LogLaw, ids: list[int], drafted: "Tensor") -> "Tensor":
    """The log-laws [1, drafts + 1, V] of p at every draft and after the last."""
    import torch

    text = [*ids, *drafted[0].tolist()]
    return torch.stack([p(text[:end]) for end in range(len(ids), len(text) + 1)])[None]


def _emitted(drafted: "Tensor", step: "Tensor") -> list[int]:
    """The tokens of [accepted drafts, next token]; the next token is -1 where there is none."""
    accepted, following = step[0].tolist()
    return drafted[0, :accepted].tolist() + ([following] if following >= 0 else [])
