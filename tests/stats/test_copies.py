"""Copy and lag bets: fair by enumeration, overwhelming on 0.3 % repeated rows, indifferent to likely duplicates.

Null: words are independent draws of their law. alpha 1e-9 where power is stated; all seeds fixed.
"""

import itertools
import json

import numpy as np
import pytest

from rheocheck.stats import CopyBet, LagBet

pytestmark = pytest.mark.distribution
WORD_LAW = {(0, 0): 0.5, (0, 1): 0.2, (1, 0): 0.2, (1, 1): 0.1}
FAIL = np.log(1e9)


def draw(rng, n, law=(0.4, 0.3, 0.2, 0.1), tokens=5):
    """Words of independent tokens and their log probabilities."""
    words = rng.choice(len(law), (n, tokens), p=law)
    return words, np.log(np.array(law))[words].sum(axis=1)


def test_the_null_mean_of_the_copy_bet_is_one():
    """Over all 4^4 outcomes of four words, two lags and a pair, in two updates: mean 1 to 1e-12."""
    total = 0.0
    for words in itertools.product(WORD_LAW, repeat=4):
        p = [WORD_LAW[word] for word in words]
        bet = CopyBet([1, 2], 2)
        bet.update(np.array(words[:3]), np.log(p[:3]), pairs=[[2, 0], [1, 0]])
        bet.update(np.array(words[3:]), np.log(p[3:]))
        total += np.prod(p) * np.exp(bet.log_e())
    assert total == pytest.approx(1, abs=1e-12)


def test_the_tolerant_copy_bet_is_fair_to_a_law_within_the_tolerance():
    """The true law has each token's probability at most 1.1 times the stated one: the mean is at most 1."""
    stated = np.array([0.5, 0.5])
    true = np.array([0.55, 0.45])
    mean = 0.0
    for x, y in itertools.product(range(2), repeat=2):
        bet = CopyBet([1], 1, rtol=0.1)
        bet.update([[x], [y]], np.log(stated[[x, y]]))
        mean += true[x] * true[y] * np.exp(bet.log_e())
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
    """0.3 % of 20,000 rows repeat the row `lag` before them: E far past 1e9, and that lag is named."""
    rng = np.random.default_rng(lag)
    words, log_p = draw(rng, 20_000)
    for row in np.flatnonzero(rng.random(20_000) < 0.003):
        if row >= lag:
            words[row], log_p[row] = words[row - lag], log_p[row - lag]
    bet = CopyBet([1, 50], 5)
    bet.update(words, log_p)
    print(bet.components())
    assert bet.log_e() > FAIL
    assert max(bet.components(), key=bet.components().get) == f"lag {lag}"


def test_suspected_pairs_are_named_explicitly():
    rng = np.random.default_rng(9)
    words, log_p = draw(rng, 1000)
    words[500:510], log_p[500:510] = words[:10], log_p[:10]
    bet = CopyBet([1], 5)
    bet.update(words, log_p, pairs=[[500 + i, i] for i in range(100)])
    assert bet.components()["pairs"] == max(bet.components().values()) > FAIL


def test_duplicates_that_the_law_makes_likely_are_no_evidence():
    """97 % of all words are the same one, as p says: thousands of duplicates, no evidence."""
    words, log_p = draw(np.random.default_rng(3), 5000, law=(0.994, 0.003, 0.002, 0.001))
    bet = CopyBet([1, 8], 5)
    bet.update(words, log_p)
    assert (words[1:] == words[:-1]).all(axis=1).mean() > 0.9
    assert bet.log_e() < 0


def test_silent_on_independent_words():
    for seed in range(30):
        words, log_p = draw(np.random.default_rng(seed), 3000)
        bet, lag = CopyBet([1, 4], 5), LagBet([0.4, 0.3, 0.2, 0.1])
        bet.update(words, log_p)
        lag.update(words[:, 0])
        assert max(bet.log_e(), lag.log_e()) < np.log(100)


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
    bet = CopyBet([1], 1)
    bet.update([[0], [0]], [-np.inf, -np.inf])
    assert bet.log_e() == np.inf


def test_restored_bets_go_on_as_if_never_stopped():
    rng = np.random.default_rng(6)
    words, log_p = draw(rng, 400, tokens=2)
    whole, resumed = CopyBet([1, 3], 2), CopyBet([1, 3], 2)
    lag, lag_resumed = LagBet([0.4, 0.3, 0.2, 0.1]), LagBet([0.4, 0.3, 0.2, 0.1])
    for start in range(0, 400, 100):
        part = slice(start, start + 100)
        whole.update(words[part], log_p[part])
        resumed.update(words[part], log_p[part])
        lag.update(words[part, 0])
        lag_resumed.update(words[part, 0])
        state, lag_state = json.loads(json.dumps([resumed.state(), lag_resumed.state()]))
        resumed, lag_resumed = CopyBet([1, 3], 2), LagBet([0.4, 0.3, 0.2, 0.1])
        resumed.restore(state)
        lag_resumed.restore(lag_state)
    assert resumed.state() == whole.state()
    assert lag_resumed.log_e() == lag.log_e()
    at_once = CopyBet([1, 3], 2)
    at_once.update(words, log_p)
    assert at_once.log_e() == pytest.approx(whole.log_e(), rel=1e-12)


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: CopyBet([], 2), r"lags must be different numbers >= 1, got \[\]: try \[1, batch size\]"),
        (lambda: CopyBet([1, 1], 2), "lags must be different numbers"),
        (lambda: CopyBet([1], 0), "tokens must be at least 1, got 0: pass the length of a word"),
        (lambda: CopyBet([1], 2).update([[0, 1, 2]], [0.0]), r"words must be token ids \[n, 2\], got int64 \(1, 3\)"),
        (lambda: CopyBet([1], 1).update([[0]], [0.5]), "log_p must be one log probability <= 0 per word"),
        (lambda: CopyBet([1], 1).update([[0]], [np.nan]), "log_p must be one log probability <= 0 per word"),
        (lambda: CopyBet([1], 1).update([[0]] * 2, [0, 0], pairs=[[0, 1]]), r"got \[0, 1\]: swap or drop it"),
        (lambda: CopyBet([1], 1).update([[0]] * 2, [0, 0], pairs=[[2, 1]]), r"the 2 rows given, got \[2, 1\]: swap"),
        (lambda: CopyBet([1], 1).update([[0]] * 3, [0] * 3, pairs=[[2, 1], [2, 0]]), "name each row once as the later"),
        (lambda: CopyBet([1], 1).update([[0]], [0], pairs=[0, 1]), r"pairs must be row numbers \[m, 2\]"),
        (lambda: CopyBet([1], 1).restore(CopyBet([2], 1).state()), "lags must be that of the saved state"),
        (lambda: LagBet([0.5, 0.6]), "law must sum to 1 within 1e-9, got 1.1"),
        (lambda: LagBet([0.5, 0.5]).update([2]), r"first_tokens must be token ids in 0..1, got array\(\[2\]\)"),
    ],
)
def test_what_it_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()
