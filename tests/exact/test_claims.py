"""The claims audit, and the honest twin as an independent oracle."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rheocheck.core import Decoder, Node, Pair, RandomChance, Shape, Tree, matching, naive, recursive, sampled
from rheocheck.core.builders import rheo
from rheocheck.exact import audit_claims, forest_of, relabel, verify
from tests.faulty import low_proxy, token_ties
from tests.strategies import pairs, shapes

pytestmark = pytest.mark.distribution
FEW = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
NAIVE_PAIR = Pair(
    4,
    {(): ["1/2", "3/10", "3/20", "1/20"], (0,): ["2/5", "3/10", "1/5", "1/10"]},
    {(): ["1/4", "1/4", "1/4", "1/4"], (0,): ["1/10", "1/5", "3/10", "2/5"]},
)
CUT = Shape(leads=1, branching=3, depth=1, nodes=2)


def test_naive_claims_are_false_by_hand():
    """N = 2: the probe (own q: 3/10, 3/20, 1/20) is kept only if it beats the fill: only if it drew token 1."""
    forest = forest_of(NAIVE_PAIR, naive, (), CUT)
    audit = audit_claims(forest, 4)
    assert audit.count() == 1
    ((path, _, slot, _),) = audit.false
    assert (path, slot) == ((), 2)
    assert audit.labels[next(iter(audit.false))] == (0, 1, 0, 0)
    assert audit_claims(forest_of(NAIVE_PAIR, rheo, (), CUT), 4).count() == 0


def test_a_lying_one_hot_claim_is_false():
    def liar(pair, context, chance, shape):
        y = chance.choose(pair.q(context))
        return Tree((Node(y, 1, (Fraction(1), Fraction(0), Fraction(0), Fraction(0))),))

    result = verify(NAIVE_PAIR, liar, recursive, CUT)
    assert result.false_claims == 1


@FEW
@given(pairs(max_vocab=3), shapes(max_nodes=5, max_depth=2), st.sampled_from([naive, token_ties, low_proxy]))
def test_relabelled_is_lossless_under_recursive(pair, shape, rule):
    """Honest claims and a verifier exact for them: the same trees under the true conditional laws have TV 0."""
    twin = verify(pair, relabel(rule), recursive, shape)
    assert twin.total_variation == 0
    assert twin.false_claims == 0


def test_relabelling_is_what_made_it_lossless():
    shape = Shape(leads=1, branching=3, depth=2, nodes=4)
    before, after = (verify(NAIVE_PAIR, builder, recursive, shape) for builder in (naive, relabel(naive)))
    assert before.total_variation > 0 and before.false_claims > 0
    assert after.total_variation == 0 and after.false_claims == 0


@FEW
@given(pairs(max_vocab=3), shapes(max_nodes=4, max_depth=2))
def test_relabelling_honest_claims_changes_no_law(pair, shape):
    """RheoSampling's claims are the true laws already: the twin emits the same blocks with the same probabilities."""
    ours, twin = (verify(pair, builder, recursive, shape) for builder in (rheo, relabel(rheo)))
    assert (ours.expected_length, ours.acceptance) == (twin.expected_length, twin.acceptance)


@FEW
@given(pairs(max_vocab=3), shapes(max_nodes=3, max_depth=2))
def test_relabel_takes_builders_too(pair, shape):
    assume(shape.branching < 3)
    assert verify(pair, relabel(sampled), recursive, shape).total_variation == 0


def test_relabelled_samples_like_any_builder():
    decoder = Decoder(NAIVE_PAIR, relabel(naive), recursive, CUT)
    assert len(decoder.generate((), 5, RandomChance(1))) >= 5


def test_the_path_matters():
    """Conditioning on tokens alone, without the elder siblings on the path, would call these claims honest.

    The younger child's subtree is told which token its elder sibling drew: its probe follows the elder's token, and
    its claim is the average. The verifier has seen the elder, so given that the claim is false - and the output is
    biased, which is why the audit counts it."""
    half = (Fraction(1, 2), Fraction(1, 2), Fraction(0))
    pair = Pair(3, {(): half}, {(): ["2/5", "1/5", "2/5"]})

    def whispering(pair, context, chance, shape):
        elder = chance.choose(half)
        below = Node(elder, 1, half)
        third = (Fraction(0), Fraction(0), Fraction(1))
        return Tree((Node(elder, 1, half), Node(2, 2, third, (below,))))

    result = verify(pair, whispering, recursive, Shape())
    assert result.total_variation > 0
    assert result.false_claims == 1  # the claim after token 2, false whichever token the elder drew
    assert verify(pair, whispering, matching, Shape()).total_variation == 0
    assert verify(pair, relabel(whispering), recursive, Shape()).total_variation == 0
