"""Plans: the published figures, their consistency, and that simulated samplers keep them."""

import itertools

import numpy as np
import pytest

from rheocheck.stats.bounds import tv_upper_anytime
from rheocheck.stats.emix import EMix
from rheocheck.stats.plan import (
    detection_samples,
    hardest_bias,
    looks,
    pass_samples,
    plan,
    smallest_detectable_tv,
    stopping_times,
)
from tests.stats.laws import soft3, uniform, zipf


def test_detection_by_hand():
    # uniform 64: 20 + 6 * 8 = 68
    assert detection_samples(uniform(64), 0.01) == 680_000
    assert detection_samples(uniform(64), 0.01, 1e-9) == 816_000
    assert detection_samples(uniform(64), 0.01, 10**-7.5) == pytest.approx(1.1 * 680_000, abs=1)
    assert detection_samples(uniform(64), 0.01, 1e-2) == 680_000
    assert detection_samples(uniform(64), 0.01, 1e-12) == pytest.approx(1.4 * 680_000, abs=1)


def test_smallest_detectable_is_the_inverse():
    p = soft3(64)
    for tv, alpha in itertools.product((0.1, 0.02, 0.001), (1e-3, 1e-6, 1e-9)):
        assert smallest_detectable_tv(p, detection_samples(p, tv, alpha), alpha) == pytest.approx(tv, rel=1e-3)
    assert smallest_detectable_tv(p, 0) == smallest_detectable_tv(p, 3) == 1.0


@pytest.mark.parametrize(
    "k, units", [(8, 16.2), (64, 37.7), (1024, 248)]
)  # (s + 2.0135 + 0.96)^2, s = sqrt((k-1) / 2 pi): 1.0555, 3.1665, 12.760
def test_pass_samples_of_uniform_laws_by_hand(k, units):
    assert pass_samples(uniform(k), 0.01) * 1e-4 == pytest.approx(units, rel=5e-3)


def test_rare_cells_cost_less_than_their_limit():
    # s overstates E TV where cells expect less than one hit: 2 n p_i < sqrt(n p_i).
    p = soft3(32768)
    s = np.sqrt(p * (1 - p) / (2 * np.pi)).sum()
    assert pass_samples(p, 0.05) < 0.95 * (s + 2.0135 + 0.96) ** 2 / 0.05**2


@pytest.mark.distribution
@pytest.mark.parametrize("law", [uniform(8), soft3(64)])
def test_a_correct_sampler_passes_at_the_planned_size(law):
    """2000 runs at pass_samples(tv 0.03), delta 1e-3, seed 3: promised 99.9 %, so 2 misses expected; 10 has P 5e-5."""
    n = pass_samples(law, 0.03)
    counts = np.random.default_rng(3).multinomial(n, law, size=2000)
    assert sum(tv_upper_anytime(c, law, n_opt=n) > 0.03 for c in counts) <= 10


@pytest.mark.distribution
@pytest.mark.parametrize("law", [uniform(8), soft3(8), soft3(64)])
def test_the_hardest_bias_is_found_at_the_planned_size(law):
    """500 runs at detection_samples(tv 0.03), alpha 1e-6, seed 4: promised 99.9 %; 6 misses of 500 have P 2e-5."""
    biased = hardest_bias(law, 0.03)
    counts = np.random.default_rng(4).multinomial(detection_samples(law, 0.03), biased, size=500)
    assert np.mean(EMix(law).log_e_many(counts) >= np.log(1e6)) >= 494 / 500


def test_a_plan():
    made = plan(soft3(8), tv=0.02)
    assert made.detect == detection_samples(soft3(8), 0.02)
    assert made.pass_ == pass_samples(soft3(8), 0.02)
    assert made.budget == max(made.detect, made.pass_) and made.cap == 4 * made.budget
    assert made.detect / 16 < made.mean_stop < made.q99_stop < made.detect
    assert made == plan(soft3(8), tv=0.02) != plan(soft3(8), tv=0.02, seed=1)
    assert made.notes == ()


def test_a_plan_says_what_it_did_not_do():
    assert plan(uniform(8), tv=0.02, simulate=0).notes == ("stopping times were not simulated (simulate=0)",)
    large = plan(zipf(4096), tv=0.1)
    assert large.mean_stop is None and "simulated up to 2048 cells only" in large.notes[0]
    assert "ruling the bias out takes longer" in large.notes[1]
    assert "keeps within the support" in plan([1.0, 0.0], tv=0.1).notes[0]


def test_power_scales_the_sample():
    low, high = (plan(uniform(8), tv=0.02, power=power, simulate=0).detect for power in (0.5, 0.99999))
    # (4.753 + 0)^2 and (4.753 + 4.265)^2 against (4.753 + 3.090)^2
    planned = detection_samples(uniform(8), 0.02)
    assert low / planned == pytest.approx(0.3673, rel=1e-3)
    assert high / planned == pytest.approx(1.3219, rel=1e-3)


@pytest.mark.parametrize("law", [uniform(7), soft3(8), soft3(64), np.array([0.98, 0.01, 0.01])])
def test_the_hardest_bias_has_the_tv_it_should(law):
    biased = hardest_bias(law, 0.02)
    assert np.abs(biased - law).sum() / 2 == pytest.approx(0.02)
    assert biased.min() >= 0 and biased.sum() == pytest.approx(1)
    assert ((biased - law) ** 2 / law).sum() >= 4 * 0.02**2 * (1 - 1e-9)


def test_no_room_for_a_bias():
    assert hardest_bias([1.0, 0.0], 0.1) is None


def test_looks():
    assert list(itertools.islice(looks(), 5)) == [1000, 1250, 1563, 1954, 2443]
    assert list(itertools.islice(looks(1, 1.01), 3)) == [1, 2, 3]
    with pytest.raises(ValueError, match="looks must start at >= 1 and grow by more than 1, got 0, 1.25: try"):
        next(looks(0))


def test_stopping_times_are_repeatable():
    p = uniform(8)
    one, other = (stopping_times(p, hardest_bias(p, 0.1), runs=5, alpha=1e-3, seed=1) for _ in range(2))
    assert np.array_equal(one, other) and np.all(np.isfinite(one))


def test_bad_levels_are_refused():
    for call in (
        lambda: detection_samples(uniform(8), 0),
        lambda: detection_samples(uniform(8), 0.1, 1),
        lambda: pass_samples(uniform(8), float("nan")),
        lambda: plan(uniform(8), tv=0.1, power=1.0),
        lambda: plan(uniform(8), tv=0.1, delta=0),
    ):
        with pytest.raises(ValueError, match="must lie strictly between 0 and 1"):
            call()
