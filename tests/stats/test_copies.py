"""Copy and lag bets: fair by enumeration, overwhelming on 0.3 % repeated rows, indifferent to likely duplicates.

Null: words are independent draws of their law. alpha 1e-9 where power is stated; all seeds fixed.
"""

import itertools
import json

import numpy as np
import pytest

from rheocheck.stats import LagBet
from rheocheck.stats.copies import Copies

pytestmark = pytest.mark.distribution
WORD_LAW = {(0, 0): 0.5, (0, 1): 0.2, (1, 0): 0.2, (1, 1): 0.1}
FAIL = np.log(1e9)


def draw(rng, n, law=(0.4, 0.3, 0.2, 0.1), tokens=5):
    """Words of independent tokens and their log probabilities."""
    words = rng.choice(len(law), (n, tokens), p=law)
    return words, np.log(np.array(law))[words].sum(axis=1)


def bet_on(copies, words, log_p, lag=1):
    """Every row may copy the row `lag` before it."""
    words = np.asarray(words)
    copies.bet((words[lag:] == words[:-lag]).all(axis=1), np.asarray(log_p)[lag:])


def test_the_null_mean_of_the_copy_bet_is_one():
    """Over all 4^4 outcomes of four words, in two updates: mean 1 to 1e-12."""
    total = 0.0
    for words in itertools.product(WORD_LAW, repeat=4):
        log_p = np.log([WORD_LAW[word] for word in words])
        copies = Copies(2)
        bet_on(copies, words[:3], log_p[:3])
        bet_on(copies, words[2:], log_p[2:])
        total += np.exp(log_p.sum() + copies.log_e())
    assert total == pytest.approx(1, abs=1e-12)


def test_the_tolerant_copy_bet_is_fair_to_a_law_within_the_tolerance():
    """The true law has each token's probability at most 1.1 times the stated one: the mean is at most 1."""
    stated, true, mean = np.array([0.5, 0.5]), np.array([0.55, 0.45]), 0.0
    for x, y in itertools.product(range(2), repeat=2):
        copies = Copies(1, rtol=0.1)
        bet_on(copies, [[x], [y]], np.log(stated[[x, y]]))
        mean += true[x] * true[y] * np.exp(copies.log_e())
    assert 0.9 < mean <= 1


def test_the_null_mean_of_the_lag_bet_is_one():
    law = [0.6, 0.3, 0.1]
    total = 0.0
    for tokens in itertools.product(range(3), repeat=5):
        bet = LagBet(law)
        bet.update(tokens[:2])
        bet.update(tokens[2:])
        total += np.prod([law[i] for i in tokens]) * np.exp(bet.log_e())
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("lag", [1, 50])
def test_a_few_repeated_rows_are_overwhelming(lag):
    """0.3 % of 20,000 rows repeat the row `lag` before them: E far past 1e9, and nothing at another lag."""
    rng = np.random.default_rng(lag)
    words, log_p = draw(rng, 20_000)
    for row in np.flatnonzero(rng.random(20_000) < 0.003):
        if row >= lag:
            words[row], log_p[row] = words[row - lag], log_p[row - lag]
    found = {}
    for at in (1, 50):
        copies = Copies(5)
        bet_on(copies, words, log_p, at)
        found[at] = copies.log_e()
    assert found[lag] > FAIL and max(found, key=found.get) == lag


def test_duplicates_that_the_law_makes_likely_are_no_evidence():
    """97 % of all words are the same one, as p says: thousands of duplicates, no evidence."""
    words, log_p = draw(np.random.default_rng(3), 5000, law=(0.994, 0.003, 0.002, 0.001))
    copies = Copies(5)
    bet_on(copies, words, log_p)
    assert copies.equal > 0.9 * copies.bets and copies.log_e() < 0


def test_silent_on_independent_words():
    for seed in range(30):
        words, log_p = draw(np.random.default_rng(seed), 3000)
        copies, lag = Copies(5), LagBet([0.4, 0.3, 0.2, 0.1])
        bet_on(copies, words, log_p)
        lag.update(words[:, 0])
        assert max(copies.log_e(), lag.log_e()) < np.log(100)


def test_first_token_that_remembers_the_call_before():
    """One call in ten emits the first token of the call before it: marginals right, E past 1e9 at 5,000 calls."""
    rng = np.random.default_rng(8)
    law = np.array([0.4, 0.3, 0.2, 0.1])
    tokens = rng.choice(4, 5000, p=law)
    for call in np.flatnonzero(rng.random(5000) < 0.1):
        tokens[call] = tokens[call - 1] if call else tokens[call]
    bet = LagBet(law)
    bet.update(tokens)
    print(bet.log_e() / np.log(10))
    assert bet.log_e() > FAIL


def test_a_word_of_probability_zero_that_is_copied():
    copies = Copies(1)
    bet_on(copies, [[0], [0]], [-np.inf, -np.inf])
    assert copies.log_e() == np.inf


def test_restored_bets_go_on_as_if_never_stopped():
    words, log_p = draw(np.random.default_rng(6), 400, tokens=2)
    whole, resumed = Copies(2), Copies(2)
    lag, lag_resumed = LagBet([0.4, 0.3, 0.2, 0.1]), LagBet([0.4, 0.3, 0.2, 0.1])
    for start in range(0, 400, 100):
        part = slice(start, start + 100)
        bet_on(whole, words[part], log_p[part])
        bet_on(resumed, words[part], log_p[part])
        lag.update(words[part, 0])
        lag_resumed.update(words[part, 0])
        saved, lag_state = json.loads(json.dumps([resumed.saved(), lag_resumed.state()]))
        resumed, lag_resumed = Copies(2), LagBet([0.4, 0.3, 0.2, 0.1])
        resumed.restore(saved)
        lag_resumed.restore(lag_state)
    assert resumed.log_e() == whole.log_e() and resumed.saved() == whole.saved()
    assert lag_resumed.log_e() == lag.log_e()


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: LagBet([0.5, 0.6]), "law must sum to 1 within 1e-9, got 1.1"),
        (lambda: LagBet([0.5, 0.5]).update([2]), r"first_tokens must be token ids in 0..1, got array\(\[2\]\)"),
    ],
)
def test_what_it_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()
