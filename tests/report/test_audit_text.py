"""The text of a verdict says what the verdict says."""

from rheocheck.audit.verdict import Boundary, Verdict, Witness
from rheocheck.report.audit_text import audit_text


def verdict(word, **changes):
    values = dict(
        verdict=word, method="sampled", total_variation=0.012, total_variation_upper=0.0453, confidence=0.999,
        object='joint prefix of 3 tokens after context "0 1"', reference="target", p_value=0.25, e_value=None,
        samples=2000, paths=None, smallest_detectable_tv=0.1, alpha=1e-3, tv=0.1, witness=None, seed=7,
    )  # fmt: skip
    return Verdict(**{**values, **changes})


def test_no_bias_found_carries_its_bound():
    assert audit_text(verdict("no_bias_found")).splitlines() == [
        "NO BIAS FOUND down to TV 0.0453, confidence 99.9%",
        '  joint prefix of 3 tokens after context "0 1", against the target',
        "  2000 draws: p-value 0.25 (false alarms: 0.001)",
        "  estimated TV 0.0120, below 0.0453 with confidence 99.9%",
        "  any bias from TV 0.1000 on is found with power 99.9%",
        "  seed: 7",
    ]


def test_biased_shows_its_witness():
    text = audit_text(verdict("biased", witness=Witness((0, 1), 2, 0.5, 0.0), p_value=0.0))
    assert text.startswith("BIASED\n")
    assert 'witness: after context "0 1", token 2: emitted frequency 0.5000, by the target 0.0000' in text


def test_boundary_tokens_and_notes_are_shown():
    text = audit_text(
        verdict("inconclusive", boundary_tokens=(Boundary((), 1, 0.0, 4),), notes=("draw more",), seed=None)
    )
    assert 'boundary token: after context "", token 1 is within rounding of a filter\'s cut-off' in text
    assert "emitted 4 times" in text
    assert text.endswith("note: draw more")
    assert "seed" not in text


def test_a_run_without_draws_claims_nothing():
    text = audit_text(
        verdict("inconclusive", p_value=None, total_variation=None, samples=0, smallest_detectable_tv=1.0)
    )
    assert "p-value" not in text
    assert "is found" not in text
