"""The states of a pair: they tell apart what the tables tell apart, and nothing else."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.core import Pair
from rheocheck.core.automaton import Automaton

HALF, SURE = ["1/2", "1/2"], ["1", "0"]
ROWS = [HALF, SURE, ["1/4", "3/4"]]


@st.composite
def tables(draw):
    """A pair over two tokens whose contexts have up to four tokens; few rows, so that states may merge."""
    contexts = st.lists(st.integers(0, 1), max_size=4).map(tuple)
    model = st.dictionaries(contexts, st.sampled_from(ROWS), max_size=4)
    return Pair(2, {(): HALF} | draw(model), {(): HALF} | draw(model))


def laws(pair, context):
    return pair.q(context), pair.p(context)


def futures(pair, context, length):
    """What comes after a context, read from the tables alone."""
    return [laws(pair, (*context, *word)) for n in range(length + 1) for word in product(range(2), repeat=n)]


@given(tables())
def test_equal_states_are_equal_futures(pair):
    contexts = [word for n in range(6) for word in product(range(2), repeat=n)]
    seen = {}
    for context in contexts:
        assert laws(pair, pair.states.words[pair.state(context)]) == laws(pair, context)
        seen.setdefault(tuple(futures(pair, context, 4)), set()).add(pair.state(context))
    assert all(len(states) == 1 for states in seen.values())
    assert len({min(states) for states in seen.values()}) == len(seen) == len(pair.states.words)


@pytest.mark.parametrize("seed", range(20))
def test_a_step_is_the_state_of_one_token_more(seed):
    rng = random.Random(seed)
    contexts = [tuple(rng.randrange(3) for _ in range(rng.randrange(1, 5))) for _ in range(6)]
    rows = [["1/3", "1/3", "1/3"], ["1/2", "1/4", "1/4"], ["0", "1/2", "1/2"]]
    pair = Pair(3, {(): rows[0]} | {c: rng.choice(rows) for c in contexts}, {(): rows[1]})
    for _ in range(50):
        context = tuple(rng.randrange(3) for _ in range(rng.randrange(7)))
        state = pair.state(context)
        assert [pair.state((*context, x)) for x in range(3)] == list(pair.states.step[state])


def test_states_are_prefixes_of_contexts():
    pair = Pair(2, {(): HALF, (0, 1, 1): SURE}, {(): HALF})
    assert pair.states.words == ((), (0,), (0, 1), (0, 1, 1))
    assert pair.state((1, 0, 0, 1, 1)) == 3


def test_what_nothing_tells_apart_is_one_state():
    """Two contexts with one row, and steps into equal states."""
    pair = Pair(2, {(): HALF, (0,): SURE, (1,): SURE, (0, 1): SURE}, {(): HALF})
    assert pair.states.words == ((), (0,))
    assert pair.states.step == ((1, 1), (1, 1))


def test_a_forgotten_suffix_is_noticed():
    """The control: after 0 1 the word 1 0 0 begins; an automaton that starts anew there has another law."""
    pair = Pair(2, {(): HALF, (0, 1, 1): SURE, (1, 0, 0): ["1/4", "3/4"]}, {(): HALF})
    states = pair.states
    at = states.words.index((0, 1))
    assert pair.q(states.words[states.state((0, 1, 0, 0))]) == pair.q((0, 1, 0, 0))
    step = [list(row) for row in states.step]
    step[at][0] = states.words.index((0,))
    forgetful = Automaton(states.words, tuple(map(tuple, step)), states.longest + 1)
    assert pair.q(states.words[forgetful.state((0, 1, 0, 0))]) != pair.q((0, 1, 0, 0))
