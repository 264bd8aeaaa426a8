"""Combining evidence: against the definitions, at the edges, and what it sees that no single test sees."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.stats.emix import EMix
from rheocheck.stats.suite import LAMBDAS, assertion_alpha, mean, mixed_product
from tests.stats.laws import soft3, spread

logs = st.lists(st.floats(-30, 30), max_size=12)


@given(logs)
def test_mixed_product_is_its_definition(log_es):
    direct = np.mean([np.prod([1 - lam + lam * np.exp(x) for x in log_es]) for lam in LAMBDAS])
    assert mixed_product(log_es) == pytest.approx(np.log(direct), rel=1e-9, abs=1e-9)


@given(logs.filter(bool))
def test_mean_is_its_definition(log_es):
    assert mean(log_es) == pytest.approx(np.log(np.mean(np.exp(log_es))), rel=1e-9, abs=1e-9)


def test_edges():
    assert mixed_product([]) == mean([]) == 0.0
    assert mixed_product([np.inf, -5.0]) == mean([np.inf, -5.0]) == np.inf
    assert mixed_product([-np.inf]) == pytest.approx(np.log(np.mean([1 - lam for lam in LAMBDAS])))
    assert mean([-np.inf, 0.0]) == pytest.approx(np.log(0.5))
    assert mixed_product([5000.0, 5000.0]) > 9990
    assert assertion_alpha() == pytest.approx(1e-9)


@pytest.mark.distribution
def test_the_product_is_an_e_value():
    """Null expectation of the mixed product of two exact e-values is 1: coins, all outcomes of 4 draws twice."""
    mix, p = EMix([0.25, 0.75]), np.array([0.25, 0.75])
    outcomes = list(itertools.product([0, 1], repeat=4))
    e = [(np.prod(p[list(o)]), mix.log_e(np.bincount(o, minlength=2))) for o in outcomes]
    total = sum(a * b * np.exp(mixed_product([x, y])) for (a, x), (b, y) in itertools.product(e, e))
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.distribution
def test_twenty_weak_biases_are_seen_together_and_not_alone():
    """Alternative: 20 tests at one fifth of the planned sample, suite threshold 1e7, single 1e9; 20 suites, seed 1."""
    p, rng = soft3(8), np.random.default_rng(1)
    n = int(0.2 * (20 + 6 / np.sqrt((p**2).sum())) / 0.05**2)
    counts = rng.multinomial(n, spread(p, 0.05, rng), size=(20, 20))
    log_es = [EMix(p).log_e_many(suite) for suite in counts]
    assert np.mean([mixed_product(x) >= np.log(1e7) for x in log_es]) == 1
    assert np.mean([x.max() >= np.log(1e9) for x in log_es]) < 0.2


@pytest.mark.distribution
def test_twenty_perfect_samplers_raise_no_alarm():
    """Null: 200 suites of 20 tests, seed 2; product >= 100 at most 1 % (Ville; expected far less)."""
    p, rng = soft3(8), np.random.default_rng(2)
    products = [mixed_product(EMix(p).log_e_many(rng.multinomial(2000, p, size=20))) for _ in range(200)]
    assert np.mean(np.array(products) >= np.log(100)) <= 0.01


BAD = {
    "NaN": (lambda: mixed_product([0.0, np.nan]), "log_es must not be NaN, got one at 1: rerun"),
    "NaN mean": (lambda: mean([np.nan]), "log_es must not be NaN, got one at 0: rerun"),
    "capacity": (lambda: assertion_alpha(capacity=0), "capacity must be a number of assertions >= 1, got 0"),
    "alpha": (lambda: assertion_alpha(2.0), "suite_alpha must lie strictly between 0 and 1, got 2.0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
