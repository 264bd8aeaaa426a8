"""EMix: null expectation 1 by enumeration, the martingale step, twins, planted mutants, and what it refuses."""

import itertools
import time
import tracemalloc
from math import factorial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.stats.emix import SCALES, EMix
from tests.stats.laws import BIASES, soft3, uniform, zipf

NAMES = ["chi", "vv", "rel", "grp", "cel"]
SMALL = {
    "uniform": [0.25, 0.25, 0.25, 0.25],
    "head": [0.7, 0.2, 0.07, 0.03],
    "tiny": [0.6, 0.4 - 1e-9 - 1e-13, 1e-9, 1e-13],
    "almost certain": [1 - 3e-12, 1e-12, 1e-12, 1e-12],
    "zero cells": [0.5, 0.0, 0.5, 0.0],
    "one cell": [0.0, 1.0, 0.0, 0.0],
    "one zero": [0.5, 0.25, 0.25, 0.0],
}
FAULTS = {"swapped": [0.1, 0.2, 0.3, 0.4], "stuck": [1.0, 0.0, 0.0, 0.0]}


def outcomes(k, n):
    """All count vectors [., k] of n draws."""
    bars = itertools.combinations(range(n + k - 1), k - 1)
    return np.array([np.diff([-1, *b, n + k - 1]) - 1 for b in bars], dtype=float)


def probabilities(counts, p):
    n = int(counts[0].sum())
    ways = np.array([factorial(n) / np.prod([float(factorial(int(x))) for x in row]) for row in counts])
    return ways * np.prod(np.asarray(p) ** counts, axis=1)


def e_values(mix, counts):
    return {name: np.exp(part) for name, part in mix._parts(counts, every_scale=True).items()}


@pytest.mark.distribution
@pytest.mark.parametrize("name", SMALL)
def test_null_expectation_of_every_component_is_one(name):
    """All 120 outcomes of 7 draws from 4 cells, weighted by their probability; to 1e-12."""
    p = SMALL[name]
    counts = outcomes(4, 7)
    weights = probabilities(counts, p)
    mix = EMix(p, faults=FAULTS)
    for part, e in e_values(mix, counts).items():
        expectation = (e[weights > 0] * weights[weights > 0]).sum()
        # A fault that emits impossible tokens bets part of its money on what the null never does.
        if part.startswith("fault") and min(p) == 0:
            assert expectation <= 1 + 1e-12
        else:
            assert expectation == pytest.approx(1, abs=1e-12), part


@pytest.mark.distribution
@pytest.mark.parametrize("name", SMALL)
def test_every_component_is_a_martingale(name):
    """E[E after one more draw | counts] = E, for all counts of 5 draws that the null can produce."""
    p = np.array(SMALL[name])
    mix = EMix(p)
    for counts in outcomes(4, 5):
        if not np.all(p[counts > 0] > 0):
            continue
        now = e_values(mix, counts[None, :])
        after = e_values(mix, counts + np.eye(4))
        for part in NAMES:
            assert (p * np.where(p > 0, after[part], 0)).sum() == pytest.approx(now[part][0], rel=1e-12), part


