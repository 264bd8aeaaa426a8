"""The exact engine against its slow twin, and the theorems as properties.

Every property of a law comes with planted faults for which it must not hold.
"""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rheocheck.core import (
    BUILDERS,
    VERIFIERS,
    Node,
    Pair,
    Shape,
    Slot,
    Tree,
    build,
    matching,
    naive,
    normalise,
    recursive,
    sampled,
    top_k,
)
from rheocheck.core.builders import rheo
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import Budget, Walk, audit_claims, forest_of, total_variation, verify
from rheocheck.exact.replay import replay
from rheocheck.formats import load_pair
from tests.faulty import accept_always, bonus_from_first, low_proxy, residual_from_p, token_ties
from tests.oracle import measures, target_law, variation, words_of
from tests.strategies import pairs, shapes

pytestmark = pytest.mark.distribution
FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def duplicates(q, K, m):
    """A natural fault: the probe may draw the lead's token, and then two siblings carry it."""
    best = max(range(len(q)), key=lambda x: (q[x], -x))
    return [Slot(token=best, weight=q[best]), Slot(law=q, weight=q[best], claim=q)][:K]


RULES = {
    "duplicates": duplicates,
    "top_k": top_k,
    "rheo": rheo,
    "naive": naive,
    "token ties": token_ties,
    "low proxy": low_proxy,
}
CHECKS = {**VERIFIERS, "accept always": accept_always, "residual from p": residual_from_p, "bonus": bonus_from_first}


@FEW
@given(pairs(), shapes(max_nodes=4, max_depth=2), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CHECKS)))
def test_equals_the_slow_twin(pair, shape, rule, check):
    """Classes, forest and emission give what replaying whole cycles of the core decoder gives, wrong rules included."""
    result = verify(pair, RULES[rule], CHECKS[check], shape)
    got = (result.total_variation, result.first_token_total_variation, result.expected_length)
    assert got == measures(pair, RULES[rule], CHECKS[check], shape)


@MANY
@given(pairs(), shapes(), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CHECKS)))
def test_classes_equal_the_eager_forest(pair, shape, rule, check):
    """Lazily revealed classes and all raw assignments drawn eagerly have the same emission and the same claims."""
    lazy = forest_of(pair, RULES[rule], (), shape)
    eager = replay(pair, RULES[rule], (), shape, Budget(max_classes=20_000))
    assume(eager.unseen == 0)
    one, two = (Walk(pair, forest, CHECKS[check]).emission(()) for forest in (lazy, eager))
    assert one.stops == two.stops
    assert one.visits == two.visits
    assert all(one.emitted_at(context) == two.emitted_at(context) for context in one.visits)
    assert one.kept == two.kept
    assert audit_claims(lazy, pair.vocab_size).labels == audit_claims(eager, pair.vocab_size).labels
    assert sum(lazy.roots.values()) == sum(one.stops.values()) == 1


@MANY
@given(pairs(), shapes(), st.sampled_from(["top_k", "rheo"]), st.sampled_from(sorted(VERIFIERS)))
def test_lossless(pair, shape, builder, verifier):
    result = verify(pair, BUILDERS[builder], VERIFIERS[verifier], shape)
    assert result.verdict == "lossless"
    assert result.total_variation == Fraction(0)
    assert result.witness is None
    assert result.false_claims == 0
    assert result.fallbacks == 0
    assert result.acceptance.root <= result.optimal_acceptance.root
    assert result.acceptance.cycle <= result.optimal_acceptance.cycle


@FEW
@given(pairs(max_vocab=3), shapes(max_nodes=3, max_depth=2), st.sampled_from(["matching", "recursive"]))
def test_sampled_is_lossless(pair, shape, verifier):
    result = verify(pair, sampled, VERIFIERS[verifier], shape)
    assert result.total_variation == Fraction(0)
    assert result.false_claims == 0


@MANY
@given(pairs(), shapes(max_nodes=8), st.sampled_from(sorted(RULES)))
def test_matching_is_lossless_for_every_tree(pair, shape, rule):
    assert verify(pair, RULES[rule], matching, shape).total_variation == 0


