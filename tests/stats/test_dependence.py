"""Dependence at every distance: each bet against the fault it is made for, silent on a perfect decoder, fair by itself.

Null: given everything earlier, a token has the target's law. alpha 1e-9 where power is stated, 20,000 words or fewer of
independent tokens; all seeds fixed. That the null mean of every statistic is 1 is enumerated in test_battery.py, and
here for what two tokens and two words cannot show.
"""

import itertools
import json

import numpy as np
import pytest

from rheocheck.stats import Battery
from rheocheck.stats.battery import STREAMS
from rheocheck.stats.contexts import PrefixLaws
from rheocheck.stats.learned import Learned
from rheocheck.stats.pair_betting import PairBetting
from rheocheck.stats.token_cells import TokenCells

pytestmark = pytest.mark.distribution
FAIL = np.log(1e9)
P = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02])
V, L, N = 8, 6, 10_000


def independent(shape, seed, p=P):
    return np.random.default_rng(seed).choice(len(p), shape, p=p)


def hit(n, share, seed=99):
    return np.random.default_rng(seed).random(n) < share


def found(words, p=P, **settings):
    b = Battery(lambda prefix: p, len(p), words.shape[1], **settings)
    b.update(words)
    return b.log_e() | {"total": b.total()}


@pytest.mark.parametrize("i, j", [(0, 1), (1, 2), (1, 5), (0, 5), (2, 4), (4, 5)])
def test_a_copy_at_any_distance_is_found(i, j):
    """One word in ten has token j = token i: 2000 words are enough."""
    words = independent((N // 5, L), 1)
    copied = hit(len(words), 0.1)
    words[copied, j] = words[copied, i]
    e = found(words)
    assert e["pairs of positions"] > FAIL and e["total"] > FAIL


@pytest.mark.parametrize("share, map_", [(0.1, (V - 1, -1)), (0.1, (3, 5)), (0.2, (0, 2))])
def test_any_map_from_one_token_to_another_is_found(share, map_):
    """Token 6 = a + b times token 2 modulo V: no copy, and the right law only where the map keeps it."""
    words = independent((N, L), 2, np.full(V, 1 / V))
    hits = hit(N, share)
    words[hits, 5] = (map_[0] + map_[1] * words[hits, 1]) % V
    e = found(words, np.full(V, 1 / V))
    assert e["pairs of positions"] > FAIL and e["total"] > FAIL


@pytest.mark.parametrize("vocab_size", [8, 64, 3000])
def test_a_uniform_used_twice_is_found_under_two_laws(vocab_size):
    """Token 1 and token 4 are drawn by one uniform number from laws that are each other's reverse."""
    p = 1.0 / np.arange(1, vocab_size + 1)
    p /= p.sum()
    laws = [p, p, p, p[::-1].copy(), p]
    u = np.random.default_rng(3).random((4000, 5))
    hits = hit(len(u), 0.3)
    u[hits, 3] = u[hits, 0]
    cdf = [np.cumsum(law) for law in laws]
    words = np.stack(
        [np.minimum(np.searchsorted(c, x, side="right"), vocab_size - 1) for c, x in zip(cdf, u.T, strict=True)], axis=1
    )
    b = Battery(lambda prefix: laws[len(prefix)], vocab_size, 5, state=len)
    b.update(words)
    assert b.log_e()["pairs of positions"] > FAIL
    assert b.total() > FAIL


@pytest.mark.parametrize("places", [(0, 1, 2), (0, 2, 5), (1, 3, 4)])
@pytest.mark.parametrize("how", ["xor", "sum"])
def test_three_tokens_of_which_each_pair_is_independent(places, how):
    """Exclusive or of three uniform tokens 0, or their sum 0 modulo V, in 20 % of the words: pairs see nothing."""
    words = independent((N, L), 4, np.full(V, 1 / V))
    i, j, k = places
    hits = hit(N, 0.2)
    a, b = words[hits, i], words[hits, j]
    words[hits, k] = a ^ b if how == "xor" else (-a - b) % V
    e = found(words, np.full(V, 1 / V))
    assert e["windows"] > FAIL and e["total"] > FAIL
    assert e["pairs of positions"] < np.log(100)


@pytest.mark.parametrize("tokens, vocab_size", [(8, 2), (6, 8)])
def test_the_parity_of_a_whole_word(tokens, vocab_size):
    """The sum of all tokens is even in 60 % of the words: all but one of the tokens are independent."""
    p = np.full(vocab_size, 1 / vocab_size)
    words = independent((N, tokens), 5, p)
    odd = (words.sum(axis=1) % 2 == 1) & hit(N, 0.2)
    words[odd, -1] ^= 1
    e = found(words, p)
    assert e["windows"] > FAIL and e["total"] > FAIL


@pytest.mark.parametrize("batch", [1, 10])
def test_the_last_number_of_a_call_carried_into_the_next(batch):
    """Of one word in five the first token is the last one of the word before, in order of generation."""
    words = independent((N, 3), 6)
    for row in np.flatnonzero(hit(N, 0.2)[1:]) + 1:
        words[row, 0] = words[row - 1, 2]
    e = found(words, batch=batch)
    assert e["carried over"] > FAIL and e["total"] > FAIL


@pytest.mark.parametrize("i, j, back, batch", [(0, 0, 1, 50), (3, 3, 50, 50), (5, 1, 1, 1), (1, 4, 1, 50)])
def test_a_token_that_depends_on_another_row(i, j, back, batch):
    """One word in five has in place j what the row before (the same row of the call before) has in place i."""
    words = independent((N, L), 7)
    for row in np.flatnonzero(hit(N, 0.2)):
        if row >= back and (back == batch or row % batch):
            words[row, j] = words[row - back, i]
    e = found(words, batch=batch)
    assert e["rows and calls"] > FAIL and e["total"] > FAIL


@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_wrong_law_without_dependence_is_no_dependence(place):
    """TV 0.1 at one position: found, and not by the bets on other rows, which are apart from what a token does."""
    words = independent((N, L), 8)
    wrong = hit(N, 0.1)
    words[wrong, place] = 7
    e = found(words)
    assert e["total"] > FAIL
    assert max(e["rows and calls"], e["carried over"]) < np.log(10)
    assert max(e[name] for name in STREAMS if name in e) < max(e.values())


@pytest.mark.parametrize("vocab_size, tokens", [(2, 8), (8, 5), (300, 4), (100, 17)])
def test_silent_on_independent_words(vocab_size, tokens):
    """4 runs: E >= 100 happens in 1 % of the runs at most, by each statistic; of 17 tokens not all pairs are kept."""
    p = 1.0 / np.arange(1, vocab_size + 1)
    p /= p.sum()
    for seed in range(4):
        e = found(independent((500, tokens), 100 + seed, p), p, batch=7)
        assert max(e.values()) < np.log(100)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("levels", [False, True])
def test_the_null_mean_of_a_learned_bet_is_one(apart, levels):
    """Every sequence of 4 words, keys chosen by the words before, two states: mean 1 to 1e-12 for every strength."""
    rows = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    laws = PrefixLaws(lambda prefix: rows[prefix[0]], 3, state=lambda prefix: prefix)
    for state in range(2):
        laws.find((state,))
    mean = 0.0
    for word in itertools.product(range(3), repeat=4):
        learned, weight, before = Learned(TokenCells(laws, levels=levels), [0], 3, apart=apart), 1.0, 0
        for token in word:
            state = before % 2
            weight *= rows[state][token]
            learned.add(np.array([[before]]), np.array([[token]]), np.array([[state]]))
            before = token
        mean = mean + weight * np.exp(learned.log_es())
    assert mean == pytest.approx(np.ones(5), abs=1e-12)


def test_a_learned_bet_within_the_tolerance_wins_nothing():
    """Each probability is 1.05 times the stated one at most: no mean above 1; without the tolerance there is one."""
    stated, true = [0.5, 0.5], [0.525, 0.475]
    means = {}
    for rtol in (0.05, 0.0):
        laws = PrefixLaws(lambda prefix: stated, 2)
        laws.find(())
        mean = 0.0
        for word in itertools.product(range(2), repeat=8):
            learned = Learned(TokenCells(laws, levels=False), [0], 1, rtol=rtol)
            learned._seen[:], learned._expected[:] = [[30, 10]], [[20, 20]]  # bets on token 0 from the start
            learned.add(np.zeros((8, 1), dtype=int), np.array(word)[:, None], np.zeros((8, 1), dtype=int))
            mean = mean + np.prod([true[x] for x in word]) * np.exp(learned.log_es())
        means[rtol] = mean
    assert means[0.05].max() <= 1 < means[0.0].max()


@pytest.mark.parametrize("vocab_size", [2, 5, 16, 40])
@pytest.mark.parametrize("levels", [False, True])
def test_the_masses_of_cells_are_those_of_their_tokens(vocab_size, levels):
    rng = np.random.default_rng(vocab_size)
    rows = rng.dirichlet(np.full(vocab_size, 0.3), 5)
    laws = PrefixLaws(lambda prefix: rows[prefix[0]], vocab_size, state=lambda prefix: prefix)
    for state in range(5):
        laws.find((state,))
    cells = TokenCells(laws, levels=levels)
    states, tokens = np.repeat(np.arange(5), vocab_size), np.tile(np.arange(vocab_size), 5)
    expected = np.zeros((5, cells.count))
    np.add.at(expected, (states, cells.of(tokens, states)), rows.ravel())
    assert cells.masses(np.arange(5)) == pytest.approx(expected, abs=1e-12)
    assert cells.of(tokens, np.full(len(tokens), -1)).max() == -1


def test_a_battery_of_dependence_goes_on_as_if_never_stopped():
    words = independent((3000, 4), 9)
    words[hit(3000, 0.1), 3] = 0

    def make():
        return Battery(lambda prefix: P, V, 4, batch=7)

    whole, resumed = make(), make()
    for start in range(0, 3000, 500):
        whole.update(words[start : start + 500])
        resumed.update(words[start : start + 500])
        saved = json.loads(json.dumps(resumed.state()))
        resumed = make()
        resumed.restore(saved)
    assert resumed.log_e() == whole.log_e() and resumed.state() == whole.state()


@pytest.mark.parametrize("places", [(0, 1), (1, 5), (0, 5), (0, 2, 4)])
def test_a_second_sampler_shows_the_same(places):
    """Against a baseline: a copy, or an exclusive or, in 30 % of 6000 pairs; two honest samplers show nothing."""
    x, y = independent((6000, L), 10, np.full(V, 1 / V)), independent((6000, L), 11, np.full(V, 1 / V))
    honest, bets = PairBetting(L), PairBetting(L)
    honest.update(x, y)
    hits = hit(6000, 0.3)
    x[hits, places[-1]] = np.bitwise_xor.reduce(x[hits][:, places[:-1]], axis=1)
    for start in range(0, 6000, 2000):
        bets.update(x[start : start + 2000], y[start : start + 2000])
        saved = json.loads(json.dumps(bets.state()))
        bets = PairBetting(L)
        bets.restore(saved)
    assert bets.log_e() > FAIL
    assert honest.log_e() < np.log(100)
