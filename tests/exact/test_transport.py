"""Optimal acceptance by max-flow equals its definition over all 2^V token sets."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.core import Shape
from rheocheck.core.builders import rheo
from rheocheck.core.builders.order import ranked
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import optimal_acceptance, verify
from tests.strategies import laws, pairs


def by_definition(p, kept):
    total = sum(kept.values())
    sets = chain.from_iterable(combinations(range(len(p)), n) for n in range(len(p) + 1))
    return min(
        total * sum((p[x] for x in H), Fraction(0)) + total - sum(m for s, m in kept.items() if s <= set(H))
        for H in sets
    )


@given(laws(5), st.dictionaries(st.frozensets(st.integers(0, 4)), st.fractions(0, 1, max_denominator=20), min_size=1))
def test_equals_the_minimum_over_all_sets(p, kept):
    assert optimal_acceptance(p, kept) == by_definition(p, kept)


def test_by_hand():
    p = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    kept = {frozenset({0}): Fraction(1, 2), frozenset({1}): Fraction(1, 2)}
    assert optimal_acceptance(p, kept) == Fraction(3, 4)  # min(1/2, 1/2) + min(1/4, 1/2)
    assert optimal_acceptance(p, {frozenset(): Fraction(1)}) == 0


@pytest.mark.distribution
@given(pairs(min_vocab=3), st.integers(0, 2))
def test_rheo_attains_the_optimum_without_fills(pair, m):
    """K = m + 1 leaves no fills: acceptance p(leads) + sum over the tail of min(p, q~), the optimum."""
    q, p = pair.q(()), pair.p(())
    result = verify(pair, rheo, rheo_verifier, Shape(leads=m, branching=m + 1, depth=1, nodes=m + 1))
    assert result.acceptance.root == result.optimal_acceptance.root
    leads, tail = ranked(q)[:m], ranked(q)[m:]
    z = sum((q[x] for x in tail), Fraction(0))
    expected = sum((p[x] for x in leads), Fraction(0)) + sum((min(p[x], q[x] / z) for x in tail), Fraction(0))
    assert result.acceptance.root == expected
