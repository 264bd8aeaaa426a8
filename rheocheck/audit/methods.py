"""One question, by whichever method: sampled, exact, or auto, which is exact as far as that is possible.

Auto tries interception for BUDGET seconds. A decided exact verdict is final. Otherwise it samples, and says why.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from rheocheck.audit.arguments import check_budget, check_integers
from rheocheck.audit.choose_object import DEFAULT_TV
from rheocheck.audit.objects import asked_tokens, not_looked_at
from rheocheck.audit.sampled import audit as sampled_audit
from rheocheck.audit.samples_file import RecordedSamples, is_samples_file
from rheocheck.audit.verdict import Verdict
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

METHODS = ("auto", "exact", "sampled")
BUDGET = 20.0  # seconds of an enumeration that auto waits for


def audit(
    subject: Any,
    *,
    method: str = "sampled",
    target: Any = None,
    baseline: Any = None,
    context: Context = (),
    tokens: int | None = None,
    drafts: int | None = None,
    samples: int | None = None,
    alpha: float = 1e-6,
    tv: float | None = None,
    rtol: float | None = None,
    float_tolerance: float = 1e-6,
    max_paths: int | None = None,
    max_seconds: float | None = None,
    depth: int | None = None,
    eos: int | None = None,
    seed: int = 0,
    resume: str | None = None,
    resume_anyway: bool = False,
    question: dict[str, Any] | None = None,
    confirm: bool = True,
    plain_runs: int | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] | None = None,
) -> Verdict:
    """Whether `subject` emits the law of `target` (or of `baseline`) over `tokens` tokens after `context`.

    method   sampled; exact; auto: exact within a budget (`max_seconds`, else 20 s), and sampled where that decides
             nothing. `samples`, `depth`, `resume` and recorded samples are for sampled: with auto they mean it
    The others: tokens, drafts, samples, tv, depth, eos, resume, resume_anyway, announce as in `audit.sampled`;
    float_tolerance, max_paths, max_seconds, plain_runs as in `audit.exact`. Ctrl-C ends a run early: the verdict is
    about what was seen. Raises InputError.
    """
    if method not in METHODS:
        raise InputError(f"--method must be one of {', '.join(METHODS)}, got {method!r}: try auto")
    check_budget(max_paths, max_seconds, float_tolerance)
    check_integers(plain_runs=(plain_runs, 1))
    shared: dict[str, Any] = dict(
        target=target, baseline=baseline, context=tuple(context), alpha=alpha, rtol=rtol, eos=eos, seed=seed,
        question=question, confirm=confirm, progress=progress,
    )  # fmt: skip
    exact = shared | dict(
        tv=DEFAULT_TV if tv is None else tv, float_tolerance=float_tolerance, max_paths=max_paths, plain_runs=plain_runs
    )  # fmt: skip
    exact["tokens"] = asked_tokens(tokens, drafts)[0]
    sampling = shared | dict(
        tokens=tokens, drafts=drafts, samples=samples, tv=tv, depth=depth, resume=resume, resume_anyway=resume_anyway,
        announce=announce,
    )  # fmt: skip
    asked = {"--samples": samples, "--depth": depth, "--resume": resume}
    asked |= {"--resume-anyway": resume_anyway or None}
    given = next((name for name, value in asked.items() if value is not None), None)
    if method == "exact" and given:
        raise InputError(f"{given} must go with --method sampled, got --method exact: nothing is drawn, drop it")
    if method == "sampled" and (max_paths is not None or max_seconds is not None):
        name, value = ("paths", max_paths) if max_seconds is None else ("seconds", max_seconds)
        raise InputError(f"--max-{name} must go with --method exact or auto, got {value} with sampled: try --samples")
    if method == "sampled" and plain_runs is not None:
        raise InputError(
            f"--plain-runs must go with --method exact or auto, got {plain_runs} with sampled: try --samples"
        )
    if method == "exact":
        return _with_limits(_exact(subject, max_seconds=max_seconds, **exact), drafts)
    note = None
    if method == "auto":
        recorded = any(_is_recorded(side) for side in (subject, baseline))
        if given or recorded:
            note = f"method auto means sampled with {given or 'recorded samples'}"
        else:
            found, note = _tried(subject, BUDGET if max_seconds is None else max_seconds, exact)
            if found is not None:
                return _with_limits(found, drafts)
    verdict = sampled_audit(subject, **sampling)
    return verdict if note is None else dataclasses.replace(verdict, notes=(*verdict.notes, note))


def _exact(subject: Any, **question: Any) -> Verdict:
    from rheocheck.audit.exact import exact_audit  # late: sampled audits need no interception

    return exact_audit(subject, **question)


def _with_limits(verdict: Verdict, drafts: int | None) -> Verdict:
    """A pass that was not asked about a number of drafts says what it did not look at."""
    if drafts is not None or verdict.verdict != "no_bias_found" or verdict.tokens is None:
        return verdict
    return dataclasses.replace(verdict, notes=(*verdict.notes, not_looked_at(verdict.tokens)))


def _tried(subject: Any, seconds: float, question: dict[str, Any]) -> tuple[Verdict | None, str]:
    """The exact verdict if it is final, else why not."""
    try:
        verdict = _exact(subject, max_seconds=seconds, **question)
    except InputError as error:  # not understood, or too large; what is wrong with the input sampling refuses too
        return None, f"method auto fell back to sampling: {error}"
    if verdict.verdict != "inconclusive" or verdict.interrupted:
        return verdict, ""
    if verdict.confirmation is not None:
        return None, f"method auto fell back to sampling: {verdict.notes[0]} ({verdict.confirmation})"
    return None, (
        f"method auto fell back to sampling: {verdict.notes[-1]}; TV lies between {verdict.total_variation_lower:.3g} "
        f"and {verdict.total_variation_upper:.3g}"
    )


def _is_recorded(side: Any) -> bool:
    return isinstance(side, RecordedSamples) or (isinstance(side, str) and is_samples_file(side))
