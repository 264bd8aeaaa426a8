"""The hypotheses of the losslessness theorem: each has a fault that breaks it alone, and every such fault is biased."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheocheck.core import BUILDERS, VERIFIERS, Pair, Shape, naive, recursive, sampled
from rheocheck.core.builders import rheo
from rheocheck.core.ranking import draw, grow
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import hypotheses, verify
from tests.faulty import low_proxy, token_ties
from tests.strategies import pairs, shapes

pytestmark = pytest.mark.distribution
MANY = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
ALL = ["weight_blind", "tie_blind", "steep", "law_sampled", "fresh_draws"]

STEEP = Pair(3, {(): ["3/5", "1/5", "1/5"]}, {(): ["1/5", "2/5", "2/5"]})
TIED = Pair(3, {(): ["1/4", "1/2", "1/4"]}, {(): ["1/2", "1/4", "1/4"]})
UNEVEN = Pair(3, {(): ["1/2", "3/10", "1/5"]}, {(): ["1/4", "1/4", "1/2"]})


def lucky(q, K, m):
    """A probe that weighs the lead's proxy when it drew the better token, and no more than a fill when it did not."""
    slots = rheo(q, K, m)
    return [slot if slot.law is None else replace(slot, weight=_lucky(slot)) for slot in slots]


def _lucky(slot):
    best = max(slot.law)
    first = slot.law.index(best)
    return {y: slot.weight if y == first else Fraction(1, 5) for y, mass in enumerate(slot.law) if mass}


def below_fills(q, K, m):
    """A probe at 4/5 of its weight: blind, but behind a fill that may be better."""
    return [slot if slot.law is None else replace(slot, weight=slot.weight * Fraction(4, 5)) for slot in rheo(q, K, m)]


def claims_q(q, K, m):
    """A probe drawn from the tail that claims to be drawn from the whole of q."""
    return [slot if slot.law is None else replace(slot, claim=q) for slot in rheo(q, K, m)]


class Reused:
    """A chance that draws once for each law and gives the same token again whenever it is asked again."""

    def __init__(self, chance):
        self.chance, self.drawn = chance, {}

    def choose(self, weights):
        key = tuple(weights)
        if key not in self.drawn:
            self.drawn[key] = self.chance.choose(weights)
        return self.drawn[key]


def reused_draws(pair, context, chance, shape):
    """RheoSampling whose nodes share their draws."""
    once = Reused(chance)
    return grow(lambda at: draw(rheo, pair, at, once, shape), context, shape)


FAULTS = {
    "weight_blind": (lucky, STEEP, Shape(leads=1, branching=3, depth=2, nodes=2)),
    "tie_blind": (token_ties, TIED, Shape(leads=1, branching=2, depth=1, nodes=1)),
    "steep": (below_fills, UNEVEN, Shape(leads=0, branching=2, depth=1, nodes=1)),
    "law_sampled": (claims_q, UNEVEN, Shape(leads=1, branching=2, depth=1, nodes=2)),
    "fresh_draws": (reused_draws, UNEVEN, Shape(leads=0, branching=1, depth=2, nodes=2)),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("verifier", [recursive, rheo_verifier], ids=["recursive", "rheo"])
def test_each_fault_breaks_one_hypothesis_and_is_biased(name, verifier):
    builder, pair, shape = FAULTS[name]
    found = hypotheses(pair, builder, shape)
    assert [broken for broken, reason in found.items() if reason] == [name]
    assert verify(pair, builder, verifier, shape).total_variation > 0


@pytest.mark.parametrize("name", ALL)
def test_the_honest_builder_on_the_same_pair(name):
    _, pair, shape = FAULTS[name]
    assert hypotheses(pair, rheo, shape) == dict.fromkeys(ALL)
    assert verify(pair, rheo, rheo_verifier, shape).total_variation == 0


@MANY
@given(
    pairs(),
    shapes(),
    st.sampled_from([rheo, BUILDERS["top_k"], naive, token_ties, low_proxy, lucky, below_fills, claims_q]),
    st.sampled_from(sorted(VERIFIERS)),
)
def test_what_satisfies_them_is_lossless(pair, shape, builder, verifier):
    if not any(hypotheses(pair, builder, shape).values()):
        assert verify(pair, builder, VERIFIERS[verifier], shape, method="exact").total_variation == 0


@MANY
@given(pairs(), shapes(max_nodes=99, max_depth=5), st.sampled_from(["top_k", "rheo"]))
def test_the_builders_of_the_core_satisfy_them(pair, shape, builder):
    assert hypotheses(pair, BUILDERS[builder], shape) == dict.fromkeys(ALL)


def test_a_callable_builder_is_asked_for_its_claims():
    assert hypotheses(UNEVEN, sampled, Shape(branching=2, depth=2, nodes=3)) == {"fresh_draws": None}
    assert "below path (0,)" in hypotheses(*_reused())["fresh_draws"]


def _reused():
    builder, pair, shape = FAULTS["fresh_draws"]
    return pair, builder, shape


def test_reasons_name_the_place():
    found = hypotheses(STEEP, naive, Shape(leads=1, branching=3, depth=2, nodes=2))
    assert found["weight_blind"] is None  # 1/5 and 1/5: here naive cannot tell
    found = hypotheses(UNEVEN, naive, Shape(leads=0, branching=2, depth=2, nodes=2))
    assert found["weight_blind"] == "at context '': the rank weight of slot 1 depends on the token drawn in it"
    assert found["steep"] == "at context '': slot 2 weighs 1/2, more than the slot before it (3/10)"
