"""The debiased bound: its noise function by enumeration, the rigour of its grid, and its coverage."""

import time

import numpy as np
import pytest
from scipy import stats as scipy_stats

from rheocheck.stats import tv_upper_bound
from rheocheck.stats.debiased import _Dual, _noise, tv_upper_debiased
from tests.stats.laws import soft3, spread, uniform, zipf


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("p", [0.0, 1e-9, 0.01, 0.25, 0.3, 0.5, 0.99, 1.0])
def test_the_noise_function_by_enumeration(n, p):
    xs = np.array([0, 1e-12, 0.01, 0.2, 0.25, 0.3, 0.77, 1])
    j = np.arange(n + 1)[:, None]
    exact = (scipy_stats.binom.pmf(j, n, xs) * np.abs(j / n - p)).sum(axis=0) / 2
    # The derivative of a Bernstein polynomial is one of degree n - 1, of the differences.
    steps = n * (np.abs((j[:-1] + 1) / n - p) - np.abs(j[:-1] / n - p))
    slope = (scipy_stats.binom.pmf(j[:-1], n - 1, xs) * steps).sum(axis=0) / 2
    g, d = _noise(n, np.array([[p]]), xs[None, :])
    assert g[0] == pytest.approx(exact, abs=1e-14)
    assert d[0] == pytest.approx(slope, abs=1e-13)


@pytest.mark.parametrize("n", [3, 50, 3000])
@pytest.mark.parametrize("lam, mu", [(1.0, 0.0), (1.3, -0.05), (3.0, 0.2), (0.5, -0.4), (20.0, 1.0)])
def test_the_grid_is_an_upper_bound_and_a_close_one(n, lam, mu):
    """Against the maximum over 20,001 points: never below it, refined within 2 % of a standard deviation."""
    for p in (0.0, 1e-5, 0.003, 0.2, 0.9):
        x = np.linspace(0, 1, 20_001)[None, :]
        dense = (np.abs(x - p) / 2 - lam * _noise(n, np.array([[p]]), x)[0] - mu * x).max()
        dual = _Dual(n, np.array([p]), np.array([1.0]))
        coarse, fine = dual(lam, mu), dual.refined(lam, mu)
        assert dense <= fine <= coarse + 1e-12
        assert fine - dense <= 0.02 * lam * (np.sqrt(p * (1 - p) / n) + 1 / n) + 1e-6


@pytest.mark.distribution
@pytest.mark.parametrize("law", [uniform, zipf, soft3])
def test_it_covers(law):
    """k = 512, n = 2000, true TV 0 to 0.5 by four kinds of bias, delta 0.1, 20 runs each, seed 1.

    At most 10 % may fall below the truth: 9 of 20 have P 1e-4. (Measured with 100 runs each: none.)
    """
    p, rng = law(512), np.random.default_rng(1)
    quiet = np.where(np.arange(512) % 2 == 0, p, 0) / p[::2].sum()  # fewer cells: less noise than p has
    for truth in (p, spread(p, 0.05, rng), spread(p, 0.2, rng), quiet, 0.9 * p + 0.1 * quiet):
        tv = np.abs(truth - p).sum() / 2
        bounds = np.array([tv_upper_debiased(c, p, delta=0.1) for c in rng.multinomial(2000, truth, size=20)])
        assert np.sum(bounds < tv) < 9


@pytest.mark.distribution
def test_it_needs_fewer_draws_where_cells_are_many():
    """Correct samplers, delta 1e-3, 20 runs, seed 2: uniform 1024 passes TV 0.05 at 117 / 0.05^2 draws, not simply."""
    p, n = uniform(1024), int(117 / 0.05**2)
    counts = np.random.default_rng(2).multinomial(n, p, size=20)
    assert all(tv_upper_debiased(c, p) <= 0.05 for c in counts)
    assert all(tv_upper_bound(c, p) > 0.065 for c in counts)


@pytest.mark.parametrize("law", [uniform(2), soft3(8), soft3(64), np.array([0.5, 0.5, 0.0]), np.array([1.0, 0.0])])
def test_it_is_never_worse_than_the_simple_bound(law):
    for n in (1, 30, 5000):
        counts = np.random.default_rng(n).multinomial(n, law)
        assert 0 <= tv_upper_debiased(counts, law) <= tv_upper_bound(counts, law) + 1e-15


def test_it_is_fast_enough():
    """32,768 cells, 1e6 draws: under 15 s (measured 2 s)."""
    p = soft3(32768)
    counts = np.random.default_rng(3).multinomial(10**6, p)
    started = time.process_time()
    assert tv_upper_debiased(counts, p) < tv_upper_bound(counts, p)
    assert time.process_time() - started < 15


def test_bad_input_is_refused_in_one_line():
    assert tv_upper_debiased([0, 0], [0.5, 0.5]) == 1.0
    for call, message in (
        (lambda: tv_upper_debiased([1, -1], [0.5, 0.5]), "counts must be whole numbers >= 0, got -1.0 at 1"),
        (lambda: tv_upper_debiased([1, 1], [0.5, 0.5], delta=1), "delta must lie strictly between 0 and 1, got 1"),
        (lambda: tv_upper_debiased([1, 1, 1], [0.5, 0.5]), "law must have one entry per cell, got 2 for 3"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
