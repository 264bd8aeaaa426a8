"""The state machine: verdict rules, running extremes, resuming, and its error rates on both sides."""

import json

import numpy as np
import pytest

from rheocheck.stats.plan import looks
from rheocheck.stats.sequential import Sequential
from tests.stats.laws import spread, uniform

FAIR = [0.5, 0.5]


def fresh(law=FAIR, **changes):
    return Sequential(law, **({"eps": 0.05, "alpha": 1e-6, "delta": 1e-3, "n_opt": 10_000} | changes))


def run(s, truth, rng, most=400_000):
    counts, n = np.zeros(len(truth)), 0
    for at in looks():
        counts += rng.multinomial(at - n, truth)
        n, look = at, s.look(counts)
        if look.verdict or n > most:
            return look
    raise AssertionError


def test_three_verdicts():
    assert fresh().look([50, 50]).verdict is None
    passed = fresh().look([5000, 5000])
    assert (passed.n, passed.verdict, passed.peak) == (10_000, "pass", 0.0)
    assert passed.tv_upper == pytest.approx(2.0135 / 100, rel=1e-4) and passed.log_e < 0
    failed = fresh().look([5500, 4500])
    assert failed.verdict == "fail" and failed.peak == failed.log_e > np.log(1e6)


def test_an_impossible_cell_fails_at_once_and_for_good():
    s = fresh([0.5, 0.5, 0.0])
    assert s.look([5000, 5000, 1]).verdict == "fail"
    assert s.look([500_000, 500_000, 1]).verdict == "fail"
    assert s.look([500_000, 500_000, 1]).peak == np.inf


def test_peak_and_bound_are_the_extremes_of_all_looks():
    s = fresh(alpha=1e-3)
    first = s.look([580, 420])
    assert first.verdict == "fail"
    later = s.look([5080, 4920])
    assert later.peak == first.peak > later.log_e and later.verdict == "fail"
    assert later.tv_upper < first.tv_upper
    s = fresh()
    low = s.look([5000, 5000]).tv_upper
    assert s.look([5400, 5000]).tv_upper == low


def test_a_bias_below_eps_may_fail_and_then_fail_is_said():
    s = fresh(n_opt=10**6, eps=0.05)
    look = s.look([510_000, 490_000])
    assert look.tv_upper < 0.05 and look.verdict == "fail"


@pytest.mark.parametrize("counts", [[60, 40], [600, 400, 1]])
def test_a_resumed_run_equals_an_uninterrupted_one(counts):
    law = [0.5, 0.5, 0.0][: len(counts)]
    whole, stopped, resumed = fresh(law), fresh(law), fresh(law)
    whole.look(counts)
    stopped.look(counts)
    resumed.restore(json.loads(json.dumps(stopped.state(), allow_nan=False)))
    later = np.array(counts) + 200
    later[2:] = counts[2:]
    assert resumed.look(later) == whole.look(later)
    assert resumed.state() == whole.state()


def test_a_state_of_another_run_is_refused():
    state = fresh().state()
    others = [
        fresh([0.4, 0.6]), fresh(eps=0.1), fresh(alpha=1e-3), fresh(delta=1e-2), fresh(n_opt=9), fresh(rtol=1e-6),
        fresh(faults={"x": [0.4, 0.6]}),
    ]  # fmt: skip
    for other in others:
        with pytest.raises(ValueError, match="a state must be of the same law and settings, got another fingerprint"):
            other.restore(state)
    with pytest.raises(ValueError, match=r"a state must have all its keys, got none for \['counts'\]"):
        fresh().restore({key: state[key] for key in ("settings", "peak", "tv_upper")})
    with pytest.raises(ValueError, match="counts must be whole numbers >= 0, got -1.0 at 0"):
        fresh().restore(state | {"counts": [-1, 0]})
    with pytest.raises(ValueError, match="a state must have peak >= 0 and tv_upper in"):
        fresh().restore(state | {"peak": float("nan")})


def test_dropped_draws_and_bad_settings_are_refused():
    s = fresh()
    s.look([10, 10])
    with pytest.raises(ValueError, match="counts must include all earlier draws, got 9 at 1 after 10: pass the counts"):
        s.look([20, 9])
    with pytest.raises(ValueError, match="law must have one entry per cell, got 2 for 3"):
        s.look([20, 10, 1])
    for bad in ({"eps": 0}, {"alpha": 1}, {"delta": float("nan")}):
        with pytest.raises(ValueError, match="must lie strictly between 0 and 1"):
            fresh(**bad)
    with pytest.raises(ValueError, match="n_opt must be a number of draws >= 1, got 0"):
        fresh(n_opt=0)


@pytest.mark.distribution
def test_a_correct_sampler_passes_and_never_fails():
    """Null; 200 runs, alpha 1e-3, delta 1e-3, eps 0.05, n_opt = 8,000, seed 1: all pass, none later than 20,000."""
    rng = np.random.default_rng(1)
    ends = [run(fresh(uniform(8), alpha=1e-3, n_opt=8000), uniform(8), rng) for _ in range(200)]
    assert {end.verdict for end in ends} == {"pass"}
    assert max(end.n for end in ends) <= 20_000


@pytest.mark.distribution
def test_a_biased_sampler_fails_and_never_passes():
    """TV 0.05, alpha 1e-6; 200 runs, seed 2: all fail; a pass with eps 0.05 would be an error of the bound."""
    rng = np.random.default_rng(2)
    p = uniform(8)
    ends = [run(fresh(p, eps=0.0499), spread(p, 0.05, rng), rng) for _ in range(200)]
    assert {end.verdict for end in ends} == {"fail"}
