"""A fresh look at the live subject before a resumed audit says anything: old draws may be of other code.

The look is beside the evidence and not counted in it. It contradicts the saved draws where it alone proves a bias that
they do not show, or where its words are not distributed as theirs; then nothing is said about this subject, since what
was saved is of another one.
"""

from dataclasses import dataclass

import numpy as np

from rheocheck.audit.evidence import Evidence
from rheocheck.audit.session import power_of_ten
from rheocheck.audit.tally import Tally
from rheocheck.stats import chi_square_two_sample

DRAWS = 200
CONTRADICTION = 1e-3  # p-value of "saved and fresh words have one law": saying nothing costs little


@dataclass(frozen=True)
class FreshLook:
    """What so many `draws` of the live subject say: `agrees` with the saved ones or not, in words."""

    agrees: bool
    text: str
    draws: int


def fresh_look(saved: Evidence, fresh: Evidence, threshold: float, wanted: int = DRAWS) -> FreshLook:
    """Compare fresh draws with the saved evidence; `threshold` is ln(1/alpha), `wanted` the draws asked for."""
    if fresh.n < wanted:
        return FreshLook(
            False, f"the fresh look at the live subject was cut short after {fresh.n} of {wanted} draws", fresh.n
        )
    p_value = min(map(_same_law, saved.tallies(), fresh.tallies()))
    alone = fresh.log_e >= threshold > saved.peak
    agrees = not alone and p_value >= CONTRADICTION
    fit = "they fit the saved ones" if agrees else "they CONTRADICT the saved ones"
    text = f"fresh look: {fresh.n} draws, E = {power_of_ten(fresh.log_e)}, {fit} (p-value {p_value:.2g})"
    return FreshLook(agrees, text, fresh.n)


def _same_law(saved: Tally, fresh: Tally) -> float:
    """The p-value of "one law"."""
    words, index = np.unique(np.concatenate([saved.words, fresh.words]), axis=0, return_inverse=True)
    places = np.split(index.reshape(-1), [len(saved.words)])
    counts = [
        np.bincount(place, weights=tally.counts, minlength=len(words))
        for place, tally in zip(places, (saved, fresh), strict=True)
    ]
    return chi_square_two_sample(*counts).p_value
