"""flashspec's functions as subjects: exact laws by an independent enumeration (float32), and audits by sampling."""

import sys

import pytest

from rheocheck.adapters import flashspec as adapter
from rheocheck.audit import audit
from rheocheck.core.errors import InputError, MissingExtra
from tests.adapters.enumerator import exact_law, total_variation

ALPHA = 1e-3
LOSSLESS = {
    "step": (adapter.rejection_step, {}),
    "step without bonus": (adapter.rejection_step, {"bonus": False}),
    "one-hot": (adapter.onehot_step, {}),
    "one-hot lookup": (adapter.onehot_step, {"lookup": True}),
    "sample": (adapter.rejection_sample, {}),
}


@pytest.mark.distribution
@pytest.mark.parametrize("settings", [{"vocab_size": 2}, {"vocab_size": 3, "temperature": 0.5, "drafts": 1}])
@pytest.mark.parametrize("name", LOSSLESS)
def test_the_exact_law_is_the_targets(monkeypatch, name, settings):
    """Within the rounding of float32."""
    factory, more = LOSSLESS[name]
    law, _ = exact_law(monkeypatch, factory(**settings, **more), (1,), 3)
    target = adapter.target(vocab_size=settings["vocab_size"], temperature=settings.get("temperature", 1.0))
    assert total_variation(law, target, (1,), 3, settings["vocab_size"]) < 1e-6


@pytest.mark.distribution
def test_typical_acceptance_is_lossy(monkeypatch):
    law, _ = exact_law(monkeypatch, adapter.typical(vocab_size=3), (1,), 3)
    assert total_variation(law, adapter.target(vocab_size=3), (1,), 3, 3) == pytest.approx(0.562, abs=1e-3)


@pytest.mark.distribution
@pytest.mark.parametrize("name", LOSSLESS)
def test_audits_of_the_lossless_functions(name):
    """alpha 1e-3, seed 0, vocabulary 4, two rounds or more."""
    factory, more = LOSSLESS[name]
    verdict = audit(factory(**more), target=adapter.target(), tokens=4, samples=1200, alpha=ALPHA)
    assert verdict.verdict == "no_bias_found"


@pytest.mark.distribution
def test_the_audit_finds_typical_acceptance():
    verdict = audit(adapter.typical(), target=adapter.target(), tokens=4, samples=1200, alpha=ALPHA)
    assert verdict.verdict == "biased"


def test_lookups_are_accepted_and_refused(monkeypatch):
    """Both outcomes and both lengths of proposals occur: otherwise the lookup would test nothing."""
    from flashspec.sampling import rejection

    seen, step = set(), rejection.rejection_step_onehot

    def spy(drafted, rows, found=None, **keywords):
        result = step(drafted, rows, found, **keywords)
        seen.add((int(found[0]), int(result[0, 0])))
        return result

    monkeypatch.setattr(rejection, "rejection_step_onehot", spy)
    subject = adapter.onehot_step(lookup=True)
    for seed in range(40):
        subject((1, 2, 0), 4, seed=seed)
    assert {(0, 0), (2, 0), (2, 1), (2, 2)} <= seen


@pytest.mark.parametrize("name", LOSSLESS)
def test_draws_repeat_with_their_seed_and_keep_no_state(name):
    factory, more = LOSSLESS[name]
    subject = factory(drafts=3, **more)
    first = subject((1, 2), 5, seed=7)
    subject((3,), 4, seed=8)
    assert subject((1, 2), 5, seed=7) == first
    assert len(first) == 5


@pytest.mark.parametrize(
    "factory, settings, message",
    [
        (adapter.rejection_step, {"drafts": 0}, "drafts must be an integer >= 1, got 0"),
        (adapter.onehot_step, {"vocab_size": 1}, "vocab_size must be an integer in 2..8, got 1"),
        (adapter.rejection_sample, {"temperature": 0}, "temperature must be a positive number, got 0"),
        (adapter.typical, {"typical_p": 0}, r"typical_p must be in \(0, 1\], got 0"),
    ],
)
def test_settings_out_of_range(factory, settings, message):
    with pytest.raises(InputError, match=message):
        factory(**settings)


@pytest.mark.parametrize("name", LOSSLESS)
def test_without_flashspec_the_error_says_what_to_install(monkeypatch, name):
    for module in [m for m in sys.modules if m.split(".")[0] == "flashspec"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "flashspec", None)
    with pytest.raises(MissingExtra, match=r"flashspec is missing: pip install 'rheocheck\[flashspec\]'"):
        LOSSLESS[name][0]()
