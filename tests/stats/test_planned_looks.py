"""Planned looks: what they cost, how they share the confidence, and that no wrong pass comes of them."""

import numpy as np
import pytest

from rheocheck.stats.plan import hardest_bias, pass_samples, plan
from rheocheck.stats.planned_looks import planned_looks, reach_at
from tests.stats import debiased_coverage as coverage
from tests.stats.laws import uniform


@pytest.mark.parametrize("name", coverage.LAWS)
@pytest.mark.parametrize("tv, allowed", coverage.TASKS)
def test_four_tokens_of_eight_are_within_reach(name, tv, allowed):
    """Today's anytime bound alone takes 325,000 and 2.0 million draws of the uniform law."""
    made = plan(coverage.LAWS[name], tv=tv, simulate=0)
    assert made.looks.sizes[0] <= allowed
    assert made.pass_ == made.looks.enough < pass_samples(coverage.LAWS[name], tv) / 2


def test_the_confidence_is_shared_and_never_exceeded():
    looks = planned_looks(uniform(4096), 0.05, 1e-3, simple=10**9)
    assert looks.anytime + sum(looks.deltas) <= 1e-3
    assert list(looks.sizes) == sorted(set(looks.sizes)) and len(looks.sizes) == len(looks.deltas)
    assert looks.delta_at(looks.sizes[1]) == looks.deltas[1]
    assert looks.delta_at(looks.sizes[1] + 1) is None


def test_laws_of_few_cells_and_cheap_bounds_keep_the_anytime_bound_with_all_of_delta():
    for looks in (
        planned_looks(uniform(512), 0.05, 1e-3, simple=10**9),
        planned_looks(uniform(4096), 0.05, 1e-3, simple=1000),
    ):
        assert (looks.sizes, looks.deltas, looks.anytime) == ((), (), 1e-3)


def test_a_limit_below_what_is_needed_is_the_first_look():
    looks = planned_looks(uniform(4096), 0.05, 1e-3, simple=10**9, samples=50_000)
    assert looks.sizes[:2] == (50_000, 100_000)
    free = planned_looks(uniform(4096), 0.05, 1e-3, simple=10**9)
    assert planned_looks(uniform(4096), 0.05, 1e-3, simple=10**9, samples=10**6).sizes == free.sizes


def test_the_reach_of_so_many_draws_is_the_tv_that_takes_them():
    assert reach_at(uniform(4096), 100_000, 1e-3) == pytest.approx(0.0485, abs=0.002)
    assert reach_at(uniform(8), 100_000, 1e-3) == 1.0


@pytest.mark.distribution
def test_correct_samplers_pass_in_time_and_biased_ones_do_not():
    """Uniform law of 4,096 words, tv 0.05, 150 runs each, delta 1e-3, fixed seeds.

    A correct sampler passes by 100,000 draws in 98 % of runs (measured on 5,000, see DEBIASED.md): fewer than 137 of
    150 have P below 1e-4. A true TV just above 0.05 may pass in 1e-3 of the runs: 3 of 150 have P 5e-4.
    """
    p, tv, runs = coverage.LAWS["uniform"], 0.05, 150
    looks = planned_looks(p, tv, 1e-3, simple=pass_samples(p, tv))
    limits = [coverage.limit(p, n, tv, share) for n, share in zip(looks.sizes[:2], looks.deltas, strict=False)]
    ask = {"looks": looks.sizes[:2], "limits": limits, "tv": tv, "n_opt": looks.enough, "anytime": looks.anytime}
    correct = coverage.passes(p, p, runs=runs, seed=1, **ask)
    assert np.sum(correct <= 100_000) >= 137
    biased = coverage.passes(p, hardest_bias(p, 1.02 * tv), runs=runs, seed=2, **ask)
    assert np.sum(np.isfinite(biased)) < 3
    # The control: were the noise of the biased law not taken into account, it would pass.
    careless = ask | {"limits": [coverage.limit(p, n, 1.1 * tv, 0.5) for n in looks.sizes[:2]]}
    assert np.sum(np.isfinite(coverage.passes(p, hardest_bias(p, 0.9 * tv), runs=runs, seed=3, **careless))) > 3
