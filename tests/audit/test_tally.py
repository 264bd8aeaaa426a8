"""The memory of an audit against plain counting, and the witness that is found in it."""

from collections import Counter

import numpy as np
import pytest

from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import Witness
from rheocheck.audit.witness import witness_against_law, witness_against_sample

WORDS = np.random.default_rng(1).integers(0, 3, (400, 4))


def tallied(*parts, tokens=4):
    tally = Tally(tokens)
    for part in parts:
        tally.add(np.asarray(part, dtype=np.int64).reshape(-1, tokens))
    return tally


def test_counts_are_those_of_a_counter():
    tally = tallied(WORDS[:100], WORDS[:0], WORDS[100:])
    expected = Counter(map(tuple, WORDS.tolist()))
    assert [tuple(word) for word in tally.words.tolist()] == sorted(expected)
    assert {tuple(w): c for w, c in zip(tally.words.tolist(), tally.counts.tolist(), strict=True)} == expected
    assert tally.n == 400
    assert Tally(4).n == 0


def test_what_followed_each_prefix():
    tally = tallied(WORDS)
    found = {prefix: dict(zip(t.tolist(), c.tolist(), strict=True)) for prefix, t, c in tally.followed(10**6)}
    expected = {}
    for word in WORDS.tolist():
        for length in range(4):
            expected.setdefault(tuple(word[:length]), Counter())[word[length]] += 1
    assert found == expected
    assert tally.prefixes() == len(expected)
    for prefix, tokens in expected.items():
        _, met, counts = tally.after(prefix)
        assert dict(zip(met.tolist(), counts.tolist(), strict=True)) == tokens
    assert len(tally.after((7,))[1]) == 0


def test_only_the_most_frequent_prefixes_are_shown():
    tally = tallied([[0, 0]] * 5 + [[1, 0]] * 9 + [[2, 1]] * 7, tokens=2)
    assert [prefix for prefix, *_ in tally.followed(2)] == [(), (1,), (2,)]


def test_a_state_is_the_whole_tally():
    tally, again = tallied(WORDS), Tally(4)
    again.restore(tally.state())
    more = np.array([[2, 2, 2, 2]])
    tally.add(more)
    again.add(more)
    assert again.state() == tally.state()


def law(prefix):
    return np.array([0.5, 0.5, 0.0]) if prefix[-1:] == (1,) else np.array([0.2, 0.3, 0.5])


def nowhere(prefix):
    return frozenset()


def test_the_witness_is_the_largest_certain_error():
    tally = tallied([[0, 0]] * 900 + [[0, 1]] * 100 + [[1, 1]] * 1500 + [[2, 2]] * 2500, tokens=2)
    found = witness_against_law(tally, law, nowhere, 3, [])
    weighted = {
        (prefix, x): seen / 5000 * abs(share - p)
        for prefix, x, seen, share, p in (
            ((1,), 0, 1500, 0.0, 0.5),
            ((2,), 2, 2500, 1.0, 0.5),
            ((0,), 0, 1000, 0.9, 0.2),
        )
    }
    assert (found.context, found.token) == max(weighted, key=weighted.get)


def test_without_a_certain_error_the_largest_is_shown_or_none():
    tally = tallied([[0], [1], [1], [2]], tokens=1)
    assert witness_against_law(tally, law, nowhere, 3, []) == Witness((), 2, 0.25, 0.5)
    assert witness_against_law(tally, law, nowhere, 3, [], certain=True) is None


def test_an_impossible_token_comes_first_and_the_most_frequent_of_them():
    tally = tallied([[0, 0]] * 5000 + [[1, 2]] * 3 + [[1, 0]] * 3, tokens=2)
    assert witness_against_law(tally, law, nowhere, 3, [((1,), 2)]) == Witness((1,), 2, 0.5, 0.0)


def test_behind_a_dropped_token_no_law_is_asked():
    def strict(prefix):
        assert prefix != (2,) and prefix[:1] != (2,)
        return np.array([0.5, 0.5, 0.0])

    tally = tallied([[2, 0, 0]] * 500 + [[0, 0, 0]] * 500, tokens=3)
    found = witness_against_law(tally, strict, lambda prefix: frozenset({2} if not prefix else ()), 3, [])
    assert found.context == (0,)


def test_two_samples():
    one = tallied([[0, 0]] * 1000 + [[1, 0]] * 1000, tokens=2)
    two = tallied([[0, 0]] * 1000 + [[1, 1]] * 900 + [[2, 2]] * 100, tokens=2)
    assert witness_against_sample(one, two) == Witness((1,), 0, 1.0, 0.0)


def test_a_large_vocabulary_makes_no_large_table():
    """Dense tables of 20,000 prefixes of 128,256 tokens would take 20 GB."""
    words = np.random.default_rng(0).integers(0, 128_256, (20_000, 2))
    size = 128_256
    flat = np.full(size, 1 / size)
    tally = tallied(words, tokens=2)
    found = witness_against_law(tally, lambda prefix: flat, nowhere, size, [])
    assert found.target == pytest.approx(1 / size)
    assert witness_against_sample(tally, tallied(words[::-1], tokens=2)).emitted >= 0
