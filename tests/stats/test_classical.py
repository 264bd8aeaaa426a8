"""Classical tests: against scipy, their level on perfect samplers, and the bias that each is for."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from rheocheck.stats.chi_square import chi_square
from rheocheck.stats.classical import g_test, max_cell, min_p, octave_chi_square
from tests.stats.laws import BIASES, LAWS, soft3, uniform

TESTS = {"G": g_test, "octaves": octave_chi_square, "max cell": max_cell, "min-p": min_p}


def test_g_agrees_with_scipy_where_nothing_is_pooled():
    counts, p = np.array([30, 52, 41, 77]), np.array([0.2, 0.25, 0.25, 0.3])
    theirs = scipy_stats.power_divergence(counts, 200 * p, lambda_="log-likelihood")
    ours = g_test(counts, p)
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_max_cell_agrees_with_scipy():
    counts, p = np.array([30, 52, 41, 77]), np.array([0.2, 0.25, 0.25, 0.3])
    cdf, sf = scipy_stats.binom.cdf(counts, 200, p), scipy_stats.binom.sf(counts - 1, 200, p)
    assert max_cell(counts, p).p_value == pytest.approx(min(1, 4 * (2 * np.minimum(cdf, sf)).min()), rel=1e-10)
    assert max_cell([0, 40], [0.5, 0.5]).p_value == pytest.approx(2 * 2 * 0.5**40)
    assert max_cell([5], [1.0]).p_value == 1.0


def test_octaves_are_a_chi_square_of_groups():
    # floor(-log2 p): 0.4 -> 1, 0.3 -> 1, 0.2 -> 2, 0.1 -> 3
    ours = octave_chi_square([800, 200, 300, 100], [0.4, 0.3, 0.2, 0.1])
    by_hand = chi_square([1000, 300, 100], [0.7, 0.2, 0.1])
    assert (ours.statistic, ours.p_value) == pytest.approx((by_hand.statistic, by_hand.p_value))


def test_min_p_is_three_times_the_smallest():
    counts, p = [300, 200, 250, 250], uniform(4)
    result = min_p(counts, p)
    assert result.p_value == pytest.approx(3 * min(result.p_values.values()))
    assert result.p_values[result.best] == min(result.p_values.values())
    assert min_p([25, 25, 25, 25], p).p_value == 1.0


@pytest.mark.distribution
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("k", [8, 64])
def test_level_on_a_perfect_sampler(law, k):
    """Null; 1500 runs at alpha 0.01, n = 5000, seed 1: 15 alarms expected, 33 have P 5e-5. CALIBRATION.md has 1e-3."""
    p = LAWS[law](k)
    counts = np.random.default_rng(1).multinomial(5000, p, size=1500)
    for name, test in TESTS.items():
        assert sum(test(c, p).p_value < 0.01 for c in counts) <= 33, name


@pytest.mark.distribution
@pytest.mark.parametrize(
    "bias, name", [("cell", "max cell"), ("tail", "octaves"), ("spread", "G"), *((bias, "min-p") for bias in BIASES)]
)
def test_each_rejects_the_bias_it_is_for(bias, name):
    """Alternative: TV 0.05 on soft3 64, n = 15,000, alpha 1e-6; 50 of 50 runs, seed 2 (power > 99.9 % each)."""
    p, rng = soft3(64), np.random.default_rng(2)
    counts = rng.multinomial(15_000, BIASES[bias](p, 0.05, rng), size=50)
    assert all(TESTS[name](c, p).p_value < 1e-6 for c in counts)


@pytest.mark.parametrize("name", TESTS)
def test_impossible_cells(name):
    test = TESTS[name]
    assert test([500, 500, 1], [0.5, 0.5, 0.0]).p_value == 0.0
    assert test([0, 0, 1], [0.5, 0.5, 0.0]).p_value == 0.0
    assert test([480, 520, 0], [0.5, 0.5, 0.0]).p_value == test([480, 520], [0.5, 0.5]).p_value
    assert test([0, 0], [0.5, 0.5]).p_value == 1.0


@pytest.mark.parametrize("name", TESTS)
def test_bad_input_is_refused_in_one_line(name):
    bad = [
        (([1, float("nan")], [0.5, 0.5]), "counts must be whole numbers >= 0, got nan at 1"),
        (([1, 1], [0.5, 0.6]), "law must sum to 1 within 1e-9, got 1.1"),
        (([1, 1, 1], [0.5, 0.5]), "law must have one entry per cell, got 2 for 3 counts"),
    ]
    for (counts, law), message in bad:
        with pytest.raises(ValueError, match=message) as caught:
            TESTS[name](counts, law)
        assert "\n" not in str(caught.value)