@MANY
@given(pairs(), shapes(max_nodes=8), st.sampled_from(sorted(RULES)), st.sampled_from(sorted(CHECKS)))
def test_biased_means_a_witness(pair, shape, rule, check):
    """TV > 0 exactly when some context's law, given that the block continues past it, is not the target's."""
    result = verify(pair, RULES[rule], CHECKS[check], shape)
    assert (result.total_variation > 0) == (result.witness is not None)
    if result.witness:
        assert result.witness.target == pair.p(result.witness.context)[result.witness.token]
        assert result.witness.emitted != result.witness.target


@MANY
@given(pairs(), shapes(max_nodes=8), st.sampled_from(["naive", "token ties", "low proxy"]))
def test_bias_of_an_exact_verifier_means_false_claims(pair, shape, rule):
    """`recursive` is exact for honest claims, so whatever it emits wrongly, a claim was false."""
    result = verify(pair, RULES[rule], recursive, shape)
    assert result.total_variation == 0 or result.false_claims > 0


@MANY
@given(pairs(), shapes(max_nodes=8))
def test_survivors_are_a_slot_prefix(pair, shape):
    """Under RheoSampling the kept children of a node fill its first slots, whatever was drawn."""
    forest = forest_of(pair, rheo, (), shape)
    for family, _ in forest.families:
        assert [forest.kinds[kind].slot for kind in family] == list(range(1, len(family) + 1))


def test_naive_survivors_are_not():
    """The control: a naive probe is overtaken by its fills."""
    pair = Pair(4, {(): ["1/2", "3/10", "3/20", "1/20"]}, {(): ["1/4"] * 4})
    forest = forest_of(pair, naive, (), Shape(leads=1, branching=3, depth=1, nodes=2))
    slots = {tuple(forest.kinds[kind].slot for kind in family) for family, _ in forest.families}
    assert (1, 3) in slots


@pytest.mark.parametrize("rule", ["naive", "token ties", "low proxy"])
@pytest.mark.parametrize("verifier", [recursive, rheo_verifier], ids=["recursive", "rheo"])
def test_each_faulty_rule_is_found(rule, verifier):
    """Somewhere in 200 seeded pairs of one shape each planted rule is biased, and RheoSampling never is."""
    import random

    rng = random.Random(20260929)
    shape = Shape(leads=1, branching=3, depth=2, nodes=4)
    found = 0
    for _ in range(200):
        rows = [[rng.choice([1, 1, 2, 2, 4]) for _ in range(4)] for _ in range(10)]
        contexts = [(), (0,), (1,), (2,), (3,)]
        laws = [[Fraction(w, sum(row)) for w in row] for row in rows]
        pair = Pair(4, dict(zip(contexts, laws[:5], strict=True)), dict(zip(contexts, laws[5:], strict=True)))
        found += verify(pair, RULES[rule], verifier, shape).total_variation > 0
        assert verify(pair, rheo, verifier, shape).total_variation == 0
    assert found > 0


@FEW
@given(
    pairs(max_vocab=3, max_order=1),
    shapes(max_nodes=2, max_depth=1, max_branching=2),
    st.sampled_from(sorted(RULES)),
    st.sampled_from(sorted(CHECKS)),
    st.integers(1, 3),
)
def test_joint_law_over_cycles(pair, shape, rule, check, tokens):
    """The joint law of L tokens over as many cycles as they take, against whole generations replayed."""
    result = verify(pair, RULES[rule], CHECKS[check], shape, tokens=tokens)
    from rheocheck.core import Decoder

    words = words_of(Decoder(pair, RULES[rule], CHECKS[check], shape), tokens)
    assert result.total_variation == variation(words, target_law(pair, tokens))


