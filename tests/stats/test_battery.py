"""The battery: fair by enumeration, each statistic against the fault it is made for, silent on a perfect decoder.

Null: words have the target's law. alpha 1e-9 where power is stated; 20,000 words of 6 tokens; all seeds fixed.
The toy decoder and its faults are in chain_toy.py.
"""

import itertools
import json

import numpy as np
import pytest

from rheocheck.stats import Battery
from rheocheck.stats.battery import STATISTICS
from rheocheck.stats.contexts import ContextCounts, PrefixLaws
from tests.stats import chain_toy
from tests.stats.chain_toy import BATCH, DEPTH, L, V, law, lengths, replacement, run

pytestmark = pytest.mark.distribution
FAIL = np.log(1e9)
TINY = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])  # after 0, after 1, at the start
LOG = {"log": True, "depth": DEPTH, "lengths": lengths, "replacement": replacement}


def tiny(prefix):
    return TINY[prefix[-1]] if prefix else TINY[2]


def last(prefix):
    return prefix[-1:]


def battery(**settings):
    return Battery(law, V, L, batch=BATCH, state=last, **settings)


@pytest.mark.parametrize("tokens, cuts", [(2, (1, 3)), (2, (3,)), (3, (2,)), (3, (1, 2))])
def test_the_null_mean_of_every_statistic_is_one(tokens, cuts):
    """Every array of words on two tokens, in updates cut at `cuts`: mean 1 to 1e-12, each statistic and the total."""
    words = list(itertools.product(range(2), repeat=tokens))
    p = {w: np.prod([tiny(w[:t])[w[t]] for t in range(tokens)]) for w in words}
    n = cuts[-1]
    means: dict[str, float] = {}
    for rows in itertools.product(words, repeat=n):
        b = Battery(tiny, 2, tokens, batch=2)
        for start, stop in zip((0, *cuts), cuts, strict=False):
            b.update(np.array(rows[start:stop]))
        found = b.log_e() | {"total": b.total()}
        for name, log_e in found.items():
            means[name] = means.get(name, 0) + np.prod([p[w] for w in rows]) * np.exp(log_e)
    assert {"batch neighbour", "next token given context", "per position", "joint prefix", "total"} <= set(means)
    assert {"two tokens back"} <= set(means) or tokens < 3
    assert means == pytest.approx(dict.fromkeys(means, 1), abs=1e-12)


def test_random_numbers_of_draws_per_context_are_fair():
    """The draws decide which contexts are met, in which order and how often, even so as to cheat: mean 1."""
    laws = [[0.5, 0.5], [0.9, 0.1], [0.3, 0.7]]
    mean = 0.0
    for tokens in itertools.product(range(2), repeat=5):
        counts = ContextCounts(PrefixLaws(lambda prefix: laws[prefix[0]], 2))
        weight, context = 1.0, 0
        for token in tokens:
            state, row = counts.laws.find((context,))
            counts.add(np.array([context]), np.array([state]), np.array([token]))
            weight *= row[token]
            # A gambler who opens a new context as soon as the present one has lost.
            context = context if counts.log_e() > 0 else (context + 1) % 3
        mean += weight * np.exp(counts.log_e())
    assert mean == pytest.approx(1, abs=1e-12)


def test_a_law_within_the_tolerance_is_no_evidence():
    """Each probability is at most 1.02 times the stated one: no statistic has a mean above 1; without it some do."""
    true = np.array([[0.714, 0.286], [0.184, 0.816], [0.51, 0.49]])
    words = list(itertools.product(range(2), repeat=3))
    means: dict[str, float] = {}
    for rows in itertools.product(words, repeat=2):
        b = Battery(tiny, 2, 3, batch=2, rtol=0.02)
        b.update(np.array(rows))
        p = np.prod([true[w[t - 1] if t else 2, w[t]] for w in rows for t in range(3)])
        for name, log_e in b.log_e().items():
            means[name] = means.get(name, 0) + p * np.exp(log_e)
    assert max(means.values()) <= 1


