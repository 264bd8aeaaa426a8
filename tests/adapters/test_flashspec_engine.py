"""flashspec's engine as a subject: exact laws of two tokens, audits by sampling, and no state between calls."""

import subprocess
import sys

import pytest

from rheocheck.adapters import flashspec_engine as adapter
from rheocheck.audit import audit
from rheocheck.core.errors import InputError
from tests.adapters.enumerator import exact_law, total_variation


@pytest.mark.distribution
@pytest.mark.parametrize("strategy, drafts, tokens", [("model", 1, 2), ("lookup", 2, 2)])
def test_the_exact_law_is_the_targets(monkeypatch, strategy, drafts, tokens):
    subject = adapter.engine(vocab_size=3, strategy=strategy, drafts=drafts)
    law, _ = exact_law(monkeypatch, subject, (1, 0), tokens)
    assert total_variation(law, adapter.target(vocab_size=3), (1, 0), tokens, 3) < 1e-6


@pytest.mark.distribution
@pytest.mark.parametrize("strategy", adapter.STRATEGIES)
def test_audits_by_sampling(strategy):
    """alpha 1e-3, seed 0: the last token is known, so lookups hit from the first round on."""
    subject = adapter.engine(strategy=strategy)
    verdict = audit(subject, target=adapter.target(), context=(1, 2, 0), tokens=3, samples=400, alpha=1e-3)
    assert verdict.verdict == "no_bias_found"


@pytest.mark.distribution
def test_another_temperature_is_found():
    verdict = audit(
        adapter.engine(), target=adapter.target(temperature=0.5), tokens=3, samples=200, alpha=1e-3
    )  # fmt: skip
    assert verdict.verdict == "biased"


@pytest.mark.distribution
def test_the_documented_top_p_is_ignored():
    """Tokens outside the nucleus come: flashspec 0.3.1 reads top_p for typical acceptance alone."""
    verdict = audit(
        adapter.engine(top_p=0.6), target=adapter.target(top_p=0.6), tokens=2, samples=200, alpha=1e-3
    )  # fmt: skip
    assert verdict.verdict == "biased"
    same = audit(adapter.engine(top_p=0.6), target=adapter.target(), tokens=2, samples=200, alpha=1e-3)
    assert same.verdict == "no_bias_found"


@pytest.mark.parametrize("strategy", adapter.STRATEGIES)
def test_draws_repeat_with_their_seed_and_keep_no_state(strategy):
    subject = adapter.engine(strategy=strategy)
    first = subject((1, 2), 5, seed=7)
    for seed in range(4):
        subject((3, 3, 1), 6, seed=seed)
    assert subject((1, 2), 5, seed=7) == first
    assert len(first) == 5 and set(first) <= set(range(4))


def test_a_draw_prints_nothing():
    code = "from rheocheck.adapters.flashspec_engine import engine; engine()((), 3, seed=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_settings_out_of_range():
    with pytest.raises(InputError, match="strategy must be one of model, lookup, .* got 'bandit'"):
        adapter.engine(strategy="bandit")
    with pytest.raises(InputError, match="drafts must be an integer >= 1, got 0"):
        adapter.engine(drafts=0)
    with pytest.raises(InputError, match=r"top_p must be in .* got 0"):
        adapter.engine(top_p=0)
