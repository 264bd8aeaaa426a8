"""Sign betting: fair for every common law by enumeration, its power beside chi-square, and what it must refuse.

Null: decoder and reference have one law, unknown. alpha 1e-6 where power is stated; all seeds fixed.
"""

import itertools
import json

import numpy as np
import pytest

from rheocheck.stats import SignBetting, StringBetting, chi_square_two_sample, tv_upper_two_sample_anytime
from rheocheck.stats.chi_square import _noncentrality
from rheocheck.stats.two_sample import FIRST_CHUNK
from tests.stats import chain_toy

pytestmark = pytest.mark.distribution
LAWS = [[0.5, 0.3, 0.2], [0.98, 0.01, 0.01], [1 / 3, 1 / 3, 1 / 3]]


def soft3(k, seed=1):
    """A head and a tail as a language model has: softmax of N(0, 3^2) logits."""
    p = np.exp(np.random.default_rng(seed).normal(0, 3, k))
    return p / p.sum()


def biased(p, tv, kind):
    """p moved by exactly `tv`: `up` gains in proportion, the rest loses in proportion."""
    order = np.argsort(-p)
    if kind == "cell":
        up = order[:1]
    elif kind == "tail":  # rare cells of about a tenth of the mass lose
        up = order[1 - np.cumsum(p[order]) + p[order] > 0.12]
    else:  # spread: cells of about half the mass, so that chi-square is near its least value 4 TV^2
        up = []
        for i in order:
            if p[up].sum() + p[i] <= 0.501:
                up.append(i)
    gains = np.isin(np.arange(len(p)), up)
    return np.where(gains, p * (1 + tv / p[gains].sum()), p * (1 - tv / p[~gains].sum()))


def expectation(make, law, words, references):
    """Mean of E over every outcome of `words` more draws of all arms, each draw with `law`."""
    total = 0.0
    cells = range(len(law))
    for x in itertools.product(cells, repeat=words):
        for y in itertools.product(cells, repeat=words * references):
            bettor = make()
            bettor.update(np.array(x), np.array(y).reshape(words, references))
            total += np.prod([law[i] for i in x + y]) * np.exp(bettor.log_e())
    return total


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("references, words, cells", [(1, 1, 3), (1, 2, 3), (2, 1, 3), (1, 2, None)])
def test_the_null_mean_of_a_block_is_one_whatever_the_law_and_the_past(law, references, words, cells):
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, 40), rng.choice(3, (40, references), p=[0.7, 0.2, 0.1])  # a past that misleads

    def make():
        bettor = SignBetting(cells, references=references)
        bettor.update(x, y)
        return bettor

    before = np.exp(make().log_e())
    assert abs(np.log(before)) > 0.05  # the past did place bets
    assert expectation(make, law, words, references) == pytest.approx(before, rel=1e-12)


def test_bets_inside_one_block_use_earlier_pairs_only():
    """Renewing the bets inside a block keeps the mean 1: two pairs across the first cut, every law the same."""
    law = [0.6, 0.4]
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, FIRST_CHUNK - 1), rng.choice(2, FIRST_CHUNK - 1, p=[0.9, 0.1])
    total = 0.0
    for last in itertools.product(range(2), repeat=4):
        bettor = SignBetting(2)
        bettor.update(np.append(x, last[:2]), np.append(y, last[2:]))
        total += np.prod([law[i] for i in last]) * np.exp(bettor.log_e())
    before = SignBetting(2)
    before.update(x, y)
    assert total == pytest.approx(np.exp(before.log_e()), rel=1e-12)


def test_the_null_mean_of_a_block_of_words_is_one():
    rng = np.random.default_rng(2)
    past = rng.integers(0, 2, (60, 2)), np.sort(rng.integers(0, 2, (60, 2)))
    words = list(itertools.product(range(2), repeat=2))
    law = [0.1, 0.2, 0.3, 0.4]
    before, total = None, 0.0
    for (i, x), (j, y), (k, z) in itertools.product(enumerate(words), repeat=3):
        bettor = StringBetting(2, 2, references=2)
        bettor.update(past[0], np.stack([past[1], past[1]], axis=1))
        before = bettor.log_e()
        bettor.update(np.array([x]), np.array([[y, z]]))
        total += law[i] * law[j] * law[k] * np.exp(bettor.log_e())
    assert total == pytest.approx(np.exp(before), rel=1e-12)


