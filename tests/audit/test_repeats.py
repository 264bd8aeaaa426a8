"""Repetitions without a law: fair under independence by enumeration, and what they see."""

import itertools
import math

import numpy as np
import pytest

from rheocheck.audit.evidence import Draws
from rheocheck.audit.repeats import Repeats

P = np.array([0.6, 0.3, 0.1])


def neighbours(words):
    n = len(words)
    return Draws(np.asarray(words)[:, None], np.arange(n), np.zeros(n, dtype=np.int64))


def calls(words):
    n = len(words)
    return Draws(np.asarray(words)[:, None], np.zeros(n, dtype=np.int64), np.arange(n))


def grid(words):
    """Calls of three rows each."""
    n = len(words)
    return Draws(np.asarray(words)[:, None], np.arange(n) % 3, np.arange(n) // 3)


@pytest.mark.distribution
@pytest.mark.parametrize("placed", [neighbours, calls, grid])
def test_the_null_expectation_is_one(placed):
    """Over all 3^6 outcomes of two triples from a law that the bet does not know."""
    total = 0.0
    for words in itertools.product(range(3), repeat=6):
        repeats = Repeats()
        repeats.add(placed(words))
        total += P[list(words)].prod() * math.exp(repeats.log_e())
    assert total == pytest.approx(1, abs=1e-12)


def test_copies_of_the_row_before_are_seen_in_either_relation():
    words = np.random.default_rng(3).integers(0, 50, 600)
    words[2::3] = words[1::3]
    for placed in (neighbours, calls):
        repeats = Repeats()
        repeats.add(placed(words))
        assert repeats.log_e() > math.log(1e9)


def test_calls_that_all_repeat_each_other_are_seen():
    """A sampler that ignores its seed gives the same rows in every call; a constant one too, which is no evidence."""
    frozen, constant = Repeats(), Repeats()
    words = np.tile(np.random.default_rng(3).integers(0, 50, 300), 2)
    rows, which = np.arange(600) % 300, np.arange(600) // 300
    frozen.add(Draws(words[:, None], rows, which))
    constant.add(Draws(0 * words[:, None], rows, which))
    assert frozen.log_e() > math.log(1e9)
    assert abs(constant.log_e()) < 1e-9


@pytest.mark.distribution
@pytest.mark.parametrize("placed", [neighbours, calls])
def test_the_null_expectation_of_what_is_carried_over_is_one(placed):
    """Over all 2^6 outcomes of a triple of words of two dependent tokens."""
    law, total = np.array([[0.5, 0.1], [0.15, 0.25]]), 0.0
    for tokens in itertools.product(range(2), repeat=6):
        words = np.array(tokens).reshape(3, 2)
        repeats = Repeats()
        repeats.add(Draws(words, *(getattr(placed([0, 1, 2]), of) for of in ("rows", "calls"))))
        total += law[words[:, 0], words[:, 1]].prod() * math.exp(repeats.log_e())
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("placed", [neighbours, calls])
def test_a_last_token_that_is_the_next_first_token_is_seen(placed, share):
    """Every word has the law of an honest one. Seed 5, 6000 words of 3 uniform tokens of 8; E above the look's 1e3."""
    rng = np.random.default_rng(5)
    words, carried = rng.integers(0, 8, (6000, 3)), rng.random(6000) < share
    at = placed(np.zeros(6000, dtype=np.int64))
    honest, faulty = Repeats(), Repeats()
    honest.add(Draws(words, at.rows, at.calls))
    words[1:, 0] = np.where(carried[1:], words[:-1, -1], words[1:, 0])
    faulty.add(Draws(words, at.rows, at.calls))
    assert honest.log_e() < math.log(100) and faulty.log_e() > math.log(1e3)


def test_rows_are_put_in_order_first():
    words = np.random.default_rng(3).integers(0, 50, 600)
    words[2::3] = words[1::3]
    drawn = neighbours(words)
    shuffled = np.random.default_rng(4).permutation(600)
    one, two = Repeats(), Repeats()
    one.add(drawn)
    two.add(Draws(drawn.words[shuffled], drawn.rows[shuffled], drawn.calls[shuffled]))
    assert one.state() == two.state()


def test_independent_rows_and_few_rows_are_no_evidence():
    repeats = Repeats()
    for n in (0, 1, 2, 3000):
        repeats.add(neighbours(np.random.default_rng(n).integers(0, 3, n)))
    assert repeats.log_e() < math.log(100)


def test_a_state_goes_on():
    one, two = Repeats(), Repeats()
    one.add(calls([0, 1, 1, 1, 2, 2, 0, 3, 3]))
    two.restore(one.state())
    assert two.log_e() == one.log_e() != 0