@pytest.mark.parametrize(
    "fault, w, statistic",
    [
        ("residual not subtracted", 0.3, "next token given context"),
        ("residual not subtracted", 0.3, "joint prefix"),
        ("bonus from q", 0.3, "next token given context"),
        ("bonus from q", 0.3, "two tokens back"),
        ("bonus from q", 0.3, "bonus given context"),
        ("accept with q = 1", 0.1, "next token given context"),
        ("accept with q = 1", 0.1, "accepted length"),
        ("accept too often", 0.7, "accepted length"),
        ("draft temperature", 0.3, "next token given context"),
        ("draft temperature", 0.3, "first token"),
        ("draft temperature", 0.3, "per position"),
        ("p from the wrong position", 0.1, "accepted length"),
        ("accept uniform reused for the replacement", 0.3, "replacement given context"),
        ("accept uniform reused for the replacement", 0.3, "next token given context"),
        ("independent tokens, right marginals", 0.1, "next token given context"),
        ("repeats after a repeated pair", 0.05, "two tokens back"),
        ("batch rows share their uniforms", 0.003, "batch neighbour"),
        ("a call repeats a seed", 0.003, "previous call"),
        ("first uniform carried to the next call", 0.1, "first token given previous call"),
    ],
)
def test_each_statistic_finds_its_fault(fault, w, statistic):
    """E >= 1e9 by that statistic alone, and by the total; the seed differs from those the strengths were set with."""
    sample = run(20_000, 1000, fault, w)
    logged = fault in chain_toy.LOGGED
    b = battery(**(LOG if logged else {}))
    b.update(sample.words, blocks=sample.blocks if logged else None)
    found = {name: round(log_e / np.log(10), 1) for name, log_e in b.log_e().items()}
    print(f"\n{fault} ({w}): {found}, total {b.total() / np.log(10):.1f}")
    assert found[statistic] >= 9
    assert b.total() >= FAIL


def test_what_words_hide_a_decode_log_shows():
    """Bonus from q, one time in ten: nothing in the words, E past 1e6 given that the draft was accepted."""
    sample = run(20_000, 1, "bonus from q", 0.1)
    b = battery(**LOG)
    b.update(sample.words, blocks=sample.blocks)
    found = b.log_e()
    assert found.pop("bonus given context") > np.log(1e6)
    assert max(found.values()) < np.log(100)


def test_independent_tokens_leave_the_marginals_right():
    b = battery()
    b.update(run(20_000, 2, "independent tokens, right marginals", 0.1).words)
    found = b.log_e()
    assert max(found["first token"], found["per position"]) < np.log(10)
    assert found["next token given context"] > FAIL


def test_silent_on_a_perfect_decoder():
    """20 runs of 3,000 words with the log, 2 looks: E >= 10 may happen in 10 % of the runs, >= 1000 in 0.1 %."""
    peaks: dict[str, list[float]] = {}
    for seed in range(20):
        b, sample = battery(**LOG), run(3000, seed)
        peak: dict[str, float] = {}
        for start in range(0, 3000, 1500):
            b.update(sample.words[start : start + 1500], blocks=sample.blocks[start : start + 1500])
            for name, log_e in (b.log_e() | {"total": b.total()}).items():
                peak[name] = max(peak.get(name, 0), log_e)
        for name, log_e in peak.items():
            peaks.setdefault(name, []).append(log_e)
    assert peaks.keys() == {*STATISTICS, "total"}
    for name, highest in peaks.items():
        assert max(highest) < np.log(1000), name
        assert sum(h >= np.log(10) for h in highest) <= 4, name
    assert max(peaks["total"]) < np.log(100)


def test_a_certain_bias_is_named_with_its_place():
    def cut(prefix):
        return [1 / 3, 1 / 3, 1 / 3, 0] if len(prefix) == 3 else [0.25] * 4

    b = Battery(cut, 4, 3, context=[2])
    b.update([[0, 1, 2], [0, 1, 3]])
    assert b.total() == np.inf
    assert b.log_e()["next token given context"] == b.log_e()["joint prefix"] == np.inf
    assert b.log_e()["first token"] < 1
    (place,) = b.impossible
    assert (place.statistic, place.row, place.prefix, place.token) == ("next token given context", 1, (0, 1), 3)
    assert b.total(count_impossible=False) < 1
    b.update([[0, 0, 3]])
    assert b.impossible[1].row == 2


