"""Rules, shapes and the ranking loop."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.core import InputError, Pair, RandomChance, Shape, Slot, build, naive, outcomes, sampled, top_k
from rheocheck.core.builders import rheo
from rheocheck.core.decoder import is_rule
from rheocheck.core.rule import check_slots, tokens_of
from tests.strategies import laws, pairs, shapes

Q = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8))


def test_rheo_slots_by_hand():
    lead, probe, fill = rheo(Q, 3, 1)
    assert (lead.token, lead.weight, lead.claim) == (0, Q[0], None)
    assert probe.law == probe.claim == (0, Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert probe.weight == Fraction(1, 2)  # min{q(x1), z} with z = 1/2: it ties the lead by construction
    assert fill.given == {1: 2, 2: 1, 3: 1}
    assert fill.weight == {1: Q[1], 2: Q[2]}


def test_m0_probes_the_whole_law_above_everything():
    probe, *_ = rheo(Q, 3, 0)
    assert (probe.law, probe.weight) == (Q, Q[0])


@pytest.mark.parametrize(("K", "m"), [(2, 2), (2, 3), (4, 4), (6, 4)])
def test_no_room_or_no_tail_is_plain_top_k(K, m):
    assert rheo(Q, K, m) == naive(Q, K, m) == top_k(Q, K, m)


def test_zeros_are_never_proposed():
    law = (Fraction(0), Fraction(1, 2), Fraction(0), Fraction(1, 2))
    for rule in (top_k, rheo, naive):
        for m in range(4):
            assert {x for slot in rule(law, 4, m) for x in tokens_of(slot)} <= {1, 3}


@given(laws(5), st.integers(1, 7), st.integers(0, 6))
def test_rheo_ranks_fall_with_the_slot(q, K, m):
    """Steep slots: whatever the probe drew, a younger slot never outweighs an elder one; so survivors are a prefix."""
    slots = check_slots(rheo(q, K, m), q)
    drawn = next((slot.law for slot in slots if slot.law is not None), (1,))
    for y in (y for y, mass in enumerate(drawn) if mass):
        weights = []
        for slot in slots:
            token = slot.token if slot.token is not None else y if slot.law is not None else slot.given.get(y)
            if token is not None:
                weights.append(slot.weight_of(token))
        assert weights == sorted(weights, reverse=True)
    assert len(slots) <= K


def test_naive_differs_in_the_probes_rank_alone():
    ours, theirs = rheo(Q, 4, 1), naive(Q, 4, 1)
    assert [s for s in ours if s.law is None] == [s for s in theirs if s.law is None]
    assert theirs[1].law == ours[1].law and theirs[1].claim == ours[1].claim
    assert theirs[1].weight == {1: Q[1], 2: Q[2], 3: Q[3]}


BAD_SLOTS = {
    "nothing held": ([Slot(weight=1)], "exactly one of token, law, given"),
    "two things": ([Slot(token=0, law=Q, weight=1)], "exactly one of token, law, given"),
    "two probes": ([Slot(law=Q, weight=1), Slot(law=Q, weight=1)], "may draw one slot"),
    "fill without probe": ([Slot(given={0: 1}, weight=1)], "depends on the probe"),
    "weight above 1": ([Slot(token=0, weight=Fraction(3, 2))], "must lie in [0, 1], got 3/2"),
    "negative weight": ([Slot(token=0, weight=-1)], "must lie in [0, 1], got -1"),
    "float weight": ([Slot(token=0, weight=0.5)], "rank weight must be exact, an integer or a Fraction, got 0.5"),
    "token outside": ([Slot(token=4, weight=1)], "tokens 0..3"),
    "law too short": ([Slot(law=Q[:2], weight=1)], "law must be 4 exact probabilities that sum to 1"),
    "claim too short": ([Slot(token=0, weight=1, claim=Q[:2])], "claim must be 4 exact probabilities that sum to 1"),
    "weight missing": ([Slot(law=Q, weight={0: Q[0]})], "no rank weight or tie for token 1"),
    "claim no law": ([Slot(token=0, weight=1, claim=(1, 1, 0, 0))], "claim must be 4 exact probabilities"),
    "claim of text": ([Slot(token=0, weight=1, claim="abcd")], "claim must be 4 exact probabilities"),
    "float token": ([Slot(token=0.0, weight=1)], "tokens 0..3 (integers), got 0.0"),
    "text for a tie": ([Slot(token=0, weight=1, tie="z")], "tie must be exact"),
    "no weight": ([Slot(token=0, weight=None)], "rank weight must be exact"),
    "given by text": ([Slot(law=Q, weight=0, claim=Q), Slot(given={"a": 1}, weight=0)], "given must map probe tokens"),
    "no list": (None, "must return a list of Slots, got NoneType"),
    "not a slot": ([(0, 1, None)], "must be a Slot"),
}


@pytest.mark.parametrize("name", BAD_SLOTS)
def test_bad_slots(name):
    slots, wanted = BAD_SLOTS[name]
    with pytest.raises(InputError) as error:
        check_slots(slots, Q)
    assert wanted in str(error.value)


@pytest.mark.parametrize(
    "sizes",
    [{"nodes": -1}, {"depth": 0}, {"branching": 0}, {"leads": -1}, {"frontier": 0}, {"nodes": 1.5}, {"nodes": True}],
)
def test_bad_shapes(sizes):
    with pytest.raises(InputError, match=f"{next(iter(sizes))} must be an integer of at least"):
        Shape(**sizes)


def test_rule_or_builder():
    assert is_rule(rheo) and not is_rule(sampled)
    assert is_rule(lambda q, K, m, strength=2: [])
    assert is_rule(lambda q, K, m, *, strength=2: [])
    for neither in (lambda: None, lambda a: None, "rheo"):
        with pytest.raises(InputError, match="rule.q, K, m. or a callable"):
            is_rule(neither)


def grown_plainly(pair, rule, chance, shape):
    """The ranking as EAGLE-2 states it, every draw made: all layers in full, then the N best of all."""
    layers, frontier = [], [((), 1)]
    for layer in range(1, shape.depth + 1):
        children = []
        for rank, (path, score) in enumerate(frontier):
            q = pair.q(path)
            slots = rule(q, shape.branching, shape.leads)
            y = next((chance.choose(s.law) for s in slots if s.law is not None), None)
            for number, slot in enumerate(slots, 1):
                x = slot.token if slot.token is not None else y if slot.law is not None else slot.given.get(y)
                if x is not None:
                    s = score * slot.weight_of(x)
                    children.append(((-s, layer, rank, number), (*path, x), s))
        children.sort()
        layers += children
        frontier = [(path, s) for _, path, s in children[: shape.width]]
    return frozenset(path for _, path, _ in sorted(layers)[: shape.nodes])


@given(pairs(max_vocab=3), shapes(max_nodes=5, max_depth=2), st.sampled_from([top_k, rheo, naive]))
def test_ranking_equals_the_plain_statement(pair, shape, rule):
    """Skipping the parents that are already out changes no law."""

    def law(program):
        seen = {}
        for weight, result, _ in outcomes(program):
            seen[result] = seen.get(result, 0) + weight
        return seen

    ours = law(lambda chance: frozenset(path for path, _ in build(rule, pair, (), chance, shape).walk()))
    assert ours == law(lambda chance: grown_plainly(pair, rule, chance, shape))


@given(pairs(), shapes(max_nodes=8), st.sampled_from([top_k, rheo, naive, sampled]), st.integers(0, 99))
def test_trees_are_closed_and_within_their_sizes(pair, shape, builder, seed):
    tree = build(builder, pair, (), RandomChance(seed), shape)
    nodes = list(tree.walk())
    paths = [path for path, _ in nodes]
    assert len(nodes) <= shape.nodes
    assert all(len(path) <= shape.depth for path in paths)
    assert len(set(paths)) == len(paths)
    assert all(path[:-1] in {(), *paths} for path in paths)
    for _, node in nodes:
        slots = [child.slot for child in node.children]
        assert slots == sorted(set(slots)) and len(slots) <= shape.branching
        assert sum(node.claim) == 1 and node.claim[node.token] > 0


def test_frontier_limits_who_gets_children():
    pair = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/2", "1/2"]})
    shape = Shape(branching=2, depth=2, nodes=6, frontier=1)
    tree = build(top_k, pair, (), RandomChance(0), shape)
    assert [len(node.children) for node in tree.children] == [2, 0]


def rising(q, K, m):
    """Slots in the order of the tokens, whose best one stands last."""
    return [Slot(token=token, weight=mass) for token, mass in enumerate(q)]


def test_the_frontier_is_the_best_of_a_layer_and_not_its_first():
    pair = Pair(3, {(): ["1/6", "1/3", "1/2"]}, {(): ["1/3", "1/3", "1/3"]})
    tree = build(rising, pair, (), RandomChance(0), Shape(branching=3, depth=2, nodes=6, frontier=1))
    assert {node.token: len(node.children) for node in tree.children} == {0: 0, 1: 0, 2: 3}
