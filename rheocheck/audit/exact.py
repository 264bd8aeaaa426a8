"""The exact audit: the law of unmodified code, by enumerating every random choice it makes.

    biased         TV is certainly above what rounding of the code and of the law may amount to
    no_bias_found  it certainly is not. Never "lossless": the law is that of float code
    inconclusive   the enumeration was cut short and its interval decides nothing; or a plain run contradicts it

Nothing here is random, so confidence is 1 - if interception understood every choice, which a plain run of the subject
checks whenever a bias was found.
"""

from fractions import Fraction
from typing import Any

from rheocheck.audit.arguments import check_budget, check_question
from rheocheck.audit.bar import covered_bar
from rheocheck.audit.boundaries import boundary_faults, boundary_tokens
from rheocheck.audit.confirmation import Confirmation, plain_run
from rheocheck.audit.difference import difference
from rheocheck.audit.exact_witness import exact_witness, replay_command, shortest_path, shown_path
from rheocheck.audit.joint_law import joint_law
from rheocheck.audit.references import BaselineReference, Reference, TargetReference
from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.subject import load_subject
from rheocheck.audit.target import EXACT_RTOL, FLOAT_RTOL, Target, as_target, load_target
from rheocheck.audit.verdict import ShownPath, Verdict, Witness
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.intercept import Enumeration, enumerate_law

FLOAT_TOLERANCE = 1e-6
DISAGREE = (
    "interception and plain runs disagree, so nothing is said about this subject: its randomness is not all "
    "intercepted, or it keeps state between runs; please report it, and try --method sampled"
)


def exact_audit(
    subject: Any,
    *,
    target: Any = None,
    baseline: Any = None,
    context: Context = (),
    tokens: int = 4,
    rtol: float | None = None,
    float_tolerance: float = FLOAT_TOLERANCE,
    max_paths: int | None = None,
    max_seconds: float | None = None,
    alpha: float = 1e-6,
    tv: float = 0.02,
    seed: int = 0,
    question: dict[str, Any] | None = None,
    confirm: bool = True,
    progress: bool | None = None,
) -> Verdict:
    """Whether the exact law of `subject` is that of `target` (or of `baseline`) over `tokens` tokens after `context`.

    subject, target, baseline, context, tokens, rtol  as in `audit`; recorded samples have no code to enumerate
    float_tolerance  TV that rounding in the subject's own numbers may amount to
    max_paths, max_seconds  end the enumeration early, with a certified interval for TV; Ctrl-C does too
    alpha, tv  only repeated in the verdict: an enumeration has no false alarms, and finds any bias
    question  what a command line calls the subject, target and settings: for the command that reruns a path
    confirm   after a bias, check the enumerated law by plain draws
    progress  a progress bar on stderr: yes, no, or (None) when stderr is a terminal

    Raises InputError, and its subclass NotUnderstood where the subject does what interception cannot follow.
    """
    context = tuple(context)
    check_question(target, baseline, context, tokens, alpha=alpha, tv=tv, rtol=rtol, seed=seed)
    check_budget(max_paths, max_seconds, float_tolerance)
    sides = [_live(subject, context, "SUBJECT")]
    sides += [] if baseline is None else [_live(baseline, context, "--baseline")]
    law = _target(target, context)
    rtol = 0.0 if law is None else rtol if rtol is not None else EXACT_RTOL if law.exact else FLOAT_RTOL
    # A target comes first: that it cannot be used should not take an enumeration to find out.
    reference = None if law is None else TargetReference(joint_law(law, context, tokens, rtol), context, law.vocab_size)
    found = _enumerated(sides, context, tokens, max_paths, max_seconds, seed, progress)
    outcome = _Outcome(
        found, reference or BaselineReference(found[-1], context, tokens), context, tokens, float_tolerance,
        (1 + rtol) ** tokens - 1, seed, any(getattr(side, "sample", None) is not None for side in sides),
    )  # fmt: skip
    plain = None
    if confirm and outcome.word == "biased" and not outcome.interrupted:
        plain = outcome.confirmed(sides, None if law is None else law.vocab_size, progress)
    return outcome.verdict(plain, question, alpha, tv)


