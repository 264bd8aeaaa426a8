"""Somebody else's decoders, as installed, end to end: their exact law against the law they should follow.

float32 softmax inside transformers and flashspec: TV below 1e-6; float64 tables elsewhere: 1e-12. What is known to be
biased must be found biased, with its exact TV, and a plain run must confirm it.
"""

import pytest

from rheocheck.adapters import (
    evaluate_posterior,
    flashspec,
    flashspec_engine,
    settings_matrix,
    speculative_sampling,
    transformers,
)
from rheocheck.adapters import sequential_speculative_decoding as hierarchical
from rheocheck.audit.exact import exact_audit

FLOAT32, FLOAT64 = 1e-6, 1e-12
EXACT = {
    "transformers, assisted": (transformers.assisted, transformers.target, {}, (), 3, FLOAT32),
    "transformers, prompt lookup": (transformers.prompt_lookup, transformers.target, {}, (1, 2, 0), 3, FLOAT32),
    "transformers, early exit": (transformers.early_exit, transformers.early_exit_target, {}, (), 3, FLOAT32),
    "transformers, its bare rule": (
        speculative_sampling.speculative_sampling, speculative_sampling.target, {}, (1,), 2, FLOAT64,
    ),
    "sequential-speculative-decoding, standard": (hierarchical.standard, hierarchical.target, {}, (), 2, FLOAT64),
    "sequential-speculative-decoding, naive": (hierarchical.naive, hierarchical.target, {}, (), 3, FLOAT64),
    "flashspec, rejection step": (flashspec.rejection_step, flashspec.target, {}, (), 2, FLOAT32),
    "flashspec, one-hot step": (flashspec.onehot_step, flashspec.target, {}, (), 4, FLOAT32),
    "flashspec, its lookup": (flashspec.onehot_step, flashspec.target, {"lookup": True}, (1, 2, 0), 3, FLOAT32),
    "flashspec, rejection sample": (flashspec.rejection_sample, flashspec.target, {}, (), 2, FLOAT32),
    "flashspec, engine": (
        flashspec_engine.engine, flashspec_engine.target, {"strategy": "lookup"}, (), 3, FLOAT32,
    ),
    "EAGLE's convention": (evaluate_posterior.correct, evaluate_posterior.target, {}, (), 4, FLOAT64),
}  # fmt: skip
BIASED = {  # exact TV by an enumerator that is independent of the package (tests/adapters/enumerator.py)
    "transformers, ensemble weight": (
        speculative_sampling.speculative_sampling, speculative_sampling.target, {"ensemble_weight": 0.9}, (1,), 2, None
    ),
    "sequential-speculative-decoding, capped": (hierarchical.capped, hierarchical.target, {}, (), 3, 0.6279),
    "flashspec, typical": (flashspec.typical, flashspec.target, {}, (1,), 3, 0.5620),
    "a bonus from the residual": (evaluate_posterior.late_residual, evaluate_posterior.target, {}, (), 2, None),
}  # fmt: skip


@pytest.mark.distribution
@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    subject, target, settings, context, tokens, tolerance = EXACT[name]
    verdict = exact_audit(
        subject(vocab_size=3, **settings), target=target(vocab_size=3), context=context, tokens=tokens,
        float_tolerance=tolerance, rtol=0.0, plain_runs=200,
    )  # fmt: skip
    assert (verdict.verdict, verdict.method) == ("no_bias_found", "exact")
    assert verdict.total_variation <= tolerance


@pytest.mark.distribution
@pytest.mark.parametrize("name", BIASED)
def test_biased_and_confirmed(name):
    subject, target, settings, context, tokens, tv = BIASED[name]
    verdict = exact_audit(
        subject(vocab_size=3, **settings), target=target(vocab_size=3), context=context, tokens=tokens
    )
    assert (verdict.verdict, verdict.method) == ("biased", "exact")
    assert tv is None or verdict.total_variation == pytest.approx(tv, abs=1e-4)
    assert verdict.confirmation.startswith("confirmed by")
    assert verdict.path is not None and verdict.path.choices


@pytest.mark.distribution
def test_transformers_accepts_a_masked_token_when_its_coin_is_zero():
    """`r_i <= probability_ratio` (transformers 5.24): a boundary fault under any filter, and none without one."""
    rows = {name: (subject, target) for name, subject, target, _ in settings_matrix.assisted(vocab_size=3)}
    for name, boundary in (("top_k and top_p", True), ("banned token", False), ("temperature 1", False)):
        subject, target = rows[name]
        verdict = exact_audit(subject, target=target, tokens=2)
        assert verdict.verdict == "no_bias_found"
        assert bool(verdict.boundary_faults) == boundary, name


@pytest.mark.slow
@pytest.mark.distribution
@pytest.mark.parametrize(("vocab_size", "tokens"), [(3, 4), (4, 3)])
def test_every_setting_of_assisted_generation(vocab_size, tokens):
    """Two drafts, the joint law over at least two rounds; about half a minute a setting."""
    for name, subject, target, declared in settings_matrix.assisted(vocab_size=vocab_size):
        verdict = exact_audit(subject, target=target, tokens=tokens, confirm=False)
        assert verdict.method == "exact", name
        if declared == "lossy":
            assert verdict.verdict == "biased" and verdict.total_variation > 0.05
        else:
            assert verdict.verdict == "no_bias_found" and verdict.total_variation < 1e-6, name
