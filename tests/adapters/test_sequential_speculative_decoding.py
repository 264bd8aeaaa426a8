"""sequential-speculative-decoding as a subject: exact laws by an independent enumeration, and audits by sampling."""

import sys

import pytest

from rheocheck.adapters import sequential_speculative_decoding as adapter
from rheocheck.audit import audit
from rheocheck.core.errors import InputError, MissingExtra
from tests.adapters.enumerator import exact_law, total_variation

ALPHA = 1e-3
SUBJECTS = {"standard": adapter.standard, "naive": adapter.naive, "capped": adapter.capped}


@pytest.mark.distribution
@pytest.mark.parametrize(
    "name, settings, tokens",
    [
        ("standard", {"vocab_size": 3}, 3),
        ("standard", {"vocab_size": 2, "drafts": 3, "temperature": 0.5}, 3),
        ("naive", {"vocab_size": 3}, 3),
        ("naive", {"vocab_size": 4, "temperature": 2.0}, 3),
        ("naive", {"vocab_size": 2, "drafts": 3}, 4),
        ("capped", {"vocab_size": 3, "drafts": 1}, 3),  # nothing to cap
    ],
)
def test_the_exact_law_is_the_targets(monkeypatch, name, settings, tokens):
    law, _ = exact_law(monkeypatch, SUBJECTS[name](**settings), (1,), tokens)
    target = adapter.target(vocab_size=settings["vocab_size"], temperature=settings.get("temperature", 1.0))
    assert total_variation(law, target, (1,), tokens, settings["vocab_size"]) < 1e-12


@pytest.mark.distribution
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_capped_step_is_biased(monkeypatch, dtype):
    """Not by rounding: float32 and float64 agree on the bias."""
    law, _ = exact_law(monkeypatch, adapter.capped(vocab_size=3, dtype=dtype), (1,), 3)
    assert total_variation(law, adapter.target(vocab_size=3), (1,), 3, 3) == pytest.approx(0.8184, abs=1e-4)


@pytest.mark.distribution
@pytest.mark.parametrize(
    "name, verdict", [("standard", "no_bias_found"), ("naive", "no_bias_found"), ("capped", "biased")]
)
def test_audits_by_sampling(name, verdict):
    """alpha 1e-3, seed 0, vocabulary 4, two rounds or more."""
    found = audit(SUBJECTS[name](), target=adapter.target(), tokens=4, samples=3000, alpha=ALPHA)
    assert found.verdict == verdict


@pytest.mark.parametrize("name", SUBJECTS)
def test_draws_repeat_with_their_seed_and_keep_no_state(name):
    subject = SUBJECTS[name](drafts=3)
    first = subject((1, 2), 5, seed=7)
    others = [subject((3,), 4, seed=seed) for seed in range(5)]
    assert subject((1, 2), 5, seed=7) == first
    assert len(first) == 5 and {len(ids) for ids in others} == {4}
    assert all(x in range(4) for ids in [first, *others] for x in ids)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"vocab_size": 9}, "vocab_size must be an integer in 2..8, got 9"),
        ({"drafts": 0}, "drafts must be an integer >= 1, got 0"),
        ({"temperature": 0}, "temperature must be a positive number, got 0"),
        ({"dtype": "half"}, "dtype must be one of float32, float64, got 'half'"),
    ],
)
@pytest.mark.parametrize("name", SUBJECTS)
def test_settings_out_of_range(name, settings, message):
    with pytest.raises(InputError, match=message):
        SUBJECTS[name](**settings)


@pytest.mark.parametrize("name", SUBJECTS)
def test_without_the_package_the_error_says_what_to_install(monkeypatch, name):
    for module in ("seqspecdecod", "seqspecdecod.standard_sd", "seqspecdecod.naive_hsd", "seqspecdecod.capped_hsd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"seqspecdecod.* is missing: pip install 'rheocheck\[seqspecdecod\]'"):
        SUBJECTS[name]()
