"""The engine and the certificate count by the states of a pair: few where the tables tell few contexts apart."""

from fractions import Fraction
from itertools import product

import pytest

from rheocheck import Pair, Shape, certify, load_pair, verify
from rheocheck.core.builders import naive, rheo
from rheocheck.core.verifiers import recursive
from rheocheck.exact import Walk, forest_of, optimal_acceptance
from toy_models.random_family import random_pair

U, W = ["2/5", "3/10", "1/5", "1/10"], ["1/10", "1/5", "3/10", "2/5"]
ONE_LONG_ROW = Pair(4, {(): U, (0, 1, 2, 3): W}, {(): W, (0, 1, 2, 3): U})


def test_one_long_row_makes_five_states():
    """By the last four tokens it would be 582 classes, and 341 contexts of the certificate."""
    found = verify(ONE_LONG_ROW, rheo, recursive, Shape(leads=1, branching=3, depth=2, nodes=4), tokens=6)
    assert (found.verdict, found.total_variation, found.classes) == ("lossless", 0, 10)
    sure = certify(ONE_LONG_ROW, rheo, recursive, Shape(leads=1, branching=4, depth=6, nodes=30))
    assert (sure.lossless, sure.contexts) == (True, 5)


@pytest.mark.parametrize("builder, biased", [(rheo, False), (naive, True)])
def test_the_law_is_that_of_whole_contexts(builder, biased):
    """Every context of up to four tokens has a row of its own: no two are one state unless their futures are equal."""
    pair = ONE_LONG_ROW
    contexts = [word for n in range(5) for word in product(range(4), repeat=n)]
    spelled = Pair(4, {c: pair.q(c) for c in contexts}, {c: pair.p(c) for c in contexts})
    shape = Shape(leads=1, branching=3, depth=2, nodes=4)
    found, again = (verify(one, builder, recursive, shape, context=(0, 1)) for one in (pair, spelled))
    assert found.total_variation == again.total_variation and (found.total_variation > 0) == biased


def test_a_large_vocabulary_of_one_state_is_quick_to_push():
    """V = 132 and one row: two nodes with equal children are asked once, a bonus token is not spelled out."""
    pair = load_pair("toy_models.one_sided_truncation:pair")
    found = verify(pair)
    assert (found.verdict, found.classes, len(pair.states.words)) == ("lossless", 127, 1)


def test_a_bonus_that_is_not_the_targets_is_spelled_out():
    """The control: a verifier that draws the bonus from the drafter has it counted token by token."""

    def bonus_from_q(p, children, chance):
        token, child = recursive(p, children, chance) if children else (chance.choose(pair.q(())), None)
        return token, child

    pair = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/4", "3/4"]})
    shape = Shape(leads=1, branching=2, depth=1, nodes=2)
    assert verify(pair, rheo, bonus_from_q, shape).total_variation > 0
    assert verify(pair, rheo, recursive, shape).total_variation == Fraction(0)


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_every_node_by_itself(seed):
    """Nodes in one state that keep the same sets share one transport: not one number, which goes by their visits."""
    pair, shape = random_pair(seed), Shape(leads=1, branching=3, depth=2, nodes=5)
    emission = Walk(pair, forest_of(pair, rheo, (), shape), recursive).emission(())
    each = {context: optimal_acceptance(pair.p(context), kept) for context, kept in emission.kept.items()}
    best = verify(pair, rheo, recursive, shape).optimal_acceptance
    assert (best.root, best.cycle) == (each[()], sum(each.values()) / emission.expected_length)