@MANY
@given(pairs(), shapes(), st.sampled_from(sorted(RULES)), st.integers(1, 12))
def test_interval_holds_the_truth(pair, shape, rule, classes):
    """A budget cuts the enumeration short: the interval must contain the exact value, and never claim lossless."""
    truth = verify(pair, RULES[rule], recursive, shape)
    cut = verify(pair, RULES[rule], recursive, shape, budget=Budget(max_classes=classes))
    assert cut.lower <= truth.total_variation <= cut.upper
    if cut.method == "interval":
        assert cut.classes == classes and cut.covered < 1
        assert cut.verdict == ("biased" if cut.lower > 0 else "inconclusive")
        assert (cut.witness is not None) == (cut.lower > 0)
        blocks = Walk(pair, forest_of(pair, RULES[rule], (), shape), recursive).emission(()).stops
        for length, tv in cut.first_tokens.items():
            ends = {}
            for block, mass in blocks.items():
                ends[block[:length]] = ends.get(block[:length], 0) + mass
            assert tv == total_variation(pair, (), ends), length
        assert cut.first_token_total_variation in (None, truth.first_token_total_variation)
    else:
        assert cut.total_variation == truth.total_variation


def first_tokens(pair, rule, shape, length, first):
    """Total variation of the first tokens, from the whole forest or from its top layers alone."""
    stops = Walk(pair, forest_of(pair, rule, (), shape, first=first), rheo_verifier).emission(()).stops
    ends = {}
    for block, mass in stops.items():
        ends[block[:length]] = ends.get(block[:length], 0) + mass
    return total_variation(pair, (), ends)


@MANY
@given(pairs(), shapes(max_nodes=8), st.sampled_from(["rheo", "naive", "low proxy"]), st.integers(1, 3))
def test_top_layers_decide_the_first_tokens(pair, shape, rule, length):
    """Deeper nodes compete for the budget too: leaving them out keeps other shallow nodes."""
    assert first_tokens(pair, RULES[rule], shape, length, length) == first_tokens(
        pair, RULES[rule], shape, length, None
    )


def test_top_layers_of_the_demonstration_pair():
    """The first token of naive there is off by 1/5, and by 0 if the second layer did not compete."""
    pair, shape = load_pair("toy_models.survival_bias:pair"), Shape(leads=1, branching=3, depth=2, nodes=4)
    assert first_tokens(pair, naive, shape, 1, 1) == Fraction(1, 5)


