"""The joint law of a target, and the cells it is told apart by."""

import numpy as np
import pytest

from rheocheck.audit.target import as_target, joint_law
from tests.audit import subjects


def test_the_joint_law_is_the_product_along_the_word():
    joint = joint_law(as_target(subjects.CHAIN), (), 2, 0.0)
    expected = [1 / 10, 1 / 5, 1 / 5, 0, 1 / 8, 1 / 8, 1 / 8, 1 / 16, 1 / 16]
    assert joint.law == pytest.approx(expected, abs=1e-15)
    assert joint.index(np.array([[0, 0], [1, 2], [2, 1]])).tolist() == [0, 5, 7]
    assert joint.cells.tolist() == list(range(9))
    assert set(joint.rows) == {(), (0,), (1,), (2,)}


def test_the_joint_law_starts_at_the_context():
    joint = joint_law(as_target(subjects.CHAIN), (2, 0), 1, 0.0)
    assert joint.law == pytest.approx([0.2, 0.4, 0.4])


def test_laws_are_not_asked_where_the_target_cannot_come():
    asked = []

    def law(context):
        asked.append(context)
        return [1.0, 0.0] if context == () else [0.5, 0.5]

    joint = joint_law(as_target(law), (), 3, 1e-6)
    assert joint.law == pytest.approx([0.25] * 4 + [0] * 4)
    assert (1,) not in asked


class Law:
    """Three tokens; after token 1, token 2 is a boundary token, and 0 is impossible."""

    def __call__(self, context):
        return [0.0, 1.0, 0.0] if context[-1:] == (1,) else [0.5, 0.5, 0.0]

    def boundary(self, context):
        return [2] if context[-1:] == (1,) else []


def test_words_through_a_boundary_context_are_one_cell_and_impossible_words_are_not_in_it():
    joint = joint_law(as_target(Law()), (), 2, 1e-6)
    words = {(x, y): 3 * x + y for x in range(3) for y in range(3)}
    assert joint.boundary == {(1,): frozenset({2})}
    assert joint.cells[words[1, 1]] == joint.cells[words[1, 2]] == words[1, 1]
    assert joint.cells[words[1, 0]] == words[1, 0]
    assert joint.of_cells(joint.law) == pytest.approx([0.25, 0.25, 0, 0, 0.5, 0, 0, 0, 0])


def test_an_outer_boundary_swallows_an_inner_one():
    class Twice(Law):
        def boundary(self, context):
            return [2] if context in ((), (1,)) else []

    joint = joint_law(as_target(Twice()), (), 3, 1e-6)
    merged = joint.of_cells(joint.law)
    assert merged.max() == pytest.approx(1.0)
    assert merged.sum() == pytest.approx(1.0)