class _Outcome:
    """What was enumerated, of the subject and maybe of a baseline, and what it says against the reference."""

    def __init__(
        self, found: tuple[Enumeration, ...], reference: Reference, context: Context, tokens: int,
        float_tolerance: float, law_tolerance: float, seed: int, batched: bool,
    ) -> None:  # fmt: skip
        self.found, self.reference, self.context, self.tokens, self.seed = found, reference, context, tokens, seed
        self.law_tolerance, self.batched = law_tolerance, batched
        self.tolerance = float_tolerance + law_tolerance / 2
        self.seen = difference(found[0], reference)
        self.word = self.seen.word(float_tolerance, law_tolerance)
        self.stopped = next((one.stopped for one in found if one.stopped), None)
        self.interrupted = any(one.stopped == "interrupted" for one in found)
        self.faults = boundary_faults(found[0], reference)

    def confirmed(self, sides: list[Any], vocab_size: int | None, progress: bool | None) -> Confirmation:
        """What plain draws say."""
        never = frozenset(fault.word for fault in self.faults)
        return plain_run(
            sides, self.reference, self.seen, self.law_tolerance, context=self.context, tokens=self.tokens,
            vocab_size=vocab_size, seed=self.seed, never=never, progress=progress,
        )  # fmt: skip

    def verdict(self, plain: Confirmation | None, question: dict[str, Any] | None, alpha: float, tv: float) -> Verdict:
        """The verdict; a plain run that contradicts the enumeration leaves none."""
        seen, unseen = self.seen, self.seen.unseen + self.seen.reference_unseen
        witness, path = self._shown(question) if self.word == "biased" else (None, None)
        return Verdict(
            verdict=self.word if plain is None or plain.agrees else "inconclusive",
            method="exact" if seen.complete else "interval",
            total_variation=seen.lower if seen.complete else None,
            total_variation_lower=seen.lower,
            total_variation_upper=seen.upper,
            confidence=1.0,
            object=self.reference.object(),
            tokens=self.tokens,
            reference=self.reference.name,
            p_value=None,
            e_value=None,
            samples=0,
            paths=sum(one.paths for one in self.found),
            unseen=unseen,
            seconds=sum(one.seconds for one in self.found),
            stopped=self.stopped,
            smallest_detectable_tv=min(1.0, self.tolerance + unseen),
            tolerance=self.tolerance,
            alpha=alpha,
            tv=tv,
            witness=witness,
            path=path,
            confirmation=self._confirmation(plain),
            boundary_tokens=boundary_tokens(self.found[0], self.reference, self.context),
            boundary_faults=self.faults,
            seed=self.seed,
            interrupted=self.interrupted,
            notes=self._notes(plain),
        )

    def _confirmation(self, plain: Confirmation | None) -> str | None:
        if plain is None and self.word == "biased" and self.interrupted:
            return "not confirmed by plain draws: interrupted"
        return None if plain is None else plain.text

    def _shown(self, question: dict[str, Any] | None) -> tuple[Witness | None, ShownPath | None]:
        """The witness, and the shortest path that shows it."""
        found = exact_witness(self.found[0], self.reference)
        witness = found and Witness(self.context + found.context, found.token, found.emitted, found.target)
        path = shortest_path(self.found[0], self.reference, self.seen, found)
        if path is None:
            return witness, None
        indices = [choice.index for choice in path.choices]
        return witness, shown_path(path, replay_command(indices, self.context, self.tokens, self.seed, question))

    def _notes(self, plain: Confirmation | None) -> tuple[str, ...]:
        notes = [DISAGREE] if plain is not None and not plain.agrees else []
        if self.batched:
            notes.append("this is the law of single calls: what subject.sample() draws was not looked at")
        if self.stopped:
            covered = 1 - max(self.seen.unseen, self.seen.reference_unseen)
            more = {"max_paths": "raise --max-paths", "max_seconds": "raise --max-seconds"}.get(self.stopped)
            what = "Ctrl-C" if self.stopped == "interrupted" else self.stopped
            text = f"{what} ended the enumeration at {covered:.4%} of the probability"
            notes.append(f"{text}: {more}, or lower --tokens" if more else text)
        return tuple(notes)


def _live(side: Any, context: Context, what: str) -> Any:
    """A subject as a function. Raises InputError for recorded samples and for what cannot be called."""
    loaded = load_subject(side, {}, context, what=what) if isinstance(side, str) else side
    if isinstance(loaded, RecordedSamples):
        raise InputError(
            f"--method exact must have code to run, got the recorded samples {loaded.path}: try --method sampled"
        )
    if not callable(loaded):
        raise InputError(
            f"a subject must be a function (context, n_tokens) -> ids, got {type(loaded).__name__}: wrap it in one"
        )
    return loaded


def _target(target: Any, context: Context) -> Target | None:
    if target is None:
        return None
    return load_target(target, {}, context) if isinstance(target, str) else as_target(target, context)


def _enumerated(
    sides: list[Any], context: Context, tokens: int, max_paths: int | None, max_seconds: float | None, seed: int,
    progress: bool | None,
) -> tuple[Enumeration, ...]:  # fmt: skip
    """The laws of the subject and of a baseline, which comes first and gets half of the time."""
    found: list[Enumeration] = []
    left = max_seconds
    for i, side in reversed(list(enumerate(sides))):
        if found and found[0].stopped == "interrupted":
            found.insert(0, Enumeration({}, Fraction(1), 0, "interrupted", 0.0, {}, ()))
            continue
        share = left if left is None or i == 0 else left / 2
        with covered_bar(progress, ("subject", "baseline")[i]) as bar:
            found.insert(
                0, enumerate_law(side, context, tokens, max_paths=max_paths, max_seconds=share, progress=bar, seed=seed)
            )
        left = None if left is None else max(0.0, left - found[0].seconds)
    return tuple(found)
