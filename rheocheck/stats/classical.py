"""Classical tests at a sample size fixed beforehand: the cross-check that is printed beside EMix.

Null: n independent draws, each with exactly the law p. Alternatives differ, which is the point of having three:

    chi-square pooled at 20     all cells a little (`chi_square`)
    octave chi-square           cells grouped by floor(-log2 p), then pooled at 20: the tail as a whole
    max cell                    each cell's exact binomial tail, Bonferroni: one cell
    min-p                       the smallest of the three p-values, times three

G, the likelihood ratio 2 sum N_i ln(N_i / n p_i), pooled as chi-square is, is the second opinion on it (Wilks 1938).
A p-value below alpha happens to a correct sampler with probability about alpha; exactly at most alpha only for the
max cell. The others are asymptotic: good to about 1.3 of the nominal level, and less so with thousands of cells pooled
near 20 (32768 cells, 1e5 draws, 6000 runs at 1e-3: chi-square 1.7e-3 [0.6e-3, 3.6e-3], G 2.3e-3 [1.0e-3, 4.5e-3], as
each such cell adds 1/6E to the mean of G): never let them decide alone. One look only:
a p-value looked at repeatedly is no p-value. A large p-value does not say that the laws are equal. A hit on a cell
of probability 0 makes every p-value 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, xlogy
from scipy.stats import chi2

from rheocheck.stats.chi_square import chi_square, pool
from rheocheck.stats.inputs import Floats, as_counts, as_law, check_same_length


@dataclass(frozen=True)
class Classical:
    """The outcome of one classical test: compare as `result.p_value >= alpha`, it is never NaN."""

    name: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class MinP:
    """The smallest p-value of the three tests, corrected: 3 times it, at most 1.

    best     the name of the test that had it
    p_values the three, uncorrected
    """

    p_value: float
    best: str
    p_values: dict[str, float]


def g_test(counts: ArrayLike, law: ArrayLike) -> Classical:
    """G, pooled to n p_i >= 20, against chi-square with one degree of freedom less than pooled cells."""
    observed, p, zero_hit = _checked(counts, law)
    n = observed.sum()
    if n == 0:
        return Classical("G", 0.0, 0.0 if zero_hit else 1.0)
    cells = pool(n * p)
    expected = np.bincount(cells, weights=n * p)
    found = np.bincount(cells, weights=observed)
    statistic = max(0.0, 2 * float(xlogy(found, found / expected).sum()))
    df = len(expected) - 1
    tail = float(chi2.sf(statistic, df)) if df else 1.0
    return Classical("G", statistic, 0.0 if zero_hit else tail)


def octave_chi_square(counts: ArrayLike, law: ArrayLike) -> Classical:
    """Chi-square over groups of cells whose probabilities share floor(-log2 p): sharp on tails, blind to one cell."""
    observed, p, zero_hit = _checked(counts, law)
    octaves = np.unique(np.floor(-np.log2(p)), return_inverse=True)[1]
    result = chi_square(np.bincount(octaves, weights=observed), np.bincount(octaves, weights=p))
    return Classical("octaves", result.statistic, 0.0 if zero_hit else result.p_value)


def max_cell(counts: ArrayLike, law: ArrayLike) -> Classical:
    """The smallest two-sided exact binomial p-value of all k cells, times k. The statistic is that cell's.

    Two-sided: twice the smaller tail, at most 1. Level at most alpha at any n and any law.
    """
    observed, p, zero_hit = _checked(counts, law)
    n = float(observed.sum())
    if n == 0:
        return Classical("max cell", 1.0, 0.0 if zero_hit else 1.0)
    with np.errstate(invalid="ignore"):
        above = np.where(observed > 0, betainc(observed, n - observed + 1, p), 1.0)
        below = np.where(observed < n, betaincc(observed + 1, n - observed, p), 1.0)
    smallest = min(1.0, 2 * float(np.minimum(above, below).min()))
    return Classical("max cell", smallest, 0.0 if zero_hit else min(1.0, smallest * len(p)))


def min_p(counts: ArrayLike, law: ArrayLike) -> MinP:
    """Chi-square pooled at 20, octaves and max cell, each at alpha / 3: the best classical choice at a fixed n."""
    p_values = {
        "chi-square": chi_square(counts, law).p_value,
        "octaves": octave_chi_square(counts, law).p_value,
        "max cell": max_cell(counts, law).p_value,
    }
    best = min(p_values, key=lambda name: p_values[name])
    return MinP(min(1.0, 3 * p_values[best]), best, p_values)


def _checked(counts: ArrayLike, law: ArrayLike) -> tuple[Floats, Floats, bool]:
    """(counts, law) of the cells of positive probability, and whether another cell was hit."""
    observed, p = as_counts("counts", counts), as_law(law)
    check_same_length("law", p, observed)
    support = p > 0
    return observed[support], p[support] / p[support].sum(), bool(observed[~support].any())
