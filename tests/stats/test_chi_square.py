"""Chi-square: reference numbers from elsewhere, its calibration and power, and what it must refuse."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from rheocheck.stats import (
    chi_square,
    chi_square_two_sample,
    smallest_detectable_tv,
    total_variation,
    tv_upper_bound,
)
from rheocheck.stats.chi_square import MIN_EXPECTED, _noncentrality, pool

# A head and a tail down to 1e-7, as a language model has: softmax of N(0, 3^2) logits.
LONG_TAIL = np.exp(np.random.default_rng(7).normal(0, 3, 64))
LONG_TAIL /= LONG_TAIL.sum()


def test_mendels_peas():
    # 9:3:3:1, Mendel 1866; chi-square 0.470, df 3, p = 0.925 in any textbook, e.g. Sokal & Rohlf.
    result = chi_square([315, 108, 101, 32], np.array([9, 3, 3, 1]) / 16)
    assert result.statistic == pytest.approx(0.470, abs=5e-4)
    assert (result.df, result.samples, result.hidden_mass) == (3, 556, 0.0)
    assert result.p_value == pytest.approx(0.925, abs=5e-4)


@pytest.mark.parametrize("df, published", [(1, 7.849), (2, 9.635), (3, 10.903), (4, 11.935), (5, 12.828)])
def test_noncentrality_agrees_with_the_published_table(df, published):
    # alpha 0.05, power 0.80: Haynam, Govindarajulu & Leone (1970), the table behind Cohen (1988) chapter 7.
    assert _noncentrality(df, 0.05, 0.80, 0.0) == pytest.approx(published, abs=2e-3)


@pytest.mark.parametrize(
    "cells, alpha, published",
    [(8, 1e-3, 56.7), (8, 1e-6, 82.1), (64, 1e-6, 141.6), (1024, 1e-6, 410.3), (32768, 1e-9, 2400)],
)  # fmt: skip
def test_noncentrality_agrees_with_statsmodels(cells, alpha, published):
    # statsmodels 0.15.0, GofChisquarePower, power 0.999.
    assert _noncentrality(cells - 1, alpha, 0.999, 0.0) == pytest.approx(published, rel=1e-3)


def test_agrees_with_scipy_where_nothing_is_pooled():
    counts = np.array([30, 52, 41, 77])
    p = np.array([0.2, 0.25, 0.25, 0.3])
    theirs = scipy_stats.chisquare(counts, counts.sum() * p)
    ours = chi_square(counts, p)
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def test_two_samples_agree_with_scipys_contingency_table():
    a, b = np.array([30, 52, 41, 77]), np.array([61, 80, 120, 99])
    theirs = scipy_stats.chi2_contingency([a, b], correction=False)
    ours = chi_square_two_sample(a, b)
    assert (ours.statistic, ours.p_value, ours.df) == pytest.approx(
        (theirs.statistic, theirs.pvalue, theirs.dof), rel=1e-12
    )


@pytest.mark.distribution
@pytest.mark.parametrize("law", [np.full(8, 1 / 8), LONG_TAIL], ids=["uniform 8", "long tail 64"])
def test_false_alarms_of_a_perfect_sampler(law):
    """10000 runs at alpha 0.01: 100 alarms expected; outside 55..145 (4.5 sigma) has probability 7e-6."""
    rng = np.random.default_rng(20260101)
    alarms = sum(chi_square(c, law).p_value < 0.01 for c in rng.multinomial(2000, law, size=10_000))
    assert 55 <= alarms <= 145


@pytest.mark.distribution
def test_false_alarms_of_two_equal_samplers():
    """4000 runs at alpha 0.01: 40 expected; outside 12..68 (4.5 sigma) has probability 1e-5."""
    rng = np.random.default_rng(20260102)
    a = rng.multinomial(2000, LONG_TAIL, size=4000)
    b = rng.multinomial(1000, LONG_TAIL, size=4000)
    alarms = sum(chi_square_two_sample(x, y).p_value < 0.01 for x, y in zip(a, b, strict=True))
    assert 12 <= alarms <= 68


def spread(law, tv):
    """The hardest bias of this TV: equal relative shifts, half of the mass up and half down."""
    up = np.arange(len(law)) % 2 == 0
    biased = law * np.where(up, 1 + 2 * tv, 1 - 2 * tv)
    assert total_variation(law, biased) == pytest.approx(tv)
    return biased


@pytest.mark.distribution
def test_power_is_what_is_promised_for_the_hardest_bias():
    """2000 runs at power 0.9: 1800 expected; outside 1740..1860 (4.5 sigma) has probability 1e-5."""
    law, alpha, n = np.full(8, 1 / 8), 1e-3, 4000
    tv = smallest_detectable_tv(law, n, alpha, power=0.9)
    rng = np.random.default_rng(20260103)
    found = sum(chi_square(c, law).p_value < alpha for c in rng.multinomial(n, spread(law, tv), size=2000))
    assert 1740 <= found <= 1860


@pytest.mark.distribution
def test_a_bias_hidden_inside_a_pooled_cell_is_not_claimed_to_be_found():
    """All mass of each pooled cell moved to its smallest member: invisible, and not claimed."""
    n = 2000
    cells = pool(n * LONG_TAIL)
    hidden = np.zeros_like(LONG_TAIL)
    for cell in range(cells.max() + 1):
        members = np.flatnonzero(cells == cell)
        hidden[members[LONG_TAIL[members].argmin()]] = LONG_TAIL[members].sum()
    tv = total_variation(hidden, LONG_TAIL)
    assert chi_square(np.random.default_rng(5).multinomial(n, hidden), LONG_TAIL).p_value > 1e-3
    assert chi_square(np.zeros(64, int) + 1, LONG_TAIL).hidden_mass >= tv / 2
    assert smallest_detectable_tv(LONG_TAIL, n, 1e-3) > tv > 0.01


@pytest.mark.distribution
def test_a_law_within_its_tolerance_keeps_the_level():
    """True law off by a factor 1 +- 0.05 per cell: rtol = 0 rejects it, rtol = 0.05 does not."""
    law, n = np.full(8, 1 / 8), 20_000
    rng = np.random.default_rng(20260105)
    counts = rng.multinomial(n, spread(law, 0.025), size=500)
    strict = [chi_square(c, law).p_value for c in counts]
    tolerant = [chi_square(c, law, rtol=0.05).p_value for c in counts]
    assert np.mean(np.array(strict) < 0.01) > 0.95
    assert np.mean(np.array(tolerant) < 0.01) < 0.03
    assert np.all(np.array(tolerant) >= np.array(strict))


@pytest.mark.distribution
def test_the_upper_bound_covers():
    """delta = 0.05, 2000 runs of each kind: at most 5 % may lie below the true TV."""
    law, n = LONG_TAIL, 500
    biased = 0.9 * law + 0.1 * law[::-1]
    truth = total_variation(law, biased)
    rng = np.random.default_rng(20260106)
    counts = rng.multinomial(n, biased, size=2000)
    assert np.mean([tv_upper_bound(c, law, delta=0.05) < truth for c in counts]) <= 0.05


def test_the_upper_bound_by_hand():
    # TV((6/10, 4/10), (1/2, 1/2)) = 0.1; sqrt(ln(1000) / 20) = 0.58770
    assert tv_upper_bound([6, 4], [0.5, 0.5]) == pytest.approx(0.1 + math.sqrt(math.log(1000) / 20))
    assert tv_upper_bound([1, 0], [0.5, 0.5]) == 1.0
    assert tv_upper_bound([0, 0], [0.5, 0.5]) == 1.0


def test_a_hit_on_an_impossible_cell_decides():
    result = chi_square([500, 500, 1, 0], [0.5, 0.5, 0, 0])
    assert (result.p_value, result.zero_cells, result.samples) == (0.0, (2,), 1000)


def test_an_impossible_cell_without_a_hit_does_nothing():
    with_zero = chi_square([480, 520, 0], [0.5, 0.5, 0])
    assert (with_zero.p_value, with_zero.df) == (chi_square([480, 520], [0.5, 0.5]).p_value, 1)


@pytest.mark.parametrize(
    "counts, law", [([7], [1.0]), ([7, 0], [1.0, 0.0]), ([5, 5], [0.5, 0.5]), ([0, 0], [0.5, 0.5])]
)
def test_one_cell_is_never_an_alarm(counts, law):
    result = chi_square(counts, law)
    assert (result.df, result.p_value) == (0, 1.0)


def test_too_few_draws_can_find_nothing():
    assert smallest_detectable_tv(np.full(4, 0.25), 10, 1e-3) == 1.0
    assert smallest_detectable_tv(np.full(4, 0.25), 0, 1e-3) == 1.0


def test_a_law_with_one_possible_cell_is_decided_by_its_impossible_ones():
    # A bias of TV t puts t on impossible cells; n draws miss it with probability (1 - t)^n = 0.001.
    assert smallest_detectable_tv([1.0, 0.0], 100, 1e-6) == pytest.approx(1 - 0.001 ** (1 / 100))


expectations = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60)


@settings(max_examples=200, deadline=None)
@given(expectations)
def test_pooling_keeps_every_cell_and_reaches_the_minimum(expected):
    e = np.array(expected)
    cells = pool(e)
    sums = np.bincount(cells, weights=e)
    assert sorted(set(cells)) == list(range(len(sums)))
    assert len(sums) == 1 or sums.min() >= MIN_EXPECTED * (1 - 1e-9)
    big = np.flatnonzero(e >= MIN_EXPECTED)
    assert len(set(cells[big])) == len(big), "cells that are large enough stay apart"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=30).filter(any), st.integers(0, 2**32 - 1))
def test_the_order_of_cells_does_not_matter(counts, seed):
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.ones(len(counts)))
    order = rng.permutation(len(counts))
    one, other = chi_square(counts, law), chi_square(np.array(counts)[order], law[order])
    assert 0 <= one.p_value <= 1
    assert one.p_value == pytest.approx(other.p_value, rel=1e-6, abs=1e-300)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=30))
def test_two_samples_are_symmetric(pairs):
    a, b = zip(*pairs, strict=True)
    one, other = chi_square_two_sample(a, b), chi_square_two_sample(b, a)
    assert 0 <= one.p_value <= 1
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9)


BAD = {
    "NaN count": (([float("nan"), 1], [0.5, 0.5]), "counts must be whole numbers >= 0, got nan at 0"),
    "negative count": (([1, -2], [0.5, 0.5]), "counts must be whole numbers >= 0, got -2.0 at 1"),
    "fractional count": (([1.5, 1], [0.5, 0.5]), "got 1.5 at 0: pass how often each cell was hit"),
    "NaN law": (([1, 1], [float("nan"), 0.5]), "law must be probabilities >= 0, got nan at 0"),
    "infinite law": (([1, 1], [float("inf"), 0.5]), "law must be probabilities >= 0, got inf at 0"),
    "negative law": (([1, 1], [1.5, -0.5]), "law must be probabilities >= 0, got -0.5 at 1"),
    "sum": (([1, 1], [0.5, 0.6]), "law must sum to 1 within 1e-9, got 1.1: divide it by its sum"),
    "float32 sum": (([1, 1, 1], np.float32([1 / 3, 1 / 3, 0.3333]).tolist()), "must sum to 1 within 1e-9"),
    "lengths": (([1, 1], [0.2, 0.3, 0.5]), "law must have one entry per cell, got 3 for 2 counts"),
    "shape": (([[1, 1]], [0.5, 0.5]), r"counts must be one row of at least one cell, got shape \(1, 2\)"),
    "empty": (([], []), "counts must be one row of at least one cell"),
    "words": ((["a", "b"], [0.5, 0.5]), "counts must be a list of numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line(name):
    (counts, law), message = BAD[name]
    for function in (chi_square, tv_upper_bound):
        with pytest.raises(ValueError, match=message) as caught:
            function(counts, law)
        assert "\n" not in str(caught.value)


def test_bad_levels_are_refused():
    with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1, got 0"):
        smallest_detectable_tv([0.5, 0.5], 100, 0)
    with pytest.raises(ValueError, match="rtol must be a finite number >= 0, got -1"):
        chi_square([1, 1], [0.5, 0.5], rtol=-1)