def test_an_impossible_replacement_is_named_too():
    sample = run(2000, 3, "residual not subtracted", 0.1)
    b = battery(**LOG)
    b.update(sample.words, blocks=sample.blocks)
    assert b.log_e()["replacement given context"] == b.total() == np.inf
    place = b.impossible[0]
    assert place.statistic == "replacement given context"
    assert replacement(place.prefix)[place.token] == 0
    assert sample.words[place.row, len(place.prefix)] == place.token
    assert b.total(count_impossible=False) < FAIL


@pytest.mark.parametrize("state", [last, None])
def test_a_restored_battery_goes_on_as_if_never_stopped(state):
    sample = run(3000, 4, "accept with q = 1", 0.05)

    def make():
        return Battery(law, V, L, batch=BATCH, state=state, **LOG)

    whole, resumed = make(), make()
    for start in range(0, 3000, 750):  # not a multiple of the batch: calls continue across updates
        part = slice(start, start + 750)
        whole.update(sample.words[part], blocks=sample.blocks[part])
        resumed.update(sample.words[part], blocks=sample.blocks[part])
        saved = json.loads(json.dumps(resumed.state()))
        resumed = make()
        resumed.restore(saved)
    assert resumed.log_e() == whole.log_e()
    assert resumed.state() == whole.state()
    assert whole.total() > 0


