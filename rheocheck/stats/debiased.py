"""A tighter upper bound on total variation for large vocabularies, at a sample size fixed beforehand.

TV(Phat, p) of a *correct* sampler is far from 0 when cells are many: noise, about s / sqrt(n). `bounds` pays for it in
full. Here the noise of every law P that could have made the counts is taken into account:

    1. E TV(Phat, p) <= TV(Phat, p) + sqrt(ln(1/delta) / 2n) =: B with probability 1 - delta, as one draw moves
       TV(Phat, p) by at most 1/n (McDiarmid 1989).
    2. E TV(Phat, p) = sum_i g_i(P_i), g_i(x) = E |X/n - p_i| / 2, X ~ Binomial(n, x): closed form below.
    3. So TV(P, p) <= sup { sum_i |x_i - p_i| / 2 : sum_i g_i(x_i) <= B, sum_i x_i = 1 }, and by weak duality, for any
       lam >= 0 and any mu,  TV(P, p) <= lam B + mu + sum_i max_x h_i(x),  h_i(x) = |x - p_i| / 2 - lam g_i(x) - mu x.

g_i is a Bernstein polynomial of a convex function, hence convex, so h_i is concave on [0, p_i] and on [p_i, 1]. A
concave function lies below its tangents: between two grid points its maximum is at most the height at which their
tangents meet. That makes the grid rigorous: a coarse grid or poor (lam, mu) cost tightness, never validity. With
f = floor(c), c = n p_i, and F_m the distribution function of Binomial(m, x):

    2 n g(x) = E|X - c| = 2 [c F_n(f) - n x F_{n-1}(f-1)] + n x - c
    2 g'(x)  = 1 - F_{n-1}(f) - F_{n-1}(f-1) + (2f + 1 - 2c) (F_{n-1}(f) - F_{n-1}(f-1))

lam = 1, mu = 0 gives back the bound of `bounds` for fixed n, so this one is never worse but for rounding.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import betaincc

from rheocheck.stats.chi_square import total_variation
from rheocheck.stats.inputs import Floats, Ints, as_counts, as_law, check_level, check_same_length

CELLS_AT_ONCE = 2**15  # of the last evaluation, for its memory
OFFSETS = np.concatenate([np.arange(0.0, 3.0, 0.4), [3.0, 3.5, 4.5, 6.0, 9.0]])  # grid of x - p in standard deviations
REFINED = np.linspace(0, 1, 9)
REPRESENTATIVES = 100  # cells that stand for all while lam and mu are sought
LARGEST_MULTIPLIER = np.log(1e6)
ROUNDING = 1e-8  # of the sums of distribution functions, thousands of times what they were seen to be off


def tv_upper_debiased(counts: ArrayLike, law: ArrayLike, *, delta: float = 1e-3) -> float:
    """Upper confidence bound 1 - delta on TV(true law of the counts, law), for a fixed number of independent draws.

    For sum sqrt(p_i (1-p_i) / 2 pi) above about 5; below, `bounds.tv_upper_anytime` costs little more and holds at
    every look. Choose between them before drawing, never by the counts: `planned_looks` does, and shares delta.
    """
    observed, p = as_counts("counts", counts), as_law(law)
    check_same_length("law", p, observed)
    check_level("delta", delta)
    n = float(observed.sum())
    if n == 0:
        return 1.0
    return _upper(n, p, total_variation(observed / n, p) + mean_radius(n, delta))


def _upper(n: float, p: Floats, noisy: float) -> float:
    """The bound, of which the counts are a part through `noisy` only: TV(Phat, p) + mean_radius."""
    values, copies = np.unique(p, return_counts=True)
    lam, mu = _multipliers(n, *representatives(values, copies), noisy)
    constant = lam * noisy + mu
    parts = (slice(start, start + CELLS_AT_ONCE) for start in range(0, len(values), CELLS_AT_ONCE))
    best = min(
        # Every part pays for its rounding; what does not depend on cells is added once.
        constant + sum(_Dual(n, values[part], copies[part]).refined(lam, mu) for part in parts),
        noisy,  # lam = 1, mu = 0: every max is at most 0, as g_i(x) >= |x - p_i| / 2 by Jensen
    )
    return float(min(1.0, max(0.0, best)))


def mean_radius(n: float, delta: float) -> float:
    """E TV(Phat, p) exceeds TV(Phat, p) by no more than this, with probability 1 - delta."""
    return float(np.sqrt(np.log(1 / delta) / (2 * n)))


def foreseen(n: float, p: Floats, copies: Floats, noisy: float) -> float:
    """About the bound that `noisy` = TV(Phat, p) + mean_radius will give, for few cells p [u]: to plan by, no bound."""
    lam, mu = _multipliers(n, p, copies, noisy)
    return float(min(noisy, max(0.0, _Dual(n, p, copies)(lam, mu) + lam * noisy + mu)))


class _Dual:
    """Sum of max_x h_i(x) over cells of probability p [u], each standing for `copies` [u] cells, rounded up."""

    def __init__(self, n: float, p: Floats, copies: Floats | Ints) -> None:
        self.n, self.p, self.copies = n, p[:, None], copies
        scale = np.sqrt(self.p * (1 - self.p) / n) + 1 / n
        last = np.ones_like(self.p)
        above = np.concatenate([np.minimum(1, self.p + scale * OFFSETS), last], axis=1)
        below = np.concatenate([np.maximum(0, self.p - scale * OFFSETS), 0 * last], axis=1)
        self.sides = [
            (0.5, above, *_noise(n, self.p, above)),
            (-0.5, below[:, ::-1], *_noise(n, self.p, below[:, ::-1])),
        ]

    def __call__(self, lam: float, mu: float) -> float:
        best = np.full(len(self.p), -np.inf)
        for sign, x, g, slope in self.sides:
            best = np.maximum(best, self._tops(sign, x, g, slope, lam, mu).max(axis=1))
        return self._total(best, lam, mu)

    def refined(self, lam: float, mu: float) -> float:
        """The same, with the interval that holds each maximum divided again."""
        best = np.full(len(self.p), -np.inf)
        for sign, x, g, slope in self.sides:
            tops = self._tops(sign, x, g, slope, lam, mu)
            at = tops.argmax(axis=1)[:, None]
            left, right = np.take_along_axis(x, at, 1), np.take_along_axis(x, at + 1, 1)
            finer = np.minimum(left + (right - left) * REFINED, right)
            inside = self._tops(sign, finer, *_noise(self.n, self.p, finer), lam, mu).max(axis=1)
            np.put_along_axis(tops, at, inside[:, None], 1)
            best = np.maximum(best, tops.max(axis=1))
        return self._total(best, lam, mu)

    def _tops(self, sign: float, x: Floats, g: Floats, slope: Floats, lam: float, mu: float) -> Floats:
        """An upper bound of h on each interval of the grid x [u, points], on one side of p."""
        h = sign * (x - self.p) - lam * g - mu * x
        d = sign - lam * slope - mu
        h0, h1, d0, d1, width = h[:, :-1], h[:, 1:], d[:, :-1], d[:, 1:], np.diff(x, axis=1)
        inside = (d0 > 0) & (d1 < 0)
        meet = np.divide(h1 - h0 - d1 * width, d0 - d1, out=np.zeros_like(h0), where=inside)
        tops: Floats = np.where(inside, h0 + d0 * np.clip(meet, 0, width), np.maximum(h0, h1))
        return np.maximum(tops, np.maximum(h0, h1))

    def _total(self, best: Floats, lam: float, mu: float) -> float:
        return float(best @ self.copies + ROUNDING * (1 + abs(lam) + abs(mu)))


def _noise(n: float, p: Floats, x: Floats) -> tuple[Floats, Floats]:
    """g(x) and g'(x)."""
    c = n * p
    f = np.floor(c)
    at, below = _cdf(f, n - 1, x), _cdf(f - 1, n - 1, x)
    whole = x * below + (1 - x) * at  # F_n(f): the n-th draw hits or not
    g = (2 * (c * whole - n * x * below) + n * x - c) / (2 * n)
    slope = (1 - at - below + (2 * f + 1 - 2 * c) * (at - below)) / 2
    return np.maximum(g, np.abs(x - p) / 2), slope


