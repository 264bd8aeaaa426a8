"""The bare rule of transformers as a subject: its exact law by an independent enumeration."""

import sys

import pytest

from rheocheck.adapters import speculative_sampling as adapter
from rheocheck.audit import audit
from rheocheck.core.errors import InputError, MissingExtra
from tests.adapters.enumerator import exact_law, total_variation

ALPHA = 1e-3


@pytest.mark.distribution
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-12), ("float32", 1e-6)])
@pytest.mark.parametrize("settings, tokens", [({"vocab_size": 3}, 3), ({"vocab_size": 4, "temperature": 0.5}, 2)])
def test_the_exact_law_is_the_targets(monkeypatch, settings, tokens, dtype, tolerance):
    settings = settings | {"dtype": dtype}
    law, _ = exact_law(monkeypatch, adapter.speculative_sampling(**settings), (1,), tokens)
    assert total_variation(law, adapter.target(**settings), (1,), tokens, settings["vocab_size"]) < tolerance


@pytest.mark.distribution
def test_the_ensemble_weight_emits_the_mixture_it_declares(monkeypatch):
    """Both tokens are drafted and verified: each is from 0.9 p + 0.1 q, exactly."""
    from rheocheck.adapters.sampling_parameters import SamplingParameters
    from rheocheck.adapters.tiny_models import DRAFTER_SEED, ModelLaw, TableModel

    law, _ = exact_law(monkeypatch, adapter.speculative_sampling(vocab_size=3, ensemble_weight=0.9), (1,), 2)
    p, q = adapter.target(vocab_size=3), ModelLaw(TableModel(3, DRAFTER_SEED), SamplingParameters())
    first = {x: sum(weight for word, weight in law.items() if word[0] == x) for x in range(3)}
    assert first == pytest.approx({x: 0.9 * p((1,))[x] + 0.1 * q((1,))[x] for x in range(3)}, abs=1e-12)
    assert total_variation(law, p, (1,), 2, 3) > 0.05


@pytest.mark.distribution
@pytest.mark.parametrize("weight, verdict", [(None, "no_bias_found"), (0.5, "biased")])
def test_audits_by_sampling(weight, verdict):
    """alpha 1e-3, seed 0, vocabulary 4, two rounds or more."""
    subject = adapter.speculative_sampling(ensemble_weight=weight)
    assert audit(subject, target=adapter.target(), tokens=4, samples=3000, alpha=ALPHA).verdict == verdict


def test_draws_repeat_with_their_seed_and_keep_no_state():
    subject = adapter.speculative_sampling(drafts=3)
    first = subject((1, 2), 5, seed=7)
    subject((3,), 4, seed=8)
    assert subject((1, 2), 5, seed=7) == first
    assert len(first) == 5


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"drafts": 1.5}, "drafts must be an integer >= 1, got 1.5"),
        ({"ensemble_weight": 0}, r"ensemble_weight must be in \(0, 1\), got 0"),
        ({"temperature": -1}, "temperature must be a positive number, got -1"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(InputError, match=message):
        adapter.speculative_sampling(**settings)


def test_without_transformers_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers.generation.utils", None)
    with pytest.raises(MissingExtra, match=r"is missing: pip install 'rheocheck\[hf\]'"):
        adapter.speculative_sampling()
