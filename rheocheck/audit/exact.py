"""The exact audit: the law of unmodified code, by enumerating every random choice it makes.

    biased         TV is certainly above what rounding of the code and of the law may amount to
    no_bias_found  it certainly is not. Never "lossless": the law is that of float code
    inconclusive   the enumeration was cut short and its interval decides nothing; or a plain run contradicts it

Nothing in an enumeration is random, so confidence is 1 - if interception understood every choice. That is checked by
plain runs of the subject, which confirm a bias, and bound what can be hidden behind "no bias found" (audit.plain_runs).
"""

from fractions import Fraction
from typing import Any

from rheocheck.audit.arguments import check_budget, check_integers, check_question
from rheocheck.audit.bar import covered_bar
from rheocheck.audit.batched_door import with_batched_door
from rheocheck.audit.boundaries import boundary_faults, boundary_tokens, faulty_events
from rheocheck.audit.confirmation import Confirmation, plain_run
from rheocheck.audit.difference import difference
from rheocheck.audit.exact_witness import exact_witness, replay_command, shown_path, unexplained_path
from rheocheck.audit.impossible import described, exact_notes
from rheocheck.audit.joint_law import joint_law
from rheocheck.audit.plain_runs import PlainRuns, Side
from rheocheck.audit.plain_runs import plain_runs as run_plainly
from rheocheck.audit.processes import Importable, importable
from rheocheck.audit.references import BaselineReference, Reference, TargetReference
from rheocheck.audit.rests_on import rests_on
from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.stopping import stopped_target
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

RESCALED = "that is right only where what is left of it is rescaled, or where the questions are one draw"
MAX_REUSES = 3  # notes about them


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
    eos: int | None = None,
    seed: int = 0,
    question: dict[str, Any] | None = None,
    confirm: bool = True,
    plain_runs: int | None = None,
    progress: bool | None = None,
) -> Verdict:
    """Whether the exact law of `subject` is that of `target` (or of `baseline`) over `tokens` tokens after `context`.

    subject, target, baseline, context, tokens, rtol  as in `audit`; recorded samples have no code to enumerate
    float_tolerance  TV that rounding in the subject's own numbers may amount to
    max_paths, max_seconds  end the enumeration early, with a certified interval for TV; Ctrl-C does too
    alpha     of the look at `subject.sample`, if there is one: an enumeration has no false alarms
    tv        only repeated in the verdict: an enumeration finds any bias
    eos       the end-of-text token: a text ends behind it (`audit.stopping`); None: no text may end early
    question  what a command line calls the subject, target and settings: for the command that reruns a path
    confirm   check the enumerated law by plain runs of the code; without them nothing is said of hidden randomness
    plain_runs  how many of them, instead of at least 200 and as many as the time of the enumeration allows
    progress  a progress bar on stderr: yes, no, or (None) when stderr is a terminal

    Raises InputError, and its subclass NotUnderstood where the subject does what interception cannot follow.
    """
    context = tuple(context)
    check_question(target, baseline, context, tokens, alpha=alpha, tv=tv, rtol=rtol, seed=seed)
    check_budget(max_paths, max_seconds, float_tolerance)
    check_integers(eos=(eos, 0), plain_runs=(plain_runs, 1))
    sides = [_live(subject, context, "SUBJECT")]
    sides += [] if baseline is None else [_live(baseline, context, "--baseline")]
    law = _target(target, eos, context)
    rtol = 0.0 if law is None else rtol if rtol is not None else EXACT_RTOL if law.exact else FLOAT_RTOL
    # A target comes first: that it cannot be used should not take an enumeration to find out.
    reference = None if law is None else TargetReference(joint_law(law, context, tokens, rtol), context, law.vocab_size)
    found = _enumerated(sides, context, tokens, max_paths, max_seconds, seed, eos, progress)
    outcome = _Outcome(
        found, reference or BaselineReference(found[-1], context, tokens), context, tokens, float_tolerance,
        (1 + rtol) ** tokens - 1, seed, eos,
    )  # fmt: skip
    plain, runs = None, None
    if confirm and outcome.word == "biased" and not outcome.interrupted:
        plain = outcome.confirmed(sides, plain_runs, progress)
    if confirm and outcome.word == "no_bias_found" and not outcome.interrupted:
        runs = outcome.run_plainly(sides, _names(sides, subject, baseline, question), plain_runs, progress)
    verdict = outcome.verdict(plain, question, alpha, tv)
    if outcome.word == "no_bias_found":
        verdict = rests_on(verdict, runs, DISAGREE)
    return outcome.with_batched_door(verdict, sides)