def slow_components(p, counts):
    """The formulas of the module, one term at a time, in 40 digits; p must be sorted and positive."""
    with mpmath.workdps(40):
        p = [mpmath.mpf(float(x)) for x in p]
        total = mpmath.fsum(p)
        p, counts = [x / total for x in p], [int(x) for x in counts]
        k, n = len(p), sum(counts)

        def rf(x, m):
            return mpmath.loggamma(x + m) - mpmath.loggamma(x) - m * mpmath.log(x) if m else mpmath.mpf(0)

        groups = {}
        for x, m in zip(p, counts, strict=True):
            g = groups.setdefault(int(mpmath.floor(-mpmath.log(x, 2))), [0, 0])
            g[0], g[1] = g[0] + x, g[1] + m

        def stick(a, power):
            out = 0
            for i in range(k - 1):
                rem, remaining = mpmath.fsum(p[i:]), sum(counts[i:])
                s = a * p[i] ** power
                every = s * rem / p[i]
                out += rf(s, counts[i]) + rf(every - s, remaining - counts[i]) - rf(every, remaining)
            return mpmath.exp(out)

        def dirichlet(a, cells):
            return mpmath.exp(mpmath.fsum(rf(a * x, m) for x, m in cells) - rf(a, n))

        scales = [mpmath.mpf(2) ** j for j in range(3, 31)]
        mean = {
            "chi": mpmath.fsum(dirichlet(a, zip(p, counts, strict=True)) for a in scales) / 28,
            "vv": mpmath.fsum(stick(a, mpmath.mpf(2) / 3) for a in scales) / 28,
            "rel": mpmath.fsum(stick(a, mpmath.mpf(0)) for a in scales) / 28,
            "grp": mpmath.fsum(dirichlet(a, groups.values()) for a in scales) / 28,
            "cel": mpmath.fsum(
                (x + mpmath.mpf(1) / k) / 2 * dirichlet(a, [(x, m), (1 - x, n - m)])
                for a in scales[::2]
                for x, m in zip(p, counts, strict=True)
            ) / 14,
        }  # fmt: skip
        return {name: float(mpmath.log(e)) for name, e in mean.items()}


@pytest.mark.parametrize("n", [1, 30, 2000])
@pytest.mark.parametrize("law", ["uniform", "zipf", "soft3"])
def test_the_fast_form_equals_the_slow_one(law, n):
    p = np.sort({"uniform": uniform, "zipf": zipf, "soft3": soft3}[law](9))[::-1]
    counts = np.random.default_rng(n).multinomial(n, 0.7 * p + 0.3 / 9)
    fast = EMix(p).components(counts)
    for name, value in slow_components(p, counts).items():
        assert fast[name] == pytest.approx(value, rel=1e-9, abs=1e-10), name


def test_runs_side_by_side_equal_runs_one_by_one():
    p = soft3(40)
    counts = np.random.default_rng(1).multinomial(5000, p, size=200)
    mix = EMix(p, faults={"flat": uniform(40)})
    assert mix.log_e_many(counts) == pytest.approx([mix.log_e(c) for c in counts], rel=1e-12)
    assert mix.log_e_many(np.zeros((0, 40))).shape == (0,)


def test_chunks_of_a_large_vocabulary_change_nothing(monkeypatch):
    p = soft3(300)
    counts = np.random.default_rng(2).multinomial(20_000, p, size=7)
    whole = EMix(p).log_e_many(counts)
    monkeypatch.setattr("rheocheck.stats.emix.CHUNK", 500)
    assert EMix(p).log_e_many(counts) == pytest.approx(whole, rel=1e-12)


def test_leaving_out_scales_only_lowers_e_and_by_almost_nothing():
    p = soft3(16)
    for n in (100, 2047, 10_000, 10**6, 10**9):
        counts = np.random.default_rng(n).multinomial(n, p)[None, :]
        mix = EMix(p)
        used, every = mix._parts(counts.astype(float)), mix._parts(counts.astype(float), every_scale=True)
        for name in NAMES:
            assert every[name][0] - 0.2 < used[name][0] <= every[name][0] + 1e-12, (n, name)
            assert n >= 256 * SCALES[0] or used[name][0] == every[name][0]
    assert np.isfinite(EMix(p).log_e(np.random.default_rng(3).multinomial(10**15, p)))


