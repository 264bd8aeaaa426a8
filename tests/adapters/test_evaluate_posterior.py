"""EAGLE's calling convention as a subject: exact laws by an independent enumeration, right and with fault 51."""

import random

import pytest
import torch

from rheocheck.adapters import evaluate_posterior as adapter
from rheocheck.adapters.tiny_models import DRAFTER_SEED, TableModel
from rheocheck.audit import audit
from rheocheck.core.errors import InputError
from tests.adapters.enumerator import exact_law, total_variation


@pytest.mark.distribution
@pytest.mark.parametrize(
    "settings",
    [
        {"vocab_size": 3},
        {"vocab_size": 3, "branching": 3, "temperature": 0.5},
        {"vocab_size": 4, "branching": 1},
        {"vocab_size": 4, "branching": 3, "depth": 3},
    ],
)
def test_the_correct_walk_emits_the_targets_law(monkeypatch, settings):
    """Deterministic siblings are point masses, and accepting them one by one is exact (EAGLE issues 93, 110, 171)."""
    law, _ = exact_law(monkeypatch, adapter.correct(**settings), (1,), 3)
    target = adapter.target(vocab_size=settings["vocab_size"], temperature=settings.get("temperature", 1.0))
    assert total_variation(law, target, (1,), 3, settings["vocab_size"]) < 1e-12


@pytest.mark.distribution
@pytest.mark.parametrize("depth, tv", [(1, 0.2534), (2, 0.0083)])
def test_the_late_residual_biases_the_token_after_the_deepest_layer(monkeypatch, depth, tv):
    """The first `depth` tokens stay exact: looking at fewer would miss it."""
    subject, target = adapter.late_residual(depth=depth), adapter.target()
    short, _ = exact_law(monkeypatch, subject, (), depth)
    assert total_variation(short, target, (), depth, 4) < 1e-12
    law, _ = exact_law(monkeypatch, subject, (), depth + 1)
    assert total_variation(law, target, (), depth + 1, 4) == pytest.approx(tv, abs=1e-4)


@pytest.mark.distribution
@pytest.mark.parametrize("factory, verdict", [(adapter.correct, "no_bias_found"), (adapter.late_residual, "biased")])
def test_audits_by_sampling(factory, verdict):
    """alpha 1e-3, seed 0, two rounds or more."""
    assert audit(factory(), target=adapter.target(), tokens=4, samples=2000, alpha=1e-3).verdict == verdict


def test_what_a_function_is_given():
    """Root first, siblings by the drafter's order, -1 and NaN where a path has ended."""
    seen = []

    def spy(logits, candidates, logits_processor):
        seen.append((logits, candidates, logits_processor))
        return torch.tensor(0), 1, torch.tensor([0.0, 1.0, 0.0, 0.0])

    ids = adapter.walker(spy, depth=2, branching=3, temperature=2.0)((2,), 2, seed=0)
    logits, candidates, processor = seen[0]
    q, p = TableModel(4, DRAFTER_SEED), TableModel(4, adapter.TARGET_SEED)
    first = q.after([0, 2]).argsort(descending=True)[:3].tolist()
    second = q.after([2, first[0]]).argsort(descending=True)[:3].tolist()
    chosen = [[2, first[0], x] for x in second] + [[2, x, -1] for x in first[1:]]
    assert candidates.tolist() == chosen
    assert logits.shape == (5, 3, 4)
    for row in logits[:3]:
        assert torch.equal(row[:2], torch.stack([p.after([0, 2]), p.after([2, first[0]])]))
    assert logits[3:, 2].isnan().all() and not logits[:3].isnan().any()
    assert torch.equal(processor(None, logits[:1, 0]), logits[:1, 0] / 2)
    assert ids == [first[0], 1]


def test_draws_repeat_with_their_seed_keep_no_state_and_leave_the_generators_alone():
    subject = adapter.correct(branching=3)
    states = random.getstate(), torch.random.get_rng_state()
    first = subject((1, 2), 5, seed=7)
    others = {tuple(subject((1, 2), 5, seed=seed)) for seed in range(10)}
    assert subject((1, 2), 5, seed=7) == first
    assert len(first) == 5 and len(others) > 1
    assert random.getstate() == states[0] and torch.equal(torch.random.get_rng_state(), states[1])


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"branching": 5}, "branching must be an integer in 1..4, got 5"),
        ({"depth": 0}, "depth must be an integer >= 1, got 0"),
        ({"temperature": 0}, "temperature must be a positive number, got 0"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(InputError, match=message):
        adapter.correct(**settings)
