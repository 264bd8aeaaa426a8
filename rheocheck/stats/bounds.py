"""Confidence bounds on the total variation between the law P of the draws and a known law p.

Upper bound (what a pass claims). Let A* = {i : P_i > p_i}. It is unknown but fixed, TV(P, p) = P(A*) - p(A*), and
Phat(A*) - p(A*) <= TV(Phat, p) for the empirical law Phat whatever A* is. So one bound for *one* binomial mean is
enough, with no union over the 2^k events:

    TV(P, p) <= TV(Phat, p) + w        with probability 1 - delta

Anytime: w is the one-sided normal-mixture boundary of a mean in [0, 1] (Howard, Ramdas, McAuliffe & Sekhon 2021,
Time-uniform, nonparametric, nonasymptotic confidence sequences), so the bound holds at all n at once and the
smallest bound seen so far may be reported.

Lower bound (printed beside a failure): the event A is chosen on one half of the draws, and P(A) bounded by Clopper &
Pearson (1934) on the other half.

Assumed throughout: the draws are independent and all have the same law P. Copies and serial dependence are other
tests' business. `chi_square.tv_upper_bound` is the same upper bound for a number of draws fixed beforehand.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from scipy.stats import binom

from rheocheck.stats.chi_square import total_variation
from rheocheck.stats.inputs import Floats, as_counts, as_law, check_level, check_not_negative, check_same_length


def tv_upper_anytime(
    counts: ArrayLike, law: ArrayLike, *, delta: float = 1e-3, n_opt: float, rtol: float = 0.0
) -> float:
    """Upper confidence bound 1 - delta on TV(P, law), valid at all sample sizes at once.

    n_opt is the number of draws at which the bound should be tightest: fix it beforehand, and keep it for the
    whole run. rtol adds half of itself, the farthest that a law within the tolerance lies from `law`.
    """
    observed, p = as_counts("counts", counts), as_law(law)
    check_same_length("law", p, observed)
    check_not_negative("rtol", rtol)
    n = float(observed.sum())
    width = anytime_width(n, delta, n_opt)
    return 1.0 if n == 0 else min(1.0, total_variation(observed / n, p) + width + rtol / 2)


def anytime_width(n: float, delta: float, n_opt: float) -> float:
    """w: P(some n has a mean of n draws in [0, 1] below the true mean minus w(n)) <= delta; inf at n = 0.

    w = sqrt(2 (V + r) ln(1 + sqrt((V + r)/r) / (2 delta))) / n with V = n/4; r makes it tightest at n_opt, where
    w = 2.01 / sqrt(n) for delta = 1e-3.
    """
    check_level("delta", delta)
    if not 1 <= n_opt < np.inf:
        raise ValueError(f"n_opt must be a number of draws >= 1, got {n_opt!r}: pass the planned number of draws")
    if not n >= 0:
        raise ValueError(f"n must be a number of draws >= 0, got {n!r}: pass the sum of the counts")
    if n == 0:
        return float("inf")
    miss = max(2 * np.log(1 / (2 * delta)), 1e-3)
    v, r = n / 4, n_opt / 4 / (miss + np.log1p(miss))
    return float(np.sqrt(2 * (v + r) * np.log1p(np.sqrt((v + r) / r) / (2 * delta))) / n)


def tv_lower(counts_first_half: ArrayLike, counts_second_half: ArrayLike, law: ArrayLike, *, delta: float) -> float:
    """Lower confidence bound 1 - delta on TV(P, law), at a sample size fixed beforehand; 0 says nothing.

    A = the cells hit too often in the first half; Clopper-Pearson's lower limit of P(A) from the second half,
    minus p(A).
    """
    first, second = (
        as_counts("counts_first_half", counts_first_half),
        as_counts("counts_second_half", counts_second_half),
    )
    p = as_law(law)
    check_same_length("law", p, first)
    check_same_length("law", p, second)
    check_level("delta", delta)
    chosen = first > first.sum() * p
    hits, n = float(second[chosen].sum()), float(second.sum())
    return max(0.0, _clopper_pearson_low(hits, n, delta) - float(p[chosen].sum()))


def mean_empirical_tv(law: ArrayLike, n: int) -> float:
    """E TV(Phat, p) of n draws from p itself, exactly; at most sum sqrt(p_i (1-p_i) / (2 pi n)) at large n.

    From the mean absolute deviation of a binomial (de Moivre 1730): 2 v (1-p) P(X = v), v = floor(np) + 1.
    """
    p = as_law(law)
    p = p[(p > 0) & (p < 1)]
    return float(mean_deviation(n, p).sum() / (2 * n))


def mean_deviation(n: int, p: Floats) -> Floats:
    """E |X - np| for X ~ Binomial(n, p), of each p strictly between 0 and 1."""
    v = np.floor(n * p) + 1
    deviation: Floats = 2 * v * (1 - p) * binom.pmf(v, n, p)
    return deviation


def _clopper_pearson_low(hits: float, n: float, delta: float) -> float:
    return 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, delta))