def test_log_e_is_the_weighted_mean_of_the_components():
    p, counts = soft3(8), np.random.default_rng(4).multinomial(3000, soft3(8))
    plain, named = EMix(p), EMix(p, faults={"flat": uniform(8), "zipf": zipf(8)})
    assert plain.log_e(counts) == pytest.approx(np.log(np.mean([np.exp(x) for x in plain.components(counts).values()])))
    parts = named.components(counts)
    e = {name: np.exp(x) for name, x in parts.items()}
    assert list(parts) == [*NAMES, "faults"]
    assert named.log_e(counts) == pytest.approx(np.log(0.25 * e["faults"] + 0.15 * sum(e[name] for name in NAMES)))
    ratios = [(c / p) for c in (uniform(8), zipf(8))]
    by_hand = np.mean([np.exp(counts @ np.log(1 - w + w * r)) for r in ratios for w in 2.0 ** -np.arange(8)])
    assert parts["faults"] == pytest.approx(np.log(by_hand))


def test_no_draws_and_one_possible_cell_say_nothing():
    assert EMix(soft3(8)).log_e(np.zeros(8)) == pytest.approx(0, abs=1e-12)
    assert EMix([0.0, 1.0]).log_e([0, 1000]) == pytest.approx(0, abs=1e-12)
    assert EMix([1.0]).log_e([7]) == pytest.approx(0, abs=1e-12)


def test_a_hit_on_an_impossible_cell_is_infinite_evidence():
    mix = EMix([0.5, 0.5, 0.0], rtol=0.1, faults={"leak": [0.4, 0.4, 0.2]})
    assert mix.log_e([50, 50, 1]) == np.inf
    assert set(mix.components([50, 50, 1]).values()) == {np.inf}
    assert mix.log_e_many([[50, 50, 0], [50, 50, 1]])[1] == np.inf
    assert np.isfinite(mix.log_e([50, 50, 0]))


def test_tolerance_costs_log1p_rtol_a_draw():
    p, counts = soft3(8), np.random.default_rng(5).multinomial(10_000, soft3(8))
    assert EMix(p, rtol=1e-3).log_e(counts) == pytest.approx(EMix(p).log_e(counts) - 10_000 * np.log1p(1e-3))


@pytest.mark.distribution
def test_a_law_within_its_tolerance_raises_no_alarm():
    """Null P <= 1.02 p cell by cell, true law on its edge; E >= 10 in 500 runs of 20,000 draws: P <= 0.1 each (Ville).

    Without the tolerance nearly every run would be an alarm.
    """
    p = uniform(8)
    edge = p * np.where(np.arange(8) % 2 == 0, 1.02, 0.98)
    counts = np.random.default_rng(6).multinomial(100_000, edge, size=500)
    assert np.mean(EMix(p, rtol=0.02).log_e_many(counts) >= np.log(10)) <= 0.1
    assert np.mean(EMix(p).log_e_many(counts) >= np.log(10)) > 0.9


