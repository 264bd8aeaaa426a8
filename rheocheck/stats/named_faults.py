"""What known bugs of a one-draft chain emit, as laws: sharper bets, and a name for what was found.

The correct step with target p and drafter q: d ~ q; accept if u < p(d) / q(d); else draw from the residual (p - q)+
normalised. The law emitted is sum over d of q(d) * accept(d), plus P(reject) * replacement: exact arithmetic on p
and q, no decoder runs. Each fault changes one ingredient (Leviathan, Kalman & Matias 2023, Algorithm 1):

    residual not subtracted   replacement from p
    replacement from q        replacement from q
    accept with q = 1         accepts with p(d), as if the draft were one-hot; residual as it should be
    ratio scaled              accepts with 1.15 p(d) / q(d)
    draft temperature         draws d from q^2 normalised (temperature 1/2), and reports q
    always accept             emits q
    target temperature        emits p^(1/0.8) normalised

The size of the fault in a decoder (how often it happens, how far the temperature is off) need not be that of the
law: `EMix` bets on every law at strengths w = 1, 1/2, ..., 1/128 of a mixture with p, `diagnose` at finer ones.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.inputs import Floats, as_counts, as_law, check_same_length

RATIO = 1.15
DRAFT_TEMPERATURE = 0.5
TARGET_TEMPERATURE = 0.8
STRENGTHS = np.geomspace(1, 1 / 512, 73)  # fine: between two steps a factor 1.09, which costs 0.2 % of the evidence


class Diagnosis(NamedTuple):
    """A named fault, and by what power of ten the counts favour it over the next in the list (the last: over p)."""

    name: str
    log10_over_next: float


def fault_laws(p: ArrayLike, q: ArrayLike) -> dict[str, Floats]:
    """The law that each named fault emits for target p and drafter q, always taken; for `EMix(p, faults=...)`.

    Faults that change nothing for this p and q (all of them but the temperature where p = q) are left out.
    """
    target, drafter = as_law(p, "p"), as_law(q, "q")
    check_same_length("q", drafter, target)
    excess = np.maximum(target - drafter, 0)
    residual = excess / excess.sum() if excess.any() else target
    ratio = np.divide(target, drafter, out=np.zeros_like(target), where=drafter > 0)
    right = np.minimum(1, ratio)
    laws = {
        "residual not subtracted": _emitted(drafter, right, target),
        "accept with q = 1": _emitted(drafter, target, residual),
        "ratio scaled": _emitted(drafter, np.minimum(1, RATIO * ratio), residual),
        "draft temperature": _emitted(_tempered(drafter, DRAFT_TEMPERATURE), right, residual),
        "always accept": drafter,
        "target temperature": _tempered(target, TARGET_TEMPERATURE),
        "replacement from q": _emitted(drafter, right, drafter),
    }
    return {name: law for name, law in laws.items() if np.abs(law - target).max() > 1e-12}


def diagnose(counts: ArrayLike, p: ArrayLike, faults: Mapping[str, ArrayLike]) -> list[Diagnosis]:
    """Rank named faults by how well they explain the counts: likelihood ratio to p, averaged over strengths.

    For reading beside a FAIL, never for the verdict: the true fault may be none of them, and two faults that emit
    nearly the same law (a scaled ratio and an unsubtracted residual, often) share the evidence. Draws of tokens
    with probability 0 under p are left out: they are certain bias of any name.
    """
    observed, target = as_counts("counts", counts), as_law(p, "p")
    check_same_length("p", target, observed)
    support = target > 0
    found = []
    for name, values in faults.items():
        fault = as_law(values, f"fault {name!r}")
        check_same_length(f"fault {name!r}", fault, observed)
        mixed = (1 - STRENGTHS[:, None]) + STRENGTHS[:, None] * fault[support] / target[support]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(observed[support] > 0, observed[support] * np.log(mixed), 0.0).sum(axis=1)
        found.append((float(np.logaddexp.reduce(terms) - np.log(len(STRENGTHS))), name))
    found.sort(key=lambda pair: -pair[0])
    following = [*(log_e for log_e, _ in found[1:]), 0.0][: len(found)]
    return [
        Diagnosis(name, (log_e - after) / np.log(10)) for (log_e, name), after in zip(found, following, strict=True)
    ]


def _emitted(drawn: Floats, accept: Floats, replacement: Floats) -> Floats:
    """Law of one step: accepted drafts, and the replacement of all others."""
    accepted = drawn * accept
    law: Floats = accepted + (1 - accepted.sum()) * replacement
    law /= law.sum()
    return law


def _tempered(law: Floats, temperature: float) -> Floats:
    """law^(1/T) normalised; its largest entry is divided out first, so that it cannot underflow to nothing."""
    scaled: Floats = (law / law.max()) ** (1 / temperature)
    scaled /= scaled.sum()
    return scaled
