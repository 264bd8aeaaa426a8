"""The joint law of a target: which words it counts, their law, and the cells they are told apart by."""

import numpy as np
import pytest

from rheocheck.audit.joint_law import joint_law, longest_joint_law
from rheocheck.audit.target import Target, as_target
from rheocheck.core.errors import InputError
from tests.audit import subjects


def test_the_joint_law_is_the_product_along_the_word():
    joint = joint_law(as_target(subjects.CHAIN), (), 2, 0.0)
    assert joint.words().tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]
    assert joint.law == pytest.approx([1 / 10, 1 / 5, 1 / 5, 1 / 8, 1 / 8, 1 / 8, 1 / 16, 1 / 16], abs=1e-15)
    assert joint.index(np.array([[0, 0], [1, 2], [2, 1], [1, 0], [3, 0], [-1, 0]])).tolist() == [0, 4, 6, 8, 8, 8]
    assert joint.cells.tolist() == list(range(9))
    assert joint.cell_law() == pytest.approx([*joint.law, 0.0])
    assert set(joint.rows) == {(), (0,), (1,), (2,)}


def test_the_law_of_fewer_tokens_is_part_of_it():
    joint = joint_law(as_target(subjects.CHAIN), (), 3, 0.0)
    for tokens in (1, 2):
        alone = joint_law(as_target(subjects.CHAIN), (), tokens, 0.0)
        assert joint.first(tokens).law == pytest.approx(alone.law)
        assert set(joint.first(tokens).rows) == set(alone.rows)


def test_the_joint_law_starts_at_the_context():
    joint = joint_law(as_target(subjects.CHAIN), (2, 0), 1, 0.0)
    assert joint.law == pytest.approx([0.2, 0.4, 0.4])


def test_laws_are_not_asked_where_the_target_cannot_come():
    asked = []

    def law(context):
        asked.append(context)
        return [1.0, 0.0] if context == () else [0.5, 0.5]

    joint = joint_law(as_target(law), (), 3, 1e-6)
    assert joint.law == pytest.approx([0.25] * 4)
    assert (1,) not in asked


class TopThree:
    """The three tokens after the last one, of a vocabulary of 49,152, as {token: p}."""

    vocab_size = 49_152

    def __call__(self, context):
        last = context[-1] if context else 0
        return {(last * 7 + 11 * i) % self.vocab_size: p for i, p in enumerate((0.5, 0.3, 0.2))}


def test_a_sparse_law_is_counted_by_its_possible_words():
    joint = joint_law(as_target(TopThree()), (), 3, 1e-6)
    assert len(joint.law) == 27 and joint.law.sum() == pytest.approx(1)
    word = [22, 7 * 22 + 11, 7 * (7 * 22 + 11)]
    assert joint.law[joint.index(np.array([word]))[0]] == pytest.approx(0.2 * 0.3 * 0.5)
    assert joint.index(np.array([[22, 22, 22], [2**62, 0, 0]])).tolist() == [27, 27]


def test_a_dense_law_with_zeros_is_the_same_as_the_sparse_one():
    def dense(context):
        row = np.zeros(49_152)
        for token, p in TopThree()(context).items():
            row[token] = p
        return row

    sparse, same = (joint_law(as_target(law), (), 3, 1e-6) for law in (TopThree(), dense))
    assert np.array_equal(sparse.words(), same.words()) and np.array_equal(sparse.law, same.law)


def test_a_sparse_law_need_not_say_its_vocabulary():
    target = as_target(lambda context: {10**9: 0.25, 3: 0.75})
    assert target.vocab_size is None
    assert joint_law(target, (), 2, 1e-6).words().tolist()[1] == [3, 10**9]
    with pytest.raises(InputError, match="must map token ids >= 0 to probabilities, got -1"):
        joint_law(as_target(lambda context: {-1: 1.0}), (), 1, 1e-6)


@pytest.mark.parametrize(
    "law, message",
    [
        ({-1: 1.0}, r"must map token ids 0..49151 to probabilities, got -1"),
        ({49_152: 1.0}, "got 49152"),
        ({0.5: 1.0}, "got 0.5"),
        ({True: 1.0}, "got True"),
        ({}, "got none"),
        ({0: 0.5}, "must sum to 1, got 0.5"),
        ({0: 1.5, 1: -0.5}, "must be probabilities >= 0"),
        ({0: "x"}, "must return numbers, it raised ValueError"),
    ],
)
def test_a_broken_sparse_law_is_one_clear_line(law, message):
    target = Target(lambda context: law, 49_152, None, exact=False)
    with pytest.raises(InputError, match=message):
        joint_law(target, (), 1, 1e-6)


def test_only_so_many_words_are_counted():
    """8^6 words are; 8^7 are more than 2^20, and that is found out without asking for their laws."""
    asked = []

    def law(context):
        asked.append(context)
        return np.full(8, 1 / 8)

    assert len(joint_law(as_target(law), (), 6, 1e-6).law) == 8**6
    with pytest.raises(InputError, match="at most 1048576 words, got more of 7 tokens: .*, or fewer tokens"):
        joint_law(as_target(law), (), 7, 1e-6)
    assert max(len(context) for context in asked) == 5
    asked.clear()
    assert longest_joint_law(as_target(law), (), 40, 1e-6).tokens == 5
    assert len(asked) < 5000


def test_words_that_soon_have_one_way_to_go_on_are_counted_however_long():
    joint = joint_law(as_target(lambda context: [0.5, 0.5] if len(context) < 3 else [0.0, 1.0]), (), 60, 1e-6)
    assert len(joint.law) == 8


class Law:
    """Three tokens; after token 1, token 2 is a boundary token, and 0 is impossible."""

    def __call__(self, context):
        return [0.0, 1.0, 0.0] if context[-1:] == (1,) else [0.5, 0.5, 0.0]

    def boundary(self, context):
        return [2] if context[-1:] == (1,) else []


def test_words_through_a_boundary_context_are_one_cell_and_impossible_words_are_not_in_it():
    joint = joint_law(as_target(Law()), (), 2, 1e-6)
    assert joint.words().tolist() == [[0, 0], [0, 1], [1, 1], [1, 2]]
    assert joint.boundary == {(1,): frozenset({2})}
    assert joint.cells.tolist() == [0, 1, 2, 2, 4]
    assert joint.index(np.array([[1, 0]])).tolist() == [4]
    assert joint.cell_law() == pytest.approx([0.25, 0.25, 0.5, 0, 0])


def test_an_outer_boundary_swallows_an_inner_one():
    class Twice(Law):
        def boundary(self, context):
            return [2] if context in ((), (1,)) else []

    merged = joint_law(as_target(Twice()), (), 3, 1e-6).cell_law()
    assert merged.max() == pytest.approx(1.0)
    assert merged.sum() == pytest.approx(1.0)