@pytest.mark.parametrize(
    "k, kind, references, mean",
    [(8, "spread", 1, 8.2e3), (8, "cell", 1, 7.5e3), (8, "tail", 1, 2.6e3), (8, "spread", 4, 5.7e3),
     (64, "spread", 1, 1.0e4), (64, "tail", 1, 2.7e3)],
)  # fmt: skip
def test_power_against_a_tv_of_5_percent(k, kind, references, mean):
    """Stops at E >= 1e6 within 1.4 of the mean measured beforehand, below the sample of a fixed-n chi-square."""
    p = soft3(k)
    other = biased(p, 0.05, kind)
    stops = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        bettor = SignBetting(k, references=references)
        while bettor.log_e() < np.log(1e6):
            block = max(100, bettor.pairs // 10)
            bettor.update(rng.choice(k, block, p=other), rng.choice(k, (block, references), p=p))
        stops.append(bettor.pairs)
    fixed = (1 + 1 / references) * _noncentrality(k - 1, 1e-6, 0.999, 0.0) / ((other - p) ** 2 / p).sum()
    print(f"\nk={k} {kind} r={references}: mean {np.mean(stops):.0f}, largest {max(stops)}, chi-square {fixed:.0f}")
    assert np.mean(stops) <= 1.4 * mean
    assert np.mean(stops) <= 0.75 * fixed


def test_silent_on_one_law():
    """40 null runs, looks while it grows: E >= 100 at any look has probability 1 in 100 a run at most."""
    p, highest = soft3(8), []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        bettor, peak = SignBetting(8), 0.0
        for _ in range(10):
            bettor.update(rng.choice(8, 400, p=p), rng.choice(8, 400, p=p))
            peak = max(peak, bettor.log_e())
        highest.append(peak)
    assert max(highest) < np.log(1000)
    assert np.mean(np.array(highest) >= np.log(10)) <= 0.1


def test_tv_bound_holds_at_every_look():
    """delta = 0.05, 400 runs with 8 looks each, true TV 0.1: the bound may fail in 5 % of the runs."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.2])
    rng = np.random.default_rng(5)
    failed = 0
    for _ in range(400):
        x, y, broken = np.zeros(3), np.zeros(3), False
        for look in range(1, 9):
            x, y = x + rng.multinomial(100, p), y + rng.multinomial(200, q)
            broken |= tv_upper_two_sample_anytime(x, y, look, delta=0.05) < 0.1
        failed += broken
    assert failed <= 20


def test_tv_bound_by_hand():
    # 100 of each, TV of the frequencies 0.1; look 1: delta / 2.
    expected = 0.1 + np.sqrt(0.02 * np.log(2 / 1e-3) / 2)
    assert tv_upper_two_sample_anytime([50, 50], [60, 40], 1) == pytest.approx(expected, rel=1e-12)
    bettor = SignBetting(2)
    bettor.update(np.repeat([0, 1], [50, 50]), np.repeat([0, 1], [60, 40]))
    assert bettor.tv_upper() == pytest.approx(expected, rel=1e-12)
    bettor.update(np.zeros(5000, dtype=int), np.zeros(5000, dtype=int))
    assert bettor.tv_upper() < 0.05


@pytest.mark.parametrize(
    "fault, w", [("residual not subtracted", 0.3), ("independent tokens, right marginals", 0.1), ("bonus from q", 0.3)]
)
def test_words_of_a_faulty_decoder(fault, w):
    """20,000 pairs of 6 tokens: past 1e9, the second fault leaving every position's marginal as it is."""
    bettor = StringBetting(chain_toy.L, chain_toy.V)
    bettor.update(chain_toy.run(20_000, 1, fault, w).words, chain_toy.run(20_000, 2).words)
    print(fault, w, bettor.log_e() / np.log(10))
    assert bettor.log_e() > np.log(1e9)


def test_words_of_a_correct_decoder():
    for seed in range(5):
        bettor = StringBetting(chain_toy.L, chain_toy.V)
        bettor.update(chain_toy.run(10_000, seed).words, chain_toy.run(10_000, 100 + seed).words)
        assert bettor.log_e() < np.log(10)


def test_cells_need_not_be_numbered_beforehand():
    """20,000 pairs, TV 0.05, one large block: as the two-sample chi-square finds, alpha 1e-6."""
    p = soft3(8)
    rng = np.random.default_rng(11)
    x, y = rng.choice(8, 20_000, p=biased(p, 0.05, "spread")), rng.choice(8, 20_000, p=p)
    bettor = SignBetting(None)
    bettor.update(x, y)
    assert bettor.log_e() > np.log(1e6)
    assert chi_square_two_sample(np.bincount(x, minlength=8), np.bincount(y, minlength=8)).p_value < 1e-6
    same = SignBetting(None)
    same.update(y, rng.choice(8, 20_000, p=p))
    assert same.log_e() < 0


@pytest.mark.parametrize("make", [lambda: SignBetting(None, references=2), lambda: StringBetting(3, 5, references=2)])
def test_a_restored_bettor_goes_on_as_if_never_stopped(make):
    rng = np.random.default_rng(4)
    shape = (3,) if isinstance(make(), StringBetting) else ()
    blocks = [(rng.integers(0, 5, (n, *shape)), rng.integers(0, 4, (n, 2, *shape))) for n in (50, 7, 200)]
    whole, resumed = make(), make()
    for block in blocks:
        whole.update(*block)
        resumed.update(*block)
        state = json.loads(json.dumps(resumed.state()))
        resumed = make()
        resumed.restore(state)
    assert resumed.log_e() == whole.log_e()
    assert resumed.state() == whole.state()


def test_nothing_seen_is_no_evidence():
    bettor = SignBetting(8)
    bettor.update([], [])
    assert (bettor.log_e(), bettor.tv_upper(), bettor.pairs) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: SignBetting(0), r"cells must lie in 1..2\^31, got 0: pass the vocabulary size, or None"),
        (lambda: SignBetting(3, references=0), "references must be at least 1, got 0: draw one reference per sample"),
        (lambda: SignBetting(3, delta=0), "delta must lie strictly between 0 and 1, got 0: try 0.001"),
        (lambda: SignBetting(3).update([3], [0]), "x must lie in 0..2, got 3: check the vocabulary size"),
        (lambda: SignBetting(3).update([0], [-1]), "y must lie in 0..2, got -1: check the vocabulary size"),
        (lambda: SignBetting(3).update([0.5], [0]), "x must be an array of token ids, got float64"),
        (lambda: SignBetting(3).update([0, 1], [0]), r"y must hold 1 reference\(s\) for each of the 2 samples, got"),
        (lambda: SignBetting(3).update([[0, 1]], [0]), r"x must be cells, 1 tokens each, got shape \(1, 2\)"),
        (lambda: StringBetting(2, 3).update([[0, 1, 2]], [[0, 1]]), "x must be words, 2 tokens each, got shape"),
        (lambda: StringBetting(0), "tokens must be at least 1, got 0: pass the length of a word"),
        (lambda: StringBetting(2, references=0), "references must be at least 1, got 0"),
        (lambda: StringBetting(2, 0), "vocab_size must lie in"),
        (lambda: SignBetting(3).restore(SignBetting(4).state()), "cells must be that of the saved state, got 3, saved"),
        (lambda: tv_upper_two_sample_anytime([1], [1, 2], 1), "counts_y must have one entry per cell, got 2 for 1"),
        (lambda: tv_upper_two_sample_anytime([1], [1], 0), "look must be 1, 2, 3, ..., got 0: count the looks from 1"),
        (lambda: tv_upper_two_sample_anytime([np.nan], [1], 1), "counts_x must be whole numbers >= 0, got nan at 0"),
    ],
)
def test_what_it_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()
