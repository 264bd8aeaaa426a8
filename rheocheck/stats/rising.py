"""The building block of every Dirichlet and Beta mixture: a rising factorial against a power.

    rf(x, N) = ln[ x (x+1) ... (x+N-1) ] - N ln x = sum_{j<N} ln(1 + j/x) >= 0

The textbook form gammaln(x+N) - gammaln(x) - N ln x loses every digit for x far above N: at x = 1e15, N = 1000
its three terms are near 3e16 and their sum is 5e-10. So above x = 30 Stirling's series is subtracted on paper:

    rf(x, N) = x [log1p(t) - t] + (N - 1/2) log1p(t) + c(x+N) - c(x),      t = N/x
    c(y) = 1/12y - 1/360y^3 + 1/1260y^5 - 1/1680y^7                         (Abramowitz & Stegun 6.1.41)

and log1p(t) - t is itself taken from a series where t < 1/16 (with s = t/(2+t), log1p(t) = 2 artanh(s) and
2s - t = -st, so that log1p(t) - t = -st + 2(s^3/3 + s^5/5 + ...)).

    >>> round(float(rf(2.0, 3)), 6)   # ln(2 * 3 * 4 / 2^3) = ln 3
    1.098612
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from rheocheck.stats.inputs import Floats

STIRLING_FROM = 30.0  # the first neglected term of c is below 1e-16 from here on
SERIES_BELOW = 1 / 16  # six terms of artanh are exact to the last bit below here
BLOCK = 16384


def rf(x: ArrayLike, n: ArrayLike) -> Floats:
    """ln of the rising factorial of x, n factors, minus n ln x; elementwise, broadcasting. 0 where n <= 1.

    Requires x > 0 where n > 0 and whole numbers n >= 0 (not checked: this is the inner loop).
    """
    x, n = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(n, dtype=float))
    some = n > 1  # rf(x, 0) = rf(x, 1) = 0, and most cells of a large vocabulary are there
    out = np.zeros(x.shape)
    if some.all():
        out[...] = _in_blocks(x.ravel(), n.ravel()).reshape(x.shape)
    else:
        out[some] = _in_blocks(x[some], n[some])
    return out


def _in_blocks(x: Floats, n: Floats) -> Floats:
    """Blocks small enough that the dozen temporaries of the formulas stay in the processor's cache."""
    out = np.empty(x.shape)
    for start in range(0, len(x), BLOCK):
        block = slice(start, start + BLOCK)
        out[block] = _by_size(x[block], n[block])
    return out


def _by_size(x: Floats, n: Floats) -> Floats:
    t = n / x
    small, near = x <= STIRLING_FROM, t < SERIES_BELOW
    out = np.empty(x.shape)
    for here, formula in ((small, _gammas), (near & ~small, _series), (~near & ~small, _stirling)):
        if here.all():
            return formula(x, n, t)
        if here.any():
            out[here] = formula(x[here], n[here], t[here])
    return out


def _gammas(x: Floats, n: Floats, t: Floats) -> Floats:
    result: Floats = gammaln(x + n) - gammaln(x) - n * np.log(x)
    return result


def _stirling(x: Floats, n: Floats, t: Floats) -> Floats:
    log = np.log1p(t)
    return x * (log - t) + (n - 0.5) * log + (_correction(x + n) - _correction(x))


def _series(x: Floats, n: Floats, t: Floats) -> Floats:
    excess = _log1p_minus(t)
    return x * excess + (n - 0.5) * (excess + t) + (_correction(x + n) - _correction(x))


def _log1p_minus(t: Floats) -> Floats:
    """log1p(t) - t without cancellation, for 0 <= t < 1/16."""
    s = t / (2 + t)
    y = s * s
    series = 1 / 3 + y * (1 / 5 + y * (1 / 7 + y * (1 / 9 + y * (1 / 11 + y / 13))))
    return s * (2 * y * series - t)


def _correction(y: Floats) -> Floats:
    z = 1 / (y * y)
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / y
