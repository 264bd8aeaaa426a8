"""Chance: exact weights when replayed, exact probabilities when sampled."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from scipy.stats import chisquare

from rheocheck.core import InputError, RandomChance, outcomes
from tests.strategies import laws


def test_outcomes_are_weighed_and_complete():
    def program(chance):
        if chance.flip(Fraction(1, 3)):
            return chance.choose([Fraction(1, 2), Fraction(1, 2)])
        chance.note("tails")
        return 2

    seen = [(result, weight, notes) for weight, result, notes in outcomes(program)]
    assert sorted(seen) == [(0, Fraction(1, 6), []), (1, Fraction(1, 6), []), (2, Fraction(2, 3), ["tails"])]


def test_impossible_and_forced_branches_are_not_visited():
    runs = []

    def program(chance):
        runs.append(chance.choose([0, 3, 0]) + chance.flip(2) + chance.flip(-1))

    assert [weight for weight, *_ in outcomes(program)] == [1]
    assert runs == [2]


def test_integer_weights_stay_rational():
    assert {w for w, *_ in outcomes(lambda chance: chance.choose([1, 2]))} == {Fraction(1, 3), Fraction(2, 3)}


def test_float_coins_are_exact():
    """A float is taken as the binary number it is, replayed or sampled."""
    weights = {result: weight for weight, result, _ in outcomes(lambda chance: chance.flip(0.3))}
    assert weights == {True: Fraction(0.3), False: 1 - Fraction(0.3)}
    assert sum(w for w, *_ in outcomes(lambda chance: chance.choose([0.1, 0.2, 0.3]))) == 1


def test_endless_programs_are_refused():
    def endless(chance):
        while True:
            chance.flip(Fraction(1, 2))

    with pytest.raises(InputError, match="does it end"):
        next(iter(outcomes(endless)))


@pytest.mark.parametrize("weights", [[], [0, 0], [1, -1]])
def test_bad_weights(weights):
    with pytest.raises(InputError, match="non-negative with a positive sum"):
        RandomChance(0).choose(weights)
    with pytest.raises(InputError, match="non-negative with a positive sum"):
        list(outcomes(lambda chance: chance.choose(weights)))


@given(laws(4))
def test_impossible_tokens_are_never_sampled(law):
    chance = RandomChance(0)
    assert all(law[chance.choose(law)] > 0 for _ in range(50))


@pytest.mark.distribution
def test_random_chance_samples_the_law():
    """Null: choose() follows its weights. Chi-square over 4 cells, n = 20,000, alpha = 1e-3, seed 1; power against
    the control below, whose TV is 1/40, is above 0.999 (noncentrality 20,000 * 1/200 = 100)."""
    law = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
    chance = RandomChance(1)
    counts = Counter(chance.choose(law) for _ in range(20_000))
    observed = [counts[i] for i in range(4)]
    assert chisquare(observed, [20_000 * float(x) for x in law]).pvalue >= 1e-3
    wrong = [20_000 * float(x) for x in (Fraction(19, 40), Fraction(11, 40), Fraction(1, 8), Fraction(1, 8))]
    assert chisquare(observed, wrong).pvalue < 1e-3


def test_seeds_reproduce():
    draws = [[chance.flip(Fraction(1, 2)) for _ in range(64)] for chance in map(RandomChance, (5, 5, 6))]
    assert draws[0] == draws[1] != draws[2]
