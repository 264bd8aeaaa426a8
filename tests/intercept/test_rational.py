"""The references of the small decoders, checked against what is known without them."""

from fractions import Fraction

import numpy as np
import pytest

from tests.intercept import rational
from tests.intercept.decoders import DECODERS
from tests.intercept.tables import p_exact, q_exact


def test_the_table_is_what_the_issue_asks_for():
    """At least 30 decoders, all with names of their own, from every library, right ones and wrong ones."""
    names = [e.name for e in DECODERS]
    assert len(set(names)) == len(names) >= 30
    for library in ("torch", "random", "numpy", "jax"):
        assert {e.lossless for e in DECODERS if e.name.startswith(library)} >= {True, False}


@pytest.mark.parametrize("drafts, tokens", [(1, 1), (1, 3), (2, 2), (2, 3)])
def test_speculative_sampling_is_lossless(drafts, tokens):
    assert rational.law(rational.chain(drafts), tokens) == rational.target(tokens)


def test_laws_sum_to_one():
    assert all(sum(e.exact.values()) == 1 for e in DECODERS if e.followed)


def test_faulty_decoders_are_far_from_the_target():
    tv = {e.name: rational.total_variation(e.exact, rational.target(e.tokens)) for e in DECODERS if e.lossless is False}
    assert min(tv.values()) > Fraction(1, 100)


def test_race_twice_by_hand():
    """w = (1, 1), v = (1, 2): 0 wins both if E_1 >= 2 E_0, probability 1/3; 1 wins the second in 2/3."""
    joint = rational.race_twice([Fraction(1), Fraction(1)], [Fraction(1), Fraction(2)])
    assert joint == {(0, 0): Fraction(1, 3), (0, 1): Fraction(1, 6), (1, 0): 0, (1, 1): Fraction(1, 2)}


RACES = [(q, rational.residual(p, q)) for p, q in zip(p_exact, q_exact, strict=True)] + [
    ([Fraction(n) for n in w], [Fraction(n) for n in v])
    for w, v in [((1, 2, 3, 4), (4, 3, 2, 1)), ((5, 1, 0, 2), (1, 0, 3, 3)), ((3, 1, 4, 1), (2, 7, 1, 8))]
]


@pytest.mark.parametrize("w, v", RACES)
def test_race_twice_has_the_right_marginals(w, v):
    joint = rational.race_twice(w, v)
    for axis, weights in ((0, w), (1, v)):
        for token, share in enumerate(rational.normalise(weights)):
            assert sum(m for pair, m in joint.items() if pair[axis] == token) == share


@pytest.mark.distribution
@pytest.mark.parametrize("w, v", RACES)
def test_race_twice_against_a_simulation(w, v):
    """400,000 races, seed 3: every pair within five standard errors."""
    n, noise = 400_000, np.random.default_rng(3).exponential(size=(400_000, len(w)))
    a, b = (np.argmax(np.array([float(x) for x in weights]) / noise, axis=1) for weights in (w, v))
    for (x, y), m in rational.race_twice(w, v).items():
        assert abs(np.mean((a == x) & (b == y)) - float(m)) <= 5 * np.sqrt(float(m) / n)