def _cdf(k: Floats, m: float, x: Floats) -> Floats:
    """P(Binomial(m, x) <= k) for whole k of any sign."""
    k, x = np.broadcast_arrays(k, x)
    inside = (k >= 0) & (k < m)
    out = np.where(k < 0, 0.0, 1.0)
    out[inside] = betaincc(k[inside] + 1, m - k[inside], x[inside])
    return out


def representatives(p: Floats, copies: Ints) -> tuple[Floats, Floats]:
    """At most REPRESENTATIVES cells with about the same law of probabilities: enough to plan and to seek lam, mu."""
    if len(p) <= REPRESENTATIVES:
        return p, copies.astype(float)
    groups = np.arange(len(p)) * REPRESENTATIVES // len(p)
    total: Floats = np.bincount(groups, weights=copies).astype(float)
    return np.bincount(groups, weights=p * copies) / total, total


def _multipliers(n: float, p: Floats, copies: Floats, noisy: float) -> tuple[float, float]:
    dual = _Dual(n, p, copies)

    def value(point: Floats) -> float:
        lam, mu = _multiplier(point[0]), float(point[1])
        return lam * noisy + mu + dual(lam, mu)

    start = np.array([[0.2, 0.0], [0.5, 0.0], [0.2, -0.1]])
    found = minimize(
        value, start[0], method="Nelder-Mead", options={"initial_simplex": start, "maxfev": 150, "fatol": 1e-5}
    )
    return _multiplier(found.x[0]), float(found.x[1])


def _multiplier(logarithm: float) -> float:
    """lam from its logarithm: any lam >= 0 gives a bound; one beyond 1e6 says that no law makes so little noise."""
    return float(np.exp(min(logarithm, LARGEST_MULTIPLIER)))