@pytest.mark.distribution
@pytest.mark.parametrize("law, k", [(uniform, 8), (soft3, 8), (zipf, 64), (soft3, 64)])
def test_sup_e_of_a_perfect_sampler(law, k):
    """Null; 2000 runs (k = 8) or 300 (k = 64), looks x1.25 from 100 to 20,000, seed 7.

    Ville: P(sup E >= c) <= 1/c for c = 10, 100, 1000; CALIBRATION.md has 20,000 runs of each.
    """
    p, rng, runs = law(k), np.random.default_rng(7), 2000 if k == 8 else 300
    mix, counts, peak, n = EMix(p), np.zeros((runs, k)), np.full(runs, -np.inf), 0
    while n < 20_000:
        step = max(100, n // 4)
        counts += rng.multinomial(step, p, size=runs)
        peak, n = np.maximum(peak, mix.log_e_many(counts)), n + step
    for c in (10, 100, 1000):
        assert np.mean(peak >= np.log(c)) <= 1 / c


@pytest.mark.distribution
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("k", [8, 64, 1024])
def test_rejects_every_planted_bias_within_the_planned_sample(k, bias):
    """Alternative of TV 0.05, alpha 1e-6, n = (20 + 6 / sqrt(sum p^2)) / TV^2, power 99.9 %: 20 runs of 20 (seed 8)."""
    p, tv = soft3(k), 0.05
    n = int(np.ceil((20 + 6 / np.sqrt((p**2).sum())) / tv**2))
    rng = np.random.default_rng(8)
    counts = rng.multinomial(n, BIASES[bias](p, tv, rng), size=20)
    assert np.all(EMix(p).log_e_many(counts) >= np.log(1e6))


@pytest.mark.distribution
def test_named_faults_find_their_fault_sooner():
    """Target soft3 64, faults flat and zipf at strength 0.02; 20 runs: the best bet in at least 18 (seed 9)."""
    p = soft3(64)
    laws = {"flat": uniform(64), "zipf": zipf(64), "reversed": p[::-1].copy()}
    mix, plain, rng = EMix(p, faults=laws), EMix(p), np.random.default_rng(9)
    for name in ("flat", "zipf"):
        counts = rng.multinomial(20_000, 0.98 * p + 0.02 * laws[name], size=20)
        parts = [mix.components(c) for c in counts]
        assert sum(max(part, key=part.get) == "faults" for part in parts) >= 18
        assert np.median(mix.log_e_many(counts)) > np.median(plain.log_e_many(counts))


@given(st.permutations(range(6)), st.lists(st.integers(0, 300), min_size=6, max_size=6))
def test_the_order_of_cells_does_not_matter(order, counts):
    p, counts, order = soft3(6), np.array(counts), np.array(order)
    assert EMix(p[order]).log_e(counts[order]) == pytest.approx(EMix(p).log_e(counts), rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(1e-300, 1), min_size=2, max_size=12), st.integers(0, 2**32 - 1), st.integers(0, 10**6))
def test_any_law_gives_a_finite_number(weights, seed, n):
    p = np.array(weights) / np.sum(weights)
    counts = np.random.default_rng(seed).multinomial(n, np.full(len(p), 1 / len(p)))
    value = EMix(p).log_e(counts)
    assert np.isfinite(value) or (value == np.inf and np.any(counts[p == 0] > 0))


def test_a_look_at_a_large_vocabulary_is_cheap():
    """128,256 cells, 1e6 draws: under 3 s and 2 GiB (measured 0.4 s and 0.1 GiB)."""
    p = soft3(128_256)
    counts = np.random.default_rng(11).multinomial(10**6, p)
    mix = EMix(p)
    started = time.process_time()
    mix.log_e(counts)
    assert time.process_time() - started < 3
    tracemalloc.start()
    mix.log_e(counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**31


BAD = {
    "sum": (lambda: EMix([0.5, 0.6]), "law must sum to 1 within 1e-9, got 1.1: divide"),
    "rtol": (lambda: EMix([0.5, 0.5], rtol=-1), "rtol must be a finite number >= 0, got -1"),
    "fault sum": (lambda: EMix([0.5, 0.5], faults={"x": [1, 1]}), "fault 'x' must sum to 1 within 1e-9, got 2.0"),
    "fault length": (
        lambda: EMix([0.5, 0.5], faults={"x": [1]}),
        "fault 'x' must have one entry per cell, got 1 for 2",
    ),
    "NaN": (lambda: EMix([0.5, 0.5]).log_e([1, np.nan]), "counts must be whole numbers >= 0, got nan at 1"),
    "negative": (lambda: EMix([0.5, 0.5]).log_e([1, -1]), "counts must be whole numbers >= 0, got -1.0 at 1"),
    "length": (lambda: EMix([0.5, 0.5]).log_e([1, 1, 1]), "law must have one entry per cell, got 2 for 3 counts"),
    "flat runs": (lambda: EMix([0.5, 0.5]).log_e_many([1, 1]), r"counts must be one row of counts per run, got shape"),
    "runs length": (lambda: EMix([0.5, 0.5]).log_e_many([[1, 1, 1]]), "law must have one entry per cell, got 2 for 3"),
    "runs NaN": (lambda: EMix([0.5, 0.5]).log_e_many([[1, np.nan]]), "counts must be whole numbers >= 0, got nan"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_in_one_line(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