def test_first_tokens_when_the_whole_is_out_of_reach():
    """The ladder: the first l tokens need what decides the top l layers, often fewer classes than the whole."""
    import random

    rng = random.Random(3)
    rows = iter([[rng.randint(1, 24) for _ in range(6)] for _ in range(14)])
    contexts = [(), *((x,) for x in range(6))]

    def table():
        return {c: [Fraction(w, sum(row)) for w in row] for c, row in ((c, next(rows)) for c in contexts)}

    pair = Pair(6, table(), table())
    shape = Shape(leads=1, branching=3, depth=3, nodes=9)
    truth = verify(pair, naive, recursive, shape)
    cut = verify(pair, naive, recursive, shape, budget=Budget(max_classes=truth.classes // 2))
    assert cut.method == "interval"
    assert 1 in cut.first_tokens
    from rheocheck.core import Decoder
    from tests.oracle import block_law, completed

    small = Shape(leads=1, branching=2, depth=2, nodes=4)
    small_truth = verify(pair, naive, recursive, small)
    small_cut = verify(pair, naive, recursive, small, budget=Budget(max_classes=small_truth.classes - 1))
    law = block_law(Decoder(pair, naive, recursive, small))
    for length, tv in small_cut.first_tokens.items():
        assert tv == variation(completed(pair, law, length), target_law(pair, length))


@pytest.mark.parametrize("tokens", [None, 3])
def test_a_longer_context_is_its_state(tokens):
    """A Markov pair forgets all but the last token: the law after (1, 0) is the law after (0,)."""
    pair = Pair(
        3,
        {(): ["1/3", "1/3", "1/3"], (0,): ["1/2", "3/8", "1/8"], (1,): ["1/4", "1/4", "1/2"]},
        {(): ["1/2", "1/4", "1/4"], (0,): ["1/8", "1/4", "5/8"], (1,): ["1/2", "1/4", "1/4"]},
    )
    shape = Shape(leads=0, branching=2, depth=2, nodes=3)
    short, long = (verify(pair, naive, recursive, shape, context=c, tokens=tokens) for c in ((0,), (1, 0)))
    assert short.total_variation == long.total_variation > 0
    assert (1, *short.witness.context) == long.witness.context


def test_user_code_is_given_fractions():
    """Whatever type the engine counts in, rules, builders and verifiers see the standard library's Fraction."""
    pair = Pair(3, {(): ["1/2", "1/3", "1/6"]}, {(): ["1/4", "1/4", "1/2"]})

    def rule(q, K, m):
        assert all(type(x) is Fraction for x in q)
        return rheo(normalise(q), K, m)

    def builder(pair, context, chance, shape):
        assert type(pair.q(context)[0]) is Fraction
        return build(rheo, pair, context, chance, shape)

    def verifier(p, children, chance):
        assert all(type(x) is Fraction for law in (p, *(child.claim for child in children)) for x in law)
        coin = Fraction(256 * children[0].claim[0] // 1, 256) if children else Fraction(1)
        return recursive(p, children, chance) if coin <= 1 else (0, False)

    for build_ in (rule, builder):
        result = verify(pair, build_, verifier, Shape(leads=1, branching=2, depth=2, nodes=3))
        assert result.total_variation == 0
        assert type(result.total_variation) is type(result.expected_length) is Fraction


def test_claims_of_later_cycles_count():
    """A builder that lies from the second cycle on: the first cycle's claims are all honest."""
    pair = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/3", "2/3"]})

    def stale(pair, context, chance, shape):
        y = chance.choose(pair.q(context))
        return Tree((Node(y, 1, normalise([1, 3]) if context else pair.q(context)),))

    one, two = (verify(pair, stale, recursive, Shape(), tokens=tokens) for tokens in (1, 3))
    assert (one.total_variation, one.false_claims) == (0, 0)
    assert two.total_variation > 0 and two.false_claims > 0


def test_no_nodes_is_plain_target_sampling():
    pair = Pair(3, {(): ["1/2", "1/4", "1/4"]}, {(): ["1/3", "1/3", "1/3"]})
    result = verify(pair, shape=Shape(nodes=0))
    assert (result.verdict, result.expected_length, result.assignments) == ("lossless", 1, "1")
    assert verify(pair, verifier=bonus_from_first, shape=Shape(nodes=0)).verdict == "biased"


def test_interval_total_is_a_bound_not_a_point():
    """Half an enumeration of a lossless decoder must not read as lossless."""
    pair = Pair(4, {(): ["1/4"] * 4, (0,): ["1/2", "1/4", "1/8", "1/8"]}, {(): ["7/10", "1/10", "1/10", "1/10"]})
    shape = Shape(leads=0, branching=3, depth=3, nodes=8)
    cut = verify(pair, rheo, recursive, shape, budget=Budget(max_classes=2))
    assert (cut.method, cut.verdict, cut.total_variation) == ("interval", "inconclusive", None)
    assert 0 == cut.lower < cut.upper < 1
    assert cut.stopped == "max_classes"


def test_raw_assignments():
    """V=8 K=4 D=4 m=1: the root and 4 nodes in each of 3 layers, 7 tokens each."""
    law = [Fraction(i + 1, 36) for i in range(8)]
    pair = Pair(8, {(): law}, {(): law})
    result = verify(pair, rheo, matching, Shape(leads=1, branching=4, depth=4, nodes=16))
    assert result.assignments == str(7**13)
    zeros = Pair(3, {(): ["1/2", "1/2", 0], (0,): ["1/3", "1/3", "1/3"]}, {(): ["1/3", "1/3", "1/3"]})
    assert verify(zeros, rheo, matching, Shape(leads=0, branching=2, depth=2, nodes=4)).assignments == f"<={3**3}"


def test_total_variation_of_partial_stops():
    pair = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/4", "3/4"]})
    assert total_variation(pair, (), {(0,): Fraction(1, 2)}) == Fraction(1, 4)
    assert total_variation(pair, (), {(0,): Fraction(1, 4), (1, 1): Fraction(3, 4)}) == Fraction(3, 4) * Fraction(1, 4)
