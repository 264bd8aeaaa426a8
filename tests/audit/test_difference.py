"""The interval for TV of two laws, of which each may be known in part: it holds the exact value, and is never empty."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.audit.difference import Difference

WORDS = [(i,) for i in range(5)]
weights = st.lists(st.integers(0, 6), min_size=5, max_size=5).filter(any)
shares = st.lists(st.sampled_from([0, Fraction(1, 3), 1]), min_size=5, max_size=5)


def law(values):
    return [Fraction(value, sum(values)) for value in values]


def seen(probabilities, parts):
    """What is known of a law, and what is not."""
    known = [p * part for p, part in zip(probabilities, parts, strict=True)]
    return {w: float(p) for w, p in zip(WORDS, known, strict=True) if p}, float(1 - sum(known))


@given(weights, weights, shares, shares)
def test_the_interval_holds_the_exact_value(a, b, of_a, of_b):
    a, b = law(a), law(b)
    exact = float(sum(max(Fraction(0), x - y) for x, y in zip(a, b, strict=True)))
    (emitted, unseen), (reference, reference_unseen) = seen(a, of_a), seen(b, of_b)
    found = Difference(emitted, reference, unseen, reference_unseen)
    assert 0 <= found.lower <= exact + 1e-12
    assert exact - 1e-12 <= found.upper <= 1
    if found.complete:
        assert found.lower == pytest.approx(exact, abs=1e-12) == found.upper


@given(weights, weights, shares)
def test_a_decided_word_is_true_of_every_completion(a, b, of_a):
    """No word is ever withdrawn when the enumeration goes on."""
    a, b = law(a), law(b)
    emitted, unseen = seen(a, of_a)
    reference, _ = seen(b, [1] * 5)
    whole = Difference(seen(a, [1] * 5)[0], reference, 0.0, 0.0)
    word = Difference(emitted, reference, unseen, 0.0).word(1e-6, 1e-6)
    assert word in ("inconclusive", whole.word(1e-6, 1e-6))


def test_the_worked_line():
    found = Difference({(0,): 1 / 2, (1,): 1 / 4}, {(0,): 1 / 4, (1,): 3 / 4}, 1 / 4, 0.0)
    assert (found.lower, found.upper, found.complete) == (1 / 4, 1 / 2, False)


def test_what_is_impossible_needs_a_whole_reference():
    emitted = {(0,): 0.5, (1,): 0.5}
    assert Difference(emitted, {(0,): 1.0}, 0.0, 0.0).impossible == 0.5
    assert Difference(emitted, {(0,): 0.9}, 0.0, 0.1).impossible == 0
