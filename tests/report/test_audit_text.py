"""The text of a verdict says what the verdict says."""

from rheocheck.audit.verdict import BoundaryToken, Verdict, Witness
from rheocheck.report.audit_text import audit_text


def verdict(word, **changes):
    values = dict(
        verdict=word, method="sampled", total_variation=0.012, total_variation_upper=0.0453, confidence=0.999,
        object='joint prefix of 3 tokens after context "0 1"', reference="target", p_value=0.25, e_value=4.0,
        samples=2000, paths=None, smallest_detectable_tv=0.1, alpha=1e-3, tv=0.1, witness=None, seed=7,
        log10_e=0.602, statistics={"first token": 0.8, "joint prefix": -0.4}, cross_check=0.31,
    )  # fmt: skip
    return Verdict(**{**values, **changes})


def biased(**changes):
    values = dict(
        witness=Witness((0, 1), 2, 0.5, 0.0), p_value=5e-12, e_value=2e11, log10_e=11.3, total_variation_lower=0.0061,
        statistics={"first token": 1.0, "joint prefix": 4.5, "next token given context": 12.2, "two tokens back": None},
        diagnosis="best named fault: 'x'", confirmation="fresh-seed confirmation: E = 10^9.8, reproduced",
    )  # fmt: skip
    return verdict("biased", **{**values, **changes})


def test_no_bias_found_carries_its_bound():
    assert audit_text(verdict("no_bias_found")).splitlines() == [
        "NO BIAS FOUND down to TV 0.0453, confidence 99.9%",
        '  joint prefix of 3 tokens after context "0 1", against the target',
        "  2000 draws: E = 10^0.6 (threshold 10^3), p-value 0.25, false-alarm rate 0.001",
        "  estimated TV 0.0120; at most 0.0453, with confidence 99.9%",
        "  a bias of TV 0.1000 or more would be found with probability 99.9%",
        "  cross-check: chi-square has p-value 0.31 at 2000 draws",
        "  seed: 7",
    ]


def test_e_near_one_has_no_sign():
    assert "E = 10^0.0 (" in audit_text(verdict("no_bias_found", log10_e=-0.01))


def test_biased_shows_what_it_rests_on():
    assert audit_text(biased()).splitlines() == [
        "BIASED",
        '  joint prefix of 3 tokens after context "0 1", against the target',
        "  2000 draws: E = 10^11.3 (threshold 10^3), p-value 5e-12, false-alarm rate 0.001",
        "  estimated TV 0.0120; at least 0.0061, at most 0.0453, with confidence 99.9% each",
        "  a bias of TV 0.1000 or more would be found with probability 99.9%",
        "  log10 E of two tokens back: infinite, an impossible token",
        "  log10 E of next token given context: 12.2",
        "  log10 E of joint prefix: 4.5",
        '  witness: after context "0 1", token 2: emitted with frequency 0.5000, target 0.0000',
        "  best named fault: 'x'",
        "  fresh-seed confirmation: E = 10^9.8, reproduced",
        "  cross-check: chi-square has p-value 0.31 at 2000 draws",
        "  seed: 7",
    ]


def test_an_infinite_e_and_bounds_that_say_nothing():
    text = audit_text(biased(log10_e=None, e_value=None, p_value=0.0, total_variation_lower=0, total_variation_upper=1))
    assert "2000 draws: E is infinite (threshold 10^3), p-value 0, false-alarm rate 0.001" in text
    assert "  estimated TV 0.0120\n" in text


def test_the_best_bet_is_shown_even_where_only_all_together_decide():
    text = audit_text(biased(statistics={"first token": 2.9, "joint prefix": 2.8}))
    assert "log10 E of first token: 2.9" in text
    assert "log10 E of joint prefix" not in text


def test_thresholds_that_are_no_power_of_ten():
    assert "(threshold 10^1.3), p-value 0.25, false-alarm rate 0.05" in audit_text(verdict("no_bias_found", alpha=0.05))


def test_boundary_tokens_and_notes_are_shown():
    text = audit_text(
        verdict("inconclusive", boundary_tokens=(BoundaryToken((), 1, 0.0, 4),), notes=("draw more",), seed=None)
    )
    assert 'boundary token: after context "", token 1 is within rounding of a filter\'s cut-off' in text
    assert "emitted 4 times" in text
    assert text.endswith("note: draw more")
    assert "seed" not in text


def test_a_run_without_draws_claims_nothing():
    text = audit_text(
        verdict(
            "inconclusive", p_value=None, total_variation=None, samples=0, smallest_detectable_tv=1.0, cross_check=None
        )
    )
    assert "p-value" not in text
    assert "0 draws are too few to be certain of finding any bias, however large: draw more" in text