class _Outcome:
    """What was enumerated, of the subject and maybe of a baseline, and what it says against the reference."""

    def __init__(
        self, found: tuple[Enumeration, ...], reference: Reference, context: Context, tokens: int,
        float_tolerance: float, law_tolerance: float, seed: int, eos: int | None,
    ) -> None:  # fmt: skip
        self.found, self.reference, self.context, self.tokens, self.seed = found, reference, context, tokens, seed
        self.eos, self.size, self.float_tolerance = eos, reference.size, float_tolerance
        self.law_tolerance = law_tolerance
        self.tolerance = float_tolerance + law_tolerance / 2
        self.seen = difference(found[0], reference)
        self.word = self.seen.word(float_tolerance, law_tolerance)
        self.stopped = next((one.stopped for one in found if one.stopped), None)
        self.interrupted = any(one.stopped == "interrupted" for one in found)
        self.faults = boundary_faults(found[0], reference)

    def run_plainly(
        self, sides: list[Any], names: list[Importable | None], number: int | None, progress: bool | None
    ) -> PlainRuns:
        """What plain runs exclude that the enumeration could not see."""
        laws = [self.seen.emitted, self.seen.reference]
        checked = [
            Side(side, law, self.reference.cell, name, self._never())
            for side, law, name in zip(sides, laws, names, strict=False)
        ]
        return run_plainly(
            checked, self.context, self.tokens, seed=self.seed, seconds=sum(one.seconds for one in self.found),
            number=number, eos=self.eos, progress=progress,
        )  # fmt: skip

    def _never(self) -> frozenset[Context]:
        """Words that come on events of probability zero only."""
        return frozenset(event.word for event in faulty_events(self.found[0], self.reference))

    def confirmed(self, sides: list[Any], number: int | None, progress: bool | None) -> Confirmation:
        """What plain draws say."""
        return plain_run(
            sides, self.reference, self.seen, self.law_tolerance, context=self.context, tokens=self.tokens,
            seed=self.seed, never=self._never(), number=number, progress=progress, eos=self.eos,
        )  # fmt: skip

    def with_batched_door(self, verdict: Verdict, sides: list[Any]) -> Verdict:
        """The verdict about `subject.sample` too."""
        return with_batched_door(
            verdict, sides, self.seen, self.reference, self._never(), context=self.context, eos=self.eos,
            seed=self.seed,
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
        """The witness, and a path to it that the target does not explain."""
        found = exact_witness(self.found[0], self.reference, self.float_tolerance)
        witness = found and Witness(self.context + found.context, found.token, found.emitted, found.target)
        path = unexplained_path(self.found[0], self.reference, self.seen, found)
        witness = witness and described(witness, self.size, path.failure if path else None)
        if path is None:
            return witness, None
        indices = [choice.index for choice in path.choices]
        replay = replay_command(indices, self.context, self.tokens, self.seed, question, self.eos)
        return witness, shown_path(path, replay)

    def _notes(self, plain: Confirmation | None) -> tuple[str, ...]:
        notes = [DISAGREE] if plain is not None and not plain.agrees else []
        notes += exact_notes(self.found[0], self.size, self.eos, biased=self.word == "biased")
        notes += [f"{reuse}; {RESCALED}" for reuse in self.found[0].reuses[:MAX_REUSES]]
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


def _names(sides: list[Any], subject: Any, baseline: Any, question: dict[str, Any] | None) -> list[Importable | None]:
    """By what names other processes can import the subject and the baseline."""
    asked = question or {}
    given = (("subject", subject, "SUBJECT"), ("baseline", baseline, "--baseline"))
    names = []
    for side, (key, value, what) in zip(sides, given, strict=False):
        spec, settings = (value, {}) if isinstance(value, str) else (asked.get(key), asked.get("settings"))
        names.append(importable(side, spec if isinstance(spec, str) else None, settings, what))
    return names


def _target(target: Any, eos: int | None, context: Context) -> Target | None:
    if target is None:
        return None
    whole = load_target(target, {}, context) if isinstance(target, str) else as_target(target, context)
    return stopped_target(whole, eos, context)


def _enumerated(
    sides: list[Any], context: Context, tokens: int, max_paths: int | None, max_seconds: float | None, seed: int,
    eos: int | None, progress: bool | None,
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
                0,
                enumerate_law(
                    side, context, tokens, max_paths=max_paths, max_seconds=share, progress=bar, seed=seed, eos=eos
                ),
            )
        left = None if left is None else max(0.0, left - found[0].seconds)
    return tuple(found)
