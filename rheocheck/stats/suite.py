"""Many verdicts in one test run, and many hypotheses in one report.

In a test run every assertion has the same threshold, fixed beforehand: E >= capacity / suite_alpha, 1e9 by default.
That is Bonferroni over a capacity of 1000 assertions at 1e-6 together, valid under any dependence, and a verdict
depends neither on which other tests ran nor on their order. Weak evidence that no single assertion shows is
pooled: by a product where the seeds are independent, by the mean where the draws are the same (Vovk & Wang 2021,
E-values: calibration, combination and applications). Both are e-values under the null that *every* sampler is
exact; failing to reach a threshold says nothing of each.
"""

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.inputs import Floats, as_vector, check_level

SUITE_ALPHA = 1e-6
CAPACITY = 1000
LAMBDAS = (0.01, 0.03, 0.1, 0.3, 0.6, 0.9)


def assertion_alpha(suite_alpha: float = SUITE_ALPHA, capacity: int = CAPACITY) -> float:
    """The level of each single assertion: suite_alpha / capacity, 1e-9 by default."""
    check_level("suite_alpha", suite_alpha)
    if capacity < 1:
        raise ValueError(f"capacity must be a number of assertions >= 1, got {capacity!r}: try 1000")
    return suite_alpha / capacity


def mixed_product(log_es: ArrayLike) -> float:
    """ln of the mean over lambda of prod(1 - lambda + lambda E_i), from the ln E_i of *independent* runs.

    An e-value of all of them together; a single lambda = 1, the plain product, dies of one unlucky run. Sees twenty
    biases each too weak to be seen alone. Of no runs at all: 0.
    """
    x = _log_es(log_es)
    rows = [np.logaddexp(np.log1p(-lam), np.log(lam) + x).sum() for lam in LAMBDAS]
    return float(np.logaddexp.reduce(rows) - np.log(len(LAMBDAS)))


def mean(log_es: ArrayLike) -> float:
    """ln of the arithmetic mean of E_i, from ln E_i: an e-value under any dependence, as of tests of the same draws."""
    x = _log_es(log_es)
    return float(np.logaddexp.reduce(x) - np.log(len(x))) if len(x) else 0.0


def _log_es(values: ArrayLike) -> Floats:
    if np.size(values) == 0:
        return np.empty(0)
    x = as_vector("log_es", values)
    if np.any(np.isnan(x)):
        raise ValueError(f"log_es must not be NaN, got one at {int(np.flatnonzero(np.isnan(x))[0])}: rerun that test")
    return x
