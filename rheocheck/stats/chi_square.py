"""Pearson's chi-square on counts, against a known law or between two samples; sample size fixed beforehand.

    statistic = sum (N_i - n p_i)^2 / (n p_i), counts N_i, n = sum N_i, law p_i, cells pooled to n p_i >= 20

Null: the n draws are independent and each has exactly the law (two samples: both have the same law).
Alternative: anything else. A p-value below alpha happens to a correct sampler with probability about alpha.
A pass does *not* say that the laws are equal: it says that a bias of `smallest_detectable_tv` would have
been found with the stated power, and that TV is below `tv_upper_bound` with the stated confidence.

The level is asymptotic: with cells pooled at 20, the false-alarm rate is within about 1.3 of the nominal
1e-6 even for laws with long tails; pooled at 5 or not at all it is off by factors of 2 to 10000. A bias of
total variation t has noncentrality n * sum (P_i - p_i)^2 / p_i >= 4 n t^2 (Cauchy-Schwarz), which is what
the power figures use.

    >>> chi_square([315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16]).p_value   # Mendel's peas, 1866
    0.925...
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from rheocheck.stats.inputs import (
    Floats,
    Ints,
    as_counts,
    as_law,
    check_level,
    check_not_negative,
    check_same_length,
)

MIN_EXPECTED = 20.0  # every pooled cell is expected at least this often
MAX_SAMPLES = 2**50


@dataclass(frozen=True)
class ChiSquare:
    """The outcome of one chi-square test; compare as `result.p_value >= alpha`, it is never NaN.

    statistic    the chi-square statistic over the pooled cells
    df           its degrees of freedom; 0 (then p_value is 1) when everything fell into one cell
    p_value      0 when a cell of probability 0 was hit, whatever the rest looks like
    samples      draws that entered the statistic (two samples: of both together)
    hidden_mass  probability that can move between cells pooled together, where the test does not see it
    zero_cells   the cells of probability 0 that were hit
    """

    statistic: float
    df: int
    p_value: float
    samples: int
    hidden_mass: float
    zero_cells: tuple[int, ...] = ()


def chi_square(counts: ArrayLike, law: ArrayLike, *, rtol: float = 0.0) -> ChiSquare:
    """Whether `counts` [k] can be n independent draws from `law` [k].

    A hit on a cell of probability 0 decides at once (p_value 0); zero cells then leave the statistic. The
    other cells are pooled (see `pool`) by their expectations alone, never by the counts.

    rtol > 0 widens the null to every law P with |P_i - p_i| <= rtol p_i. Each such P has noncentrality at
    most n rtol^2, so the p-value is the tail of the noncentral chi-square at n rtol^2: conservative for all
    of them. Raises ValueError on NaN, negative or fractional counts, wrong shapes, or a law that does not
    sum to 1.
    """
    observed, p = as_counts("counts", counts), as_law(law)
    check_same_length("law", p, observed)
    check_not_negative("rtol", rtol)
    zero = tuple(int(i) for i in np.flatnonzero((p == 0) & (observed > 0)))
    support = p > 0
    kept, p = observed[support], p[support] / p[support].sum()
    n = int(kept.sum())
    if n == 0:
        return ChiSquare(0.0, 0, 0.0 if zero else 1.0, 0, 1.0, zero)
    cells = pool(n * p)
    expected = np.bincount(cells, weights=n * p)
    found = np.bincount(cells, weights=kept)
    statistic, df = float(((found - expected) ** 2 / expected).sum()), len(expected) - 1
    p_value = 0.0 if zero else _tail(statistic, df, n * rtol**2)
    return ChiSquare(statistic, df, p_value, n, _hidden_mass(p, cells), zero)


def chi_square_two_sample(counts_a: ArrayLike, counts_b: ArrayLike) -> ChiSquare:
    """Whether two samples of counts [k] can come from one law, whatever that law is (homogeneity).

    Cells are pooled by the counts of both samples together, so that the smaller sample expects at least 20
    in every pooled cell; given those totals the split between the samples is what is tested. `hidden_mass`
    is the observed frequency of cells that share a pooled cell, an estimate. Raises ValueError as
    `chi_square` does.
    """
    a, b = as_counts("counts_a", counts_a), as_counts("counts_b", counts_b)
    check_same_length("counts_b", b, a)
    n, m = int(a.sum()), int(b.sum())
    if min(n, m) == 0:
        return ChiSquare(0.0, 0, 1.0, n + m, 1.0)
    seen = (a + b) > 0
    a, b = a[seen], b[seen]
    share = (a + b) / (n + m)
    cells = pool(min(n, m) * share)
    hidden = float(share[np.bincount(cells)[cells] > 1].sum())
    pooled, a, b = (np.bincount(cells, weights=x).astype(np.float64) for x in (share, a, b))
    statistic = float(((a / n - b / m) ** 2 / pooled).sum()) * n * m / (n + m)
    return ChiSquare(statistic, len(pooled) - 1, _tail(statistic, len(pooled) - 1, 0.0), n + m, hidden)


def smallest_detectable_tv(
    law: ArrayLike, samples: int, alpha: float, *, power: float = 0.999, rtol: float = 0.0
) -> float:
    """The total variation from which on `chi_square` at `samples` draws finds *any* bias with this power.

    sqrt(ncp / 4n), ncp the noncentrality that reaches the power, plus what a bias can hide: the mass that
    may move inside pooled cells, and the mass on zero cells that n draws miss with probability 1 - power.
    1.0 means that nothing is certain to be found. Raises ValueError on input that `chi_square` refuses.
    """
    p = as_law(law)
    check_level("alpha", alpha)
    check_level("power", power)
    check_not_negative("rtol", rtol)
    if samples < 1:
        return 1.0
    support = p[p > 0] / p.sum()
    cells = pool(samples * support)
    df, hidden = int(cells.max()), _hidden_mass(support, cells)
    missed = 1 - (1 - power) ** (1 / samples) if len(support) < len(p) else 0.0
    ncp = _noncentrality(df, alpha, power, samples * rtol**2)
    tv = float(np.sqrt(ncp / (4 * samples)) + hidden + missed)
    if tv > 1 - p.min() or (df == 0 and hidden > 0):  # beyond the largest TV there is: an empty promise
        return 1.0
    return tv


def total_variation(a: ArrayLike, b: ArrayLike) -> float:
    """Half the sum of absolute differences of two laws [k]."""
    return float(np.abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)).sum() / 2)


def tv_upper_bound(counts: ArrayLike, law: ArrayLike, *, delta: float = 1e-3, rtol: float = 0.0) -> float:
    """Upper confidence bound 1 - delta on TV(true law of the counts, law), for a fixed number of draws.

    TV(empirical, p) + sqrt(ln(1/delta) / 2n): A* = {i: P_i > p_i} is a fixed set, TV(P, p) = P(A*) - p(A*),
    so one Hoeffding bound for one binomial mean suffices, with no union over the 2^k sets. rtol adds half
    of itself, the farthest that a law within the tolerance lies from `law`. Assumes independent draws.
    """
    observed, p = as_counts("counts", counts), as_law(law)
    check_same_length("law", p, observed)
    check_level("delta", delta)
    check_not_negative("rtol", rtol)
    n = observed.sum()
    if n == 0:
        return 1.0
    return float(min(1.0, total_variation(observed / n, p) + np.sqrt(np.log(1 / delta) / (2 * n)) + rtol / 2))


def pool(expected: ArrayLike, minimum: float = MIN_EXPECTED) -> Ints:
    """Which pooled cell each cell belongs to: labels [k] in 0..cells-1, from positive expectations [k] alone.

    Cells of expectation >= `minimum` stay alone. The others, smallest first (ties by index), fill one
    pooled cell after the other until it reaches `minimum`. A remainder joins the last one so filled; if
    there is none, the smallest cell that stands alone; if there is none of these either, it is the only
    cell.
    """
    e = np.asarray(expected, dtype=float)
    order = np.argsort(e, kind="stable")
    small = order[e[order] < minimum]
    labels = np.zeros(len(e), dtype=np.int64)
    filled = np.cumsum(e[small])
    group = start = 0
    while start < len(small):
        before = filled[start - 1] if start else 0.0
        stop = int(np.searchsorted(filled, before + minimum)) + 1
        if stop > len(small):
            labels[small[start:]] = max(group - 1, 0)
            break
        labels[small[start:stop]] = group
        group, start = group + 1, stop
    big = order[len(small) :]
    labels[big] = group + np.arange(len(big))
    return labels


def _hidden_mass(p: Floats, cells: Ints) -> float:
    """The largest TV that moving mass inside pooled cells can make: in each, all goes to the smallest cell.

    With M_g >= 0 emitted in a pool of law m_g, TV exceeds the TV of the pooled laws by the sum over pools of
    min(m_g, M_g) - sum_i min(p_i, P_i), at most m_g - min_i p_i; a cell that stands alone hides nothing.
    """
    smallest = np.full(int(cells.max()) + 1, np.inf)
    np.minimum.at(smallest, cells, p)
    return float(max(0.0, p.sum() - smallest.sum()))


def _tail(statistic: float, df: int, ncp: float) -> float:
    if df == 0:
        return 1.0
    p_value = float(ncx2.sf(statistic, df, ncp) if ncp > 0 else chi2.sf(statistic, df))
    if not 0 <= p_value <= 1:
        raise ArithmeticError(
            f"a p-value must lie in [0, 1], got {p_value} at statistic={statistic}, df={df}, ncp={ncp}"
        )
    return p_value


def _noncentrality(df: int, alpha: float, power: float, null_ncp: float) -> float:
    """The noncentrality at which a chi-square test of level alpha has this power; 0 when df is 0."""
    if df == 0:
        return 0.0
    cut = float(ncx2.isf(alpha, df, null_ncp) if null_ncp > 0 else chi2.isf(alpha, df))
    high = 1.0 + null_ncp
    while ncx2.sf(cut, df, high) < power:
        high *= 2
    if chi2.sf(cut, df) >= power:
        return 0.0
    return float(brentq(lambda ncp: ncx2.sf(cut, df, ncp) - power, 1e-12, high, xtol=1e-9, rtol=1e-12))