def test_rows_and_calls_may_come_in_any_order():
    sample = run(1000, 5, "a call repeats a seed", 0.02)
    numbered, shuffled = battery(), battery()
    numbered.update(sample.words)
    order = np.random.default_rng(0).permutation(1000)
    shuffled.update(sample.words[order], rows=order % BATCH, calls=order // BATCH)
    for name in ("batch neighbour", "previous call", "first token", "joint prefix", "per position"):
        assert shuffled.log_e()[name] == pytest.approx(numbered.log_e()[name], abs=1e-9)


def test_a_default_state_is_the_law_itself():
    """Without a state the same contexts are found, from the laws."""
    words = run(2000, 6, "draft temperature", 0.3).words
    plain, told = Battery(law, V, L), Battery(law, V, L, state=last)
    plain.update(words)
    told.update(words)
    assert plain.log_e() == pytest.approx(told.log_e(), abs=1e-9)


def test_the_law_sees_the_context_and_is_asked_once_a_prefix():
    asked = []

    def watched(prefix):
        asked.append(prefix)
        return law(prefix)

    b = Battery(watched, V, L, context=[3, 1], max_prefixes=1)
    words = run(500, 7).words
    for _ in range(2):
        b.update(words)
    assert all(prefix[:2] == (3, 1) for prefix in asked)
    assert len(asked) == len(set(asked))


def test_laws_that_are_not_known_everywhere():
    sample = run(3000, 8)
    b = battery(log=True, depth=DEPTH, lengths=lambda prefix: None if len(prefix) > 1 else lengths(prefix))
    b.update(sample.words, blocks=[[block for block in word if block[1]] for word in sample.blocks.tolist()])
    assert -1 < b.log_e()["accepted length"] < 2
    assert "replacement given context" not in b.log_e()


def test_a_large_vocabulary_keeps_what_fits():
    p = np.exp(np.random.default_rng(9).normal(0, 3, 20_000))
    p /= p.sum()
    b = Battery(lambda prefix: p, 20_000, 3, state=lambda prefix: len(prefix))
    b.update(np.random.default_rng(10).choice(20_000, (5000, 3), p=p))
    assert b.joint_tokens == 1
    assert "joint prefix" not in b.log_e() and "per position" not in b.log_e()
    assert b.total() < np.log(10)


def test_models_with_a_law_of_its_own_for_every_prefix():
    """More states than are kept: later ones are not counted, copies and first tokens still are."""

    def deep(prefix):
        p = np.random.default_rng([1, *prefix]).dirichlet(np.ones(4))
        return p / p.sum()

    def word(rng):
        w = ()
        for _ in range(6):
            w += (int(rng.choice(4, p=deep(w))),)
        return w

    rng = np.random.default_rng(2)
    words = np.array([word(rng) for _ in range(300)])
    b = Battery(deep, 4, 6)
    b.update(words)
    assert b.total() < np.log(10)
    b.update(np.repeat(words[:20], 2, axis=0))
    assert b.log_e()["previous call"] > FAIL


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: Battery(tiny, 0, 2), "vocab_size must be at least 1, got 0: count from 1"),
        (lambda: Battery(tiny, 2, 0), "tokens must be at least 1, got 0"),
        (lambda: Battery(tiny, 2, 2, batch=0), "batch must be at least 1, got 0"),
        (lambda: Battery(tiny, 2, 2, log=True), "depth must be at least 1 with log=True, got None"),
        (lambda: Battery(tiny, 2, 2, lengths=tiny), "log must be True with lengths or replacement, got False"),
        (lambda: Battery(tiny, 2, 2, rtol=-1), "rtol must be a finite number >= 0, got -1"),
        (lambda: Battery(lambda prefix: [0.5, 0.6], 2, 2), r"law\(\) must sum to 1 within 1e-9, got 1.1"),
        (lambda: Battery(lambda prefix: [1.0], 2, 2), r"law\(\) must have 2 entries, got 1"),
        (lambda: Battery(lambda prefix: None, 2, 2), r"law\(\) must be"),
        (lambda: Battery(tiny, 2, 2).update([[0, 1, 1]]), r"words must be token ids \[n, 2\], got int64 of shape"),
        (lambda: Battery(tiny, 2, 2).update([[0, 0.5]]), "words must be token ids"),
        (lambda: Battery(tiny, 2, 2).update([[0, 1], [0, 2]]), "words must be in 0..1, got 2 at row 1, token 1"),
        (lambda: Battery(tiny, 2, 2).update([[0, 1]], rows=[0]), "rows and calls must come together"),
        (lambda: Battery(tiny, 2, 2).update([[0, 1]], rows=[-1], calls=[0]), "rows must be one number >= 0 per word"),
        (lambda: Battery(tiny, 2, 2).update([[0, 1]], blocks=[[]]), "log must be True where blocks are given"),
        (lambda: Battery(tiny, 2, 2, log=True, depth=1).update([[0, 1]]), "blocks must be one list of"),
        (
            lambda: Battery(tiny, 2, 2, log=True, depth=1).update([[0, 1]], blocks=[[[1, 3]]]),
            r"blocks must have 0 <= accepted <= 1 and emitted <= accepted \+ 1, got \[1, 3\] in word 0",
        ),
        (
            lambda: Battery(tiny, 2, 2).restore(Battery(tiny, 2, 3).state()),
            "tokens must be that of the saved state, got 2, saved 3: use the same",
        ),
    ],
)
def test_what_it_refuses(act, message):
    with pytest.raises(ValueError, match=message):
        act()


def test_another_law_cannot_continue_a_state():
    b = battery()
    b.update(run(100, 9).words)
    other = Battery(lambda prefix: np.full(V, 1 / V), V, L, batch=BATCH)
    with pytest.raises(ValueError, match="law must be the one the state was saved with"):
        other.restore(b.state())


def test_room_for_contexts_grows_only_when_it_is_needed():
    """Doubling at every update would reach the budget of contexts with a single one met."""
    counts = ContextCounts(PrefixLaws(lambda prefix: [0.5, 0.5], 2))
    for _ in range(40):
        counts.add(np.array([7]), np.array([counts.laws.find(())[0]]), np.array([1]))
    assert len(counts._counts) == 16 and counts.counts()[7].tolist() == [0, 40]
