"""What the engine asks of a verifier's answers, and of a stopped enumeration."""

from fractions import Fraction

import pytest

from rheocheck.core import InputError, Node, Pair, Shape, Tree, one_hot
from rheocheck.core.builders import rheo
from rheocheck.exact import Budget, Witness, forest_of
from rheocheck.exact.node_law import node_law
from rheocheck.exact.variation import certain_excess

THIRDS = (Fraction(1, 3),) * 3
PAIR = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/4", "3/4"]})


def test_a_verifier_may_descend_to_a_kept_child_only():
    """Below another one there is no tree: the walk would have no law."""
    kept = (Node(0, 1, one_hot(3, 0)),)
    assert node_law(lambda p, children, chance: (0, True), THIRDS, kept, ()).descend == {0: 1}
    with pytest.raises(InputError, match=r"may descend to a kept child only \(\[0\]\), got 1"):
        node_law(lambda p, children, chance: (1, True), THIRDS, kept, ())


def test_what_an_interrupted_run_already_proves():
    """Half of the mass was seen, all of it on token 0, which the target gives a quarter; then token 1 after 0."""
    assert certain_excess(PAIR, (), {(0,): Fraction(1, 2)}) == Witness((), 0, Fraction(1, 2), Fraction(1, 4))
    assert certain_excess(PAIR, (), {(0,): Fraction(1, 4)}) is None
    longer = certain_excess(PAIR, (1,), {(1, 1, 0): Fraction(3, 8), (1, 1, 1): Fraction(3, 8)})
    assert longer == Witness((1, 1), 0, Fraction(3, 8), Fraction(3, 16))


def test_a_finished_enumeration_was_not_stopped_and_an_interrupted_one_was():
    shape = Shape(leads=0, branching=2, depth=2, nodes=2)
    whole = Budget()
    forest_of(PAIR, rheo, (), shape, whole)
    exactly = Budget(max_classes=whole.classes)
    assert forest_of(PAIR, rheo, (), shape, exactly).unseen == 0 and exactly.stopped is None
    late = Budget()

    def at_the_last_moment(pair, context, chance, shape):
        late.stopped = "interrupted"
        return Tree()

    assert forest_of(PAIR, at_the_last_moment, (), shape, late).unseen == 0 and late.stopped == "interrupted"
