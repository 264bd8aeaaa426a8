"""Paired intervals of ratios: coverage measured, and an interval that forgets the clusters caught.

H0 of each simulation: the true difference of the two ratios is 0. alpha = 0.05, where 4,000 simulations tell a share of
misses from the nominal one; seed 7. The test accepts shares of misses in 0.035 .. 0.065: four standard errors (0.0034)
and a little for the delta method at 48 prompts. An interval that covers exactly fails with probability below 1e-4.
"""

import numpy as np
import pytest
from scipy.stats import norm

from rheocheck.bench.intervals import interval
from rheocheck.core.errors import InputError

ALPHA, SIMULATIONS, PROMPTS, CYCLES = 0.05, 4000, 48, 20


def simulated(rng, gain=0.0):
    """Tokens and cycles of two methods on prompts that are easy or hard for both, and cycle after cycle alike."""
    ease = rng.normal(3, 0.7, PROMPTS)
    cycles = rng.integers(CYCLES // 2, 2 * CYCLES, (2, PROMPTS))
    own = rng.normal(0, 0.2, (2, PROMPTS))  # of a method on a prompt: its cycles are not independent
    noise = rng.normal(0, 1.2, (2, PROMPTS)) * np.sqrt(cycles)
    tokens = cycles * (ease + own + np.array([[gain], [0.0]])) + noise
    return (tokens[0], cycles[0].astype(float)), (tokens[1], cycles[1].astype(float))


def missed(make, seed=7):
    rng = np.random.default_rng(seed)
    return np.mean([make(*simulated(rng)) for _ in range(SIMULATIONS)])


def ours(a, b):
    found = interval([(1.0, a), (-1.0, b)], ALPHA)
    return found.low > 0 or found.high < 0


def of_cycles(a, b):
    """The planted fault: every cycle taken for independent of the others, with the known spread of one cycle."""
    difference = a[0].sum() / a[1].sum() - b[0].sum() / b[1].sum()
    error = 1.2 * np.sqrt(1 / a[1].sum() + 1 / b[1].sum())
    return abs(difference) > norm.ppf(1 - ALPHA / 2) * error


def test_coverage():
    assert 0.035 < missed(ours) < 0.065


def test_forgetting_the_prompts_is_caught():
    assert missed(of_cycles) > 0.1


def test_a_real_difference_is_found_and_pairing_finds_it():
    rng = np.random.default_rng(3)
    pairs = [simulated(rng, gain=0.3) for _ in range(200)]
    assert np.mean([ours(a, b) for a, b in pairs]) > 0.95
    shuffled = [(a, tuple(part[::-1] for part in b)) for a, b in pairs]  # the same numbers, paired wrongly
    assert np.mean([ours(a, b) for a, b in shuffled]) < 0.8


def test_it_is_the_jackknife_to_first_order():
    """An independent way to the same error: leave one prompt out."""
    a, b = simulated(np.random.default_rng(1))
    full = interval([(1.0, a), (-1.0, b)], ALPHA)

    def without(i):
        return sum(s * np.delete(n, i).sum() / np.delete(d, i).sum() for s, (n, d) in ((1, a), (-1, b)))

    left_out = np.array([without(i) for i in range(PROMPTS)])
    error = np.sqrt((PROMPTS - 1) / PROMPTS * ((left_out - left_out.mean()) ** 2).sum())
    assert full.estimate == pytest.approx(a[0].sum() / a[1].sum() - b[0].sum() / b[1].sum())
    assert (full.high - full.low) / (2 * 2.0117) == pytest.approx(error, rel=0.03)  # t(0.975; 47), from a table


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((np.ones(1), np.ones(1)), "an interval must have at least 2 prompts, got 1; raise --prompts"),
        ((np.zeros(3), np.zeros(3)), "a ratio must have a denominator above 0, got 0"),
    ],
)
def test_no_interval_from_nothing(counts, message):
    with pytest.raises(InputError, match=message):
        interval([(1.0, counts)])
