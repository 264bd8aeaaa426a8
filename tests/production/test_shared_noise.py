"""The same noise, the same trees, lengths and tokens: the rational core, the JAX reference, the torch path."""

import time
from collections import Counter

import pytest
import torch

from tests.shared_noise import case, core_run, jax_run, torch_run

# Leads 0 to 3, more slots than tokens, a frontier wider and narrower than K, ties, zeros: all by 6 seeds.
QUICK = (8, 17, 43, 60, 61, 66)
DRAWS = 20_000 // len(QUICK) + 1


def mismatches(case, draws, with_jax=True):
    """(draws of any disagreement, the first one) of all four runs."""
    probe, coin = case.noise(draws)
    runs = [core_run(case, probe, coin), torch_run(case, probe, coin), torch_run(case, probe, coin, walk=True)]
    runs += [jax_run(case, probe, coin)] if with_jax else []
    bad = [row for row in zip(*runs, strict=True) if any(other != row[0] for other in row[1:])]
    return len(bad), bad[:1]


@pytest.mark.parametrize("seed", QUICK)
def test_core_jax_and_torch_agree(seed):
    assert mismatches(case(seed), DRAWS) == (0, [])


def test_the_quick_cases_cover_what_they_say():
    cases = [case(seed) for seed in QUICK]
    assert {c.shape.leads for c in cases} == {0, 1, 2, 3}
    assert any(c.shape.branching > c.pair.vocab_size for c in cases)
    assert {(c.shape.width > c.shape.branching) - (c.shape.width < c.shape.branching) for c in cases} == {-1, 0, 1}
    assert {c.builder for c in cases} == {"rheo", "naive", "top_k"}
    assert {c.verifier for c in cases} == {"matching", "recursive", "rheo"}
    assert any(0 in law for c in cases for law in c.pair.draft.values())


@pytest.mark.parametrize("seed", range(200, 280))
def test_core_and_torch_agree_on_many_shapes(seed):
    assert mismatches(case(seed), 100, with_jax=False) == (0, [])


def test_a_comparison_can_fail():
    one = case(QUICK[0])
    probe, coin = one.noise(300)
    assert core_run(one, probe, coin) != torch_run(one, probe, 1 - coin)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_how_often_a_coarse_dtype_differs(dtype, record_property):
    """Laws as logits of a dtype: bfloat16 rounds the laws themselves, float32 next to nothing."""
    different, draws = 0, 0
    for seed in range(300, 330):
        one = case(seed)
        probe, coin = one.noise(200)
        exact = core_run(one, probe, coin)
        coarse = torch_run(one, probe, coin, dtype=dtype, laws=False)
        different += sum(a[1] != b[1] for a, b in zip(exact, coarse, strict=True))
        draws += len(exact)
    record_property("mismatch_rate", different / draws)
    assert different / draws < (0.001 if dtype == torch.float32 else 0.1)


@pytest.mark.slow
def test_a_million_draws():
    """50 random pairs and shapes, 20,000 draws each; prints what was compared."""
    started, counted = time.perf_counter(), Counter()
    for seed in range(1000, 1050):
        one = case(seed)
        bad, first = mismatches(one, 20_000)
        counted.update(draws=20_000, mismatches=bad)
        assert bad == 0, (one, first)
    print(f"\n{dict(counted)} in {time.perf_counter() - started:.0f} s")
