"""Paired confidence intervals for sums of ratios, with prompts as clusters.

    R = sum of num_i / sum of den_i                        such as tokens over cycles; i a prompt
    D = sum over methods k of c_k R_k                      such as R of RheoSampling - R of top-K
    d_i = sum over k of c_k (num_ki - R_k den_ki) / mean of den_k
    D +- t(1 - alpha/2; n - 1) * sd(d) / sqrt(n)           the delta method

All that happens to a prompt is one observation, so neither the dependence between its cycles, nor that between methods,
which share prompts and noise, is taken for independent evidence. It holds as the number of prompts grows; tests measure
its coverage at sizes used here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from rheocheck.core.errors import InputError

ALPHA = 0.01
Counts = tuple[NDArray[np.float64], NDArray[np.float64]]  # numerators and denominators, one a prompt


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval of confidence 1 - alpha, from `clusters` prompts."""

    estimate: float
    low: float
    high: float
    alpha: float
    clusters: int


def interval(terms: Sequence[tuple[float, Counts]], alpha: float = ALPHA) -> Interval:
    """The interval of sum of c R over the terms (c, (numerators, denominators)), one entry a prompt, in one order."""
    n = len(terms[0][1][0])
    if n < 2:
        raise InputError(f"an interval must have at least 2 prompts, got {n}; raise --prompts")
    estimate, influence = 0.0, np.zeros(n)
    for c, (num, den) in terms:
        if not den.sum() > 0:
            raise InputError("a ratio must have a denominator above 0, got 0; raise --prompts or --new-tokens")
        ratio = num.sum() / den.sum()
        estimate += c * ratio
        influence += c * (num - ratio * den) / den.mean()
    half = student.ppf(1 - alpha / 2, n - 1) * influence.std(ddof=1) / np.sqrt(n)
    return Interval(float(estimate), float(estimate - half), float(estimate + half), alpha, n)
