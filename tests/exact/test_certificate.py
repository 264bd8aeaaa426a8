"""The certificate: never wrong, and present for everything that is lossless by construction."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheocheck.core import BUILDERS, VERIFIERS, Pair, Shape, matching, naive, recursive, sampled, top_k
from rheocheck.core.builders import rheo
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import certify, verify
from tests.faulty import accept_always, bonus_from_first, low_proxy, residual_from_p, token_ties
from tests.strategies import pairs, shapes

pytestmark = pytest.mark.distribution
MANY = settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
RULES = {"top_k": top_k, "rheo": rheo, "naive": naive, "token ties": token_ties, "low proxy": low_proxy}


def zero_lead(q, K, m):
    """RheoSampling whose lead ranks 0: below it every score ties at 0."""
    return [replace(slot, weight=0) if slot.token is not None else slot for slot in rheo(q, K, m)]


RULES["zero lead"] = zero_lead
CHECKS = {**VERIFIERS, "accept always": accept_always, "residual from p": residual_from_p, "bonus": bonus_from_first}
PAIR = Pair(
    4,
    {(): ["1/2", "1/4", "1/8", "1/8"], (0,): ["2/5", "3/10", "1/5", "1/10"]},
    {(): ["1/4", "1/4", "1/4", "1/4"], (0,): ["1/10", "1/5", "3/10", "2/5"]},
)


@MANY
@given(pairs(), shapes(max_nodes=7), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CHECKS)))
def test_certified_means_lossless(pair, shape, rule, check):
    if certify(pair, RULES[rule], CHECKS[check], shape).lossless:
        assert verify(pair, RULES[rule], CHECKS[check], shape, method="exact").total_variation == 0


@MANY
@given(
    pairs(), shapes(max_nodes=99, max_depth=9), st.sampled_from(["top_k", "rheo"]), st.sampled_from(sorted(VERIFIERS))
)
def test_rheo_and_top_k_are_certified_at_any_size(pair, shape, builder, verifier):
    assert certify(pair, BUILDERS[builder], VERIFIERS[verifier], shape).lossless


@MANY
@given(
    pairs(max_vocab=3),
    shapes(max_nodes=3, max_depth=1),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(sorted(CHECKS)),
    st.integers(1, 3),
)
def test_certified_over_cycles_means_lossless(pair, shape, rule, check, tokens):
    if certify(pair, RULES[rule], CHECKS[check], shape, tokens=tokens).lossless:
        assert verify(pair, RULES[rule], CHECKS[check], shape, tokens=tokens, method="exact").total_variation == 0


def test_later_cycles_are_looked_at():
    """A pair that is flat up to one token and steep from two on: naive is exact for one cycle, not for two."""
    steep = {(x, y): ["6/10", "3/10", "1/10"] for x in range(3) for y in range(3)}
    pair = Pair(3, {(): ["1/3", "1/3", "1/3"], **steep}, {(): ["1/3", "1/3", "1/3"]})
    shape = Shape(leads=1, branching=3, depth=1, nodes=2)
    assert verify(pair, naive, recursive, shape).total_variation == 0
    assert verify(pair, naive, recursive, shape, tokens=4).total_variation > 0
    assert not certify(pair, naive, recursive, shape, tokens=4).lossless
    assert verify(pair, naive, recursive, shape, tokens=4, method="certificate").verdict == "inconclusive"


def test_a_rank_weight_of_zero_is_refused():
    assert "rank weight is 0" in certify(PAIR, zero_lead, recursive, Shape()).reason


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"zero lead"}))
def test_matching_is_certified_for_any_tree(rule):
    assert certify(PAIR, RULES[rule], matching, Shape()).lossless


@pytest.mark.parametrize("rule", ["naive", "token ties", "low proxy"])
@pytest.mark.parametrize("verifier", [recursive, rheo_verifier], ids=["recursive", "rheo"])
def test_faulty_rules_are_refused(rule, verifier):
    certificate = certify(PAIR, RULES[rule], verifier, Shape())
    assert not certificate.lossless
    assert "depends on the probe's token" in certificate.reason or "behind the probe" in certificate.reason


@pytest.mark.parametrize("check", ["accept always", "residual from p", "bonus"])
def test_faulty_verifiers_are_refused(check):
    assert not certify(PAIR, rheo, CHECKS[check], Shape()).lossless


def test_builders_hide_their_ranks():
    assert "only a rule" in certify(PAIR, sampled, recursive, Shape()).reason


def test_contexts_out_of_reach_do_not_count():
    """The drafter proposes token 0 alone, so no cycle passes through context (1,), whatever the verifier does there."""
    pair = Pair(2, {(): [1, 0]}, {(): ["1/2", "1/2"], (1,): [1, 0]})
    assert (certify(pair, rheo, recursive, Shape(leads=0)).contexts, len(pair.states.words)) == (1, 2)


def test_verify_returns_it():
    result = verify(PAIR, rheo, recursive, Shape(nodes=59, depth=8, branching=10), method="certificate")
    assert (result.verdict, result.method, result.total_variation) == ("lossless", "certificate", Fraction(0))
    assert result.assumes and result.expected_length is None and result.acceptance is None
    refused = verify(PAIR, naive, recursive, Shape(), method="certificate")
    assert (refused.verdict, refused.total_variation, refused.upper) == ("inconclusive", None, 1)
    assert refused.reason


def test_a_wrong_claim_is_refused():
    def claims_q(q, K, m):
        return [replace(slot, claim=q) if slot.law else slot for slot in rheo(q, K, m)]

    reason = certify(PAIR, claims_q, recursive, Shape()).reason
    assert "on average" in reason
    assert verify(PAIR, claims_q, recursive, Shape()).total_variation > 0
