"""Bounds on total variation: by hand, coverage of biased samplers, and what is only for reading."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from rheocheck.stats.bounds import anytime_width, mean_empirical_tv, tv_lower, tv_upper_anytime
from rheocheck.stats.plan import looks
from tests.stats.laws import BIASES, soft3, uniform


def test_width_by_hand():
    # delta = 1e-3: 2 ln 500 = 12.4292, ln(1 + 12.4292) = 2.5975, r = n_opt / 4 / 15.0267; at n = n_opt,
    # w sqrt(n) = sqrt(2 * (1 + 1/15.0267) / 4 * ln(1 + sqrt(16.0267) * 500)) = sqrt(0.53327 * 7.6021) = 2.0135
    assert anytime_width(10_000, 1e-3, 10_000) == pytest.approx(2.0135 / 100, rel=1e-4)
    assert anytime_width(0, 1e-3, 1) == np.inf


def test_width_is_tightest_where_it_was_asked_to_be():
    at = [anytime_width(10_000, 1e-3, n_opt) for n_opt in (100, 1000, 10_000, 100_000, 10**6)]
    assert min(at) == at[2] and at[0] < 1.25 * at[2] and at[4] < 2.5 * at[2]
    widths = [anytime_width(n, 1e-3, 10_000) for n in (10, 100, 10**4, 10**6)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.distribution
def test_the_anytime_width_covers_at_all_times():
    """delta = 0.05; 2000 walks of fair coins, every n from 1 to 3000 looked at, seed 1: at most 5 % may ever cross."""
    steps = np.random.default_rng(1).integers(0, 2, size=(2000, 3000))
    n = np.arange(1, 3001)
    means = np.cumsum(steps, axis=1) / n
    widths = np.array([anytime_width(int(x), 0.05, 500) for x in n])
    assert np.mean(np.any(means < 0.5 - widths, axis=1)) <= 0.05


@pytest.mark.distribution
@pytest.mark.parametrize("bias", BIASES)
def test_the_anytime_bound_covers(bias):
    """True TV 0.1, delta 0.05, looks x1.25 from 50 to 5000, 1000 runs, seed 2: at most 5 % may ever fall below it."""
    p, rng, runs, n = soft3(8), np.random.default_rng(2), 1000, 0
    truth, counts, missed = BIASES[bias](p, 0.1, rng), np.zeros((1000, 8)), np.zeros(runs, dtype=bool)
    for at in looks(50):
        if at > 5000:
            break
        counts, n = counts + rng.multinomial(at - n, truth, size=runs), at
        missed |= [tv_upper_anytime(c, p, delta=0.05, n_opt=1000) < 0.1 for c in counts]
    assert missed.mean() <= 0.05


def test_the_upper_bound_by_hand():
    # TV((6/10, 4/10), (1/2, 1/2)) = 0.1
    assert tv_upper_anytime([600, 400], [0.5, 0.5], n_opt=1000) == pytest.approx(0.1 + anytime_width(1000, 1e-3, 1000))
    with_tolerance = tv_upper_anytime([600, 400], [0.5, 0.5], n_opt=1000, rtol=0.02)
    assert with_tolerance == pytest.approx(0.11 + anytime_width(1000, 1e-3, 1000))
    assert tv_upper_anytime([0, 0], [0.5, 0.5], n_opt=1) == tv_upper_anytime([1, 0], [0.5, 0.5], n_opt=1) == 1.0


@pytest.mark.distribution
@pytest.mark.parametrize("bias", BIASES)
def test_the_lower_bound_covers_and_finds(bias):
    """True TV 0.1, delta 0.05, two halves of 2000, 1000 runs, seed 3.

    Clopper-Pearson is nearly exact here, so 50 bounds above the truth are expected; 81 are 4.5 sigma. 90 % exceed 0.03.
    """
    p, rng = soft3(8), np.random.default_rng(3)
    truth = BIASES[bias](p, 0.1, rng)
    halves = zip(rng.multinomial(2000, truth, size=1000), rng.multinomial(2000, truth, size=1000), strict=True)
    bounds = np.array([tv_lower(a, b, p, delta=0.05) for a, b in halves])
    assert np.sum(bounds > 0.1) <= 81
    assert np.mean(bounds > 0.03) > 0.9


def test_the_lower_bound_by_hand():
    # A = {0} (70 of 100 where 50 are expected); Clopper-Pearson for 65 of 100 at 0.05: 0.5639
    low = scipy_stats.binomtest(65, 100, alternative="greater").proportion_ci(0.95).low
    assert tv_lower([70, 30], [65, 35], [0.5, 0.5], delta=0.05) == pytest.approx(low - 0.5)
    assert tv_lower([70, 30], [0, 100], [0.5, 0.5], delta=0.05) == 0.0
    assert tv_lower([0, 0], [0, 0], [0.5, 0.5], delta=0.05) == 0.0


@pytest.mark.parametrize("n, p", [(1, [0.5, 0.5]), (7, [0.6, 0.3, 0.1]), (50, [0.98, 0.02]), (40, [0.25] * 4)])
def test_mean_empirical_tv_against_enumeration(n, p):
    x = np.arange(n + 1)
    mean = sum((scipy_stats.binom.pmf(x, n, q) * np.abs(x - n * q)).sum() for q in p) / (2 * n)
    assert mean_empirical_tv(p, n) == pytest.approx(mean, rel=1e-10)


def test_mean_empirical_tv_tends_to_its_limit():
    p = uniform(64)
    assert mean_empirical_tv(p, 10**8) * 1e4 == pytest.approx(np.sqrt(p * (1 - p) / (2 * np.pi)).sum(), rel=1e-4)
    assert mean_empirical_tv([1.0, 0.0], 10) == 0


BAD = {
    "delta": (lambda: tv_upper_anytime([1, 1], [0.5, 0.5], delta=0, n_opt=1), "delta must lie strictly between"),
    "n_opt": (lambda: tv_upper_anytime([1, 1], [0.5, 0.5], n_opt=0), "n_opt must be a number of draws >= 1, got 0"),
    "n": (lambda: anytime_width(float("nan"), 0.1, 1), "n must be a number of draws >= 0, got nan"),
    "rtol": (lambda: tv_upper_anytime([1, 1], [0.5, 0.5], n_opt=1, rtol=-1), "rtol must be a finite number >= 0"),
    "counts": (lambda: tv_lower([1, -1], [1, 1], [0.5, 0.5], delta=0.1), "counts_first_half must be whole numbers"),
    "second": (lambda: tv_lower([1, 1], [1, 0.5], [0.5, 0.5], delta=0.1), "counts_second_half must be whole numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
