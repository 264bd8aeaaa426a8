"""The sampled audit: draw from a subject, compare with a law or with a second subject, say what is certain.

    biased         E has reached 1/alpha: a correct decoder does this with probability <= alpha, however often one looks
    no_bias_found  TV of the named object is at most `tv`, with confidence 99.9 %, and the draws show no dependence
    inconclusive   neither, within the draws that were allowed

Statistic: the battery of bets of `rheocheck.stats.battery`, sequential; chi-square at the final sample size is shown
beside it as a cross-check.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.against_baseline import AgainstBaseline, Pilot, baseline_plan, baseline_reach, saved_pilot
from rheocheck.audit.against_law import AgainstLaw, law_reach
from rheocheck.audit.arguments import check_integers, check_question
from rheocheck.audit.both_calls import BATCHED, MAIN, PLAIN_CALL, OtherDoor, against_evidence, has_two, share
from rheocheck.audit.choose_object import DEFAULT_TV, UNLIMITED, choose_object
from rheocheck.audit.evidence import Evidence
from rheocheck.audit.fingerprint import Fingerprint, fingerprint, of_files
from rheocheck.audit.fresh_look import DRAWS, FreshLook, fresh_look
from rheocheck.audit.impossible import ImpossibleApart
from rheocheck.audit.objects import asked_tokens, not_looked_at
from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.session import Checkpoint, Session, power_of_ten
from rheocheck.audit.stopping import check_log, stopped_target
from rheocheck.audit.streams import (
    CONFIRM,
    CONFIRMATION,
    DOORS,
    FRESH,
    LOOKING,
    OTHER_DOOR,
    PILOT,
    PILOTING,
    RUN,
    SUBJECT,
    session_seed,
)
from rheocheck.audit.subject import LiveSource, RecordedSource, Source, load_subject
from rheocheck.audit.tally import Tally
from rheocheck.audit.target import EXACT_RTOL, FLOAT_RTOL, as_target, load_target
from rheocheck.audit.verdict import Verdict
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.intercept.seeding import seed_globals
from rheocheck.stats.plan import SMALLEST_TV

Floats = NDArray[np.float64]
DELTA = 1e-3  # 1 - confidence of the bounds on TV
PILOT_DRAWS = 500  # draws of a baseline that choose the object and the sample size
REPRODUCED, IN_FAVOUR = math.log(1e3), math.log(10)  # E of the fresh draws from which on they are called so


def audit(
    subject: Any,
    *,
    target: Any = None,
    baseline: Any = None,
    context: Context = (),
    tokens: int | None = None,
    drafts: int | None = None,
    samples: int | None = None,
    alpha: float = 1e-6,
    tv: float | None = None,
    rtol: float | None = None,
    depth: int | None = None,
    eos: int | None = None,
    seed: int = 0,
    resume: str | None = None,
    resume_anyway: bool = False,
    question: dict[str, Any] | None = None,
    confirm: bool = True,
    progress: bool | None = None,
    announce: Callable[[str], None] | None = None,
) -> Verdict:
    """Whether `subject` emits the law of `target` (or of `baseline`) over `tokens` tokens after `context`.

    subject   a function (context, n_tokens) -> ids, recorded samples, or how a command line would name one
    target    a Pair, a law(context) -> probabilities, or how a command line would name one
    baseline  a second subject: the same engine with speculation off; exactly one of target and baseline
    tokens    the object of the verdict: the joint law of exactly so many tokens
    drafts    K drafts of the decoder: the object has K + 2 tokens, or `tokens` if these are more. With neither, 4
              tokens are drawn, and the object is the longest prefix of them that the draws allowed can bound
    samples   draws at most; by default four times what `tv` needs, or all that are recorded
    tv        the bias worth finding: 0.02, or with `samples` given what these can both find and rule out
    rtol      tolerance of the target's law per token: 0 for a Pair, 1e-6 for a float law
    depth     drafts of a full block, for recorded samples with a decode log; 0 leaves the log out
    eos       the end-of-text token: a text ends behind it (`audit.stopping`); None: no text may end early
    resume    a file: continue the audit it holds, and save there at every look. `samples` and `tv` may have changed
    resume_anyway  go on although the code of subject or target has changed since; every later verdict says so
    question  what `resume` must find unchanged besides the numbers here: the names of subject and target, settings
    confirm   after a bias, draw as many again with fresh seeds and report what they say
    progress  a progress bar on stderr: yes, no, or (None) when stderr is a terminal
    announce  is told before the first draw, in one line, what the verdict will be about and what that takes

    Ctrl-C while drawing ends the run early: the verdict is about the draws made so far. Raises InputError.
    """
    context = tuple(context)
    drawn, asked = asked_tokens(tokens, drafts)
    check_question(target, baseline, context, drawn, alpha=alpha, tv=tv, rtol=rtol, seed=seed)
    check_integers(samples=(samples, 1), depth=(depth, 0), eos=(eos, 0))
    check_log(eos, depth)
    if tv is not None and tv < SMALLEST_TV:
        raise InputError(f"--tv must be at least {SMALLEST_TV:g}, got {tv!r}: less takes more than 1e13 draws")
    if resume_anyway and resume is None:
        raise InputError("--resume-anyway must go with --resume FILE, got no file: name it, or drop the option")
    names = {"subject": subject, "target": target, "baseline": baseline}
    if isinstance(subject, str):
        subject = load_subject(subject, {}, context)
    if isinstance(baseline, str):
        baseline = load_subject(baseline, {}, context, what="--baseline")
    checkpoint = None
    if resume is not None:
        same = {name: value for name, value in names.items() if isinstance(value, str)} | (question or {})
        same |= {"context": list(context), "tokens": drawn, "asked": asked, "alpha": alpha, "rtol": rtol}
        same |= {"depth": depth, "eos": eos, "seed": seed}
        code = _code({"subject": subject, "target": target, "baseline": baseline}, names | (question or {}), context)
        checkpoint = Checkpoint(resume, same, code, resume_anyway)
    try:
        asker = _Asker(
            subject, target, baseline, context, drawn, asked, drafts, samples, alpha, tv, rtol, depth, eos, seed,
            checkpoint, progress,
        )  # fmt: skip
        return asker.verdict(confirm, announce)
    except InputError:
        raise
    except ValueError as error:  # `stats` may not know our exceptions; its messages are written for the user
        raise InputError(str(error)) from error


class _Asker:
    """Asks one question: makes evidence, sources and the verdict, so that a confirmation can ask it afresh."""

    def __init__(
        self,
        subject: Any,
        target: Any,
        baseline: Any,
        context: Context,
        tokens: int,
        asked: bool,
        drafts: int | None,
        samples: int | None,
        alpha: float,
        tv: float | None,
        rtol: float | None,
        depth: int | None,
        eos: int | None,
        seed: int,
        checkpoint: Checkpoint | None,
        progress: bool | None,
    ) -> None:
        self.subject, self.baseline, self.context, self.tokens = subject, baseline, context, tokens
        self.asked, self.drafts, self.alpha, self.depth = asked, drafts, alpha, depth
        self.eos, self.seed = eos, seed
        self.checkpoint, self.progress = checkpoint, progress
        self.look: FreshLook | None = None
        self.door: OtherDoor | None = None
        self.sides: list[Any] = [subject] if baseline is None else [subject, baseline]
        for side in self.sides:
            if not callable(side) and not isinstance(side, RecordedSamples):
                raise InputError(
                    f"a subject must be a function (context, n_tokens) -> ids, got {type(side).__name__}: "
                    "wrap it in one"
                )
        self._check_log()
        self.target, self.rtol = None, 0.0
        if target is not None:
            whole = load_target(target, {}, context) if isinstance(target, str) else as_target(target, context)
            self.target = stopped_target(whole, eos, context)
            self.rtol = rtol if rtol is not None else EXACT_RTOL if self.target.exact else FLOAT_RTOL
        self.recorded = min((len(side) for side in self.sides if isinstance(side, RecordedSamples)), default=None)
        if samples is not None and self.recorded is not None and samples > self.recorded:
            raise InputError(f"--samples must be at most the recorded {self.recorded} draws, got {samples}: lower it")
        self.samples = self.recorded if samples is None else samples
        self.about = None
        if self.target is not None:
            self.about = choose_object(
                self.target, context, tokens, asked, self.rtol, tv=tv, samples=self.samples, alpha=self._share(),
                delta=DELTA, saved=self._saved_object(),
            )  # fmt: skip
        self.pilot = None if baseline is None else self._pilot(tv)
        self.tv = tv or DEFAULT_TV
        if tv is None and self.samples is not None:
            reach = max(self._reach(self.samples))
            self.tv = reach if reach < 1 else DEFAULT_TV

    def verdict(self, confirm: bool, announce: Callable[[str], None] | None) -> Verdict:
        """Draw until decided, and say what was found."""
        evidence = self._evidence()
        calls = [0, 0]
        if self.checkpoint is not None:
            self.checkpoint.restore(evidence)
            calls = [self.checkpoint.calls(i) for i in range(len(self.sides))]
        session = self._session(evidence, SUBJECT, calls)
        for source, tally in zip(session.sources, evidence.tallies(), strict=True):
            if isinstance(source, RecordedSource):
                self._take_up(source, tally)
        if announce is not None:
            announce(_announcement(session))
        number = 0
        if self.checkpoint is not None:
            number = self.checkpoint.session
            self.checkpoint.write(evidence, session.sources)  # before hours of drawing: can it be written?
        if number and any(isinstance(source, LiveSource) for source in session.sources):
            self.look = self._fresh_look(evidence, session, number)
        confirmed = None
        if self.look is not None and not self.look.agrees:
            return self._verdict(session, evidence, confirmed)
        session.run(session_seed(self.seed, number, RUN), self.checkpoint)
        if has_two(self.subject) and session.decided() != "biased" and not session.interrupted:
            self.door = self._other_door(session.limit)
            session.interrupted = self.door.interrupted
        if session.decided() == "biased" and confirm and not session.interrupted and self.recorded is None:
            confirmed = self._evidence()
            again = self._session(confirmed, CONFIRMATION, [0, 0])
            again.limit, again.threshold, again.tv = evidence.n, math.inf, 0.0
            again.run(session_seed(self.seed, number, CONFIRM))
        return self._verdict(session, evidence, confirmed)

    def _fresh_look(self, evidence: Evidence, session: Session, number: int) -> FreshLook:
        """Draws of the live subject beside the saved ones, with seeds that no other session's look has."""
        again = self._session(self._evidence(), FRESH, [number * DRAWS] * 2)
        again.limit, again.threshold, again.tv = min(DRAWS, self.recorded or DRAWS), math.inf, 0.0
        again.run(session_seed(self.seed, number, LOOKING))
        session.interrupted = again.interrupted
        return fresh_look(evidence, again.evidence, session.threshold, again.limit)

    def _evidence(self) -> ImpossibleApart:
        """Evidence without a draw."""
        size = None if self.target is None else self.target.vocab_size
        return ImpossibleApart(self._of_possible(self._share()), size, self.context, self.tokens)

    def _share(self) -> float:
        """The share of alpha that the audit's own draws have: the look at another door of the subject has the rest."""
        return self.alpha * (MAIN if has_two(self.subject) else 1.0)

    def _of_possible(self, alpha: float) -> Evidence:
        """Evidence without a draw, whose promises are for this false-alarm rate."""
        if self.target is not None and self.about is not None:
            return AgainstLaw(
                self.about, self.target, self.context, self.tokens, tv=self.tv, alpha=alpha, delta=DELTA,
                rtol=self.rtol, samples=self.samples, depth=self.depth or 0,
            )  # fmt: skip
        assert self.pilot is not None
        return AgainstBaseline(self.pilot, self.context, self.tokens, tv=self.tv, alpha=alpha, delta=DELTA)

    def _session(self, evidence: ImpossibleApart, stream: int, calls: list[int]) -> Session:
        """Sources with the seeds of this stream from these calls on, and the limits of the question."""
        sources = [self._source(side, stream + i, calls[i]) for i, side in enumerate(self.sides)]
        limit = evidence.plan.cap if self.samples is None else self.samples
        threshold = math.log(1 / self._share())
        return Session(evidence, sources, limit=limit, tv=self.tv, threshold=threshold, progress=self.progress)

    def _source(self, side: Any, stream: int, calls: int = 0) -> Source:
        if isinstance(side, RecordedSamples):
            return RecordedSource(side, self.tokens, self.depth, self.eos)
        return LiveSource(
            side, self.context, self.tokens, seed=self.seed, stream=stream, calls=calls, eos=self.eos
        )  # fmt: skip

    def _other_door(self, samples: int) -> OtherDoor:
        """What the plain call says, where the audit drew through `subject.sample`."""
        plain, batched = (
            LiveSource(
                self.subject, self.context, self.tokens, seed=self.seed, stream=DOORS + i, one_by_one=i == 0,
                eos=self.eos,
            )
            for i in range(2)
        )  # fmt: skip
        if not plain.seeded:
            seed_globals(session_seed(self.seed, 0, OTHER_DOOR))
        sources, size = ([plain, batched], None) if self.target is None else ([plain], self.target.vocab_size)
        evidence = self._of_possible(self.alpha * (1 - MAIN))
        return against_evidence(sources, evidence, share(samples), self.alpha, size)

    def _take_up(self, source: RecordedSource, before: Tally) -> None:
        """Skip the draws that an earlier session has seen, if the file still begins with them."""
        seen = Tally(self.tokens)
        seen.add(source.words[: before.n])
        if seen.state() != before.state():
            raise InputError(
                f"--resume must go on with the recording it began with, got others in the first {before.n} draws of "
                f"{source.recorded.path}: append to the file, or begin anew with another --resume file"
            )
        source.skip(before.n)

    def _pilot(self, tv: float | None) -> Pilot:
        """The pilot of the saved audit; else draws to be thrown away, or the first ones of two recorded arms."""
        if self.checkpoint is not None and self.checkpoint.saved is not None:
            return saved_pilot(self.checkpoint.saved["evidence"])
        live = [side for side in reversed(self.sides) if not isinstance(side, RecordedSamples)]
        if not live:
            both = [side.prefixes(self.tokens, self.eos)[:PILOT_DRAWS] for side in self.sides]
            return Pilot.of(np.concatenate(both), asked=self.asked, affordable=self._affordable(tv), shared=True)
        source = self._source(live[0], PILOT)
        if not source.seeded:
            seed_globals(session_seed(self.seed, 0, PILOTING))
        batch = min(source.batch, PILOT_DRAWS)
        words = [source.draw(batch).words for _ in range(PILOT_DRAWS // batch)]
        return Pilot.of(np.concatenate(words), asked=self.asked, affordable=self._affordable(tv))

    def _affordable(self, tv: float | None) -> Callable[[Floats], bool]:
        """Whether the draws allowed can bound the TV of two samples of about this law; without a TV, any will do."""
        if tv is None and self.samples is not None:
            return lambda law: True
        wanted = tv or DEFAULT_TV
        allowed = 2 * UNLIMITED / wanted**2 if self.samples is None else self.samples
        return lambda law: baseline_plan(law, tv=wanted, alpha=self._share(), delta=DELTA).pass_ <= allowed

    def _reach(self, samples: int) -> tuple[float, float]:
        """The TV that so many draws find, and the one that they rule out."""
        if self.target is None:
            assert self.pilot is not None
            return baseline_reach(self.pilot, self.tokens, samples, alpha=self._share(), delta=DELTA)
        assert self.about is not None
        return law_reach(self.about.joint.cell_law(), samples, alpha=self._share(), delta=DELTA)

    def _saved_object(self) -> int | None:
        """How many tokens the object of the saved audit has."""
        saved = None if self.checkpoint is None else self.checkpoint.saved
        return None if saved is None else int(saved["evidence"]["object"])

    def _check_log(self) -> None:
        """A decode log needs its depth said; a depth needs a log."""
        log = isinstance(self.subject, RecordedSamples) and self.subject.blocks is not None
        if log and self.depth is None:
            raise InputError(
                f"--depth must be given with a decode log, got blocks in {self.subject.path} without it: name the "
                "drafts of a full block, or leave the log out by --depth 0"
            )
        if self.depth and not log:
            raise InputError(f"--depth must go with recorded blocks, got {self.depth} without any: drop it")
        if self.depth and self.baseline is not None:
            raise InputError(
                f"--depth must go with --target, got {self.depth} with --baseline: no law says what a block should "
                "emit; --depth 0 leaves the log out"
            )

    def _verdict(self, session: Session, evidence: ImpossibleApart, confirmed: Evidence | None) -> Verdict:
        """The verdict on a finished session."""
        word = session.decided() or "inconclusive"
        stale = self.look is not None and not self.look.agrees  # the saved draws say nothing of the subject as it is
        if stale:
            word = "inconclusive"
        differs = self.door is not None and self.door.differs(self.alpha)
        if differs:
            word = "biased"
        finds = 1.0 if stale else evidence.detectable()
        drawn, sound = evidence.n > 0, evidence.clean() and not stale
        return Verdict(
            verdict=word,
            method="sampled",
            total_variation=evidence.estimate() if drawn else None,
            tokens=evidence.object_tokens,
            asked=self.asked,
            total_variation_upper=evidence.tv_upper if sound else 1.0,
            total_variation_lower=evidence.tv_lower(DELTA) if word == "biased" and sound else 0.0,
            confidence=1 - DELTA,
            object=evidence.object(),
            reference=evidence.reference,
            p_value=self._p_value(evidence) if drawn else None,
            e_value=math.exp(evidence.log_e) if drawn and evidence.log_e < 700 else None,
            log10_e=_finite(evidence.log_e / math.log(10)) if drawn else None,
            statistics={name: _finite(e) for name, e in evidence.statistics().items()} if drawn else {},
            cross_check=evidence.cross_check() if drawn else None,
            samples=evidence.n,
            paths=None,
            smallest_detectable_tv=finds,
            alpha=self.alpha,
            tv=self.tv,
            witness=evidence.witness() if word == "biased" and not differs else None,
            diagnosis=evidence.diagnosis() if word == "biased" and not differs else None,
            confirmation=_confirmation(evidence, confirmed),
            fresh_draws=None if self.look is None else self.look.draws,
            interrupted=session.interrupted,
            seed=self._seed_shown(session),
            boundary_tokens=evidence.boundary_tokens(),
            notes=(*evidence.notes(self.eos, self._where), *self._notes(session, word)),
        )

    def _where(self, draw: int) -> str:
        """How to name a draw of the subject."""
        return self.subject.where(draw) if isinstance(self.subject, RecordedSamples) else f"draw {draw + 1}"

    def _p_value(self, evidence: Evidence) -> float:
        """1 / (largest E); with a second door the share of alpha that each had."""
        p_value = math.exp(-evidence.peak)
        if self.door is None:
            return p_value
        return min(1.0, p_value / MAIN, math.exp(-self.door.log_e) / (1 - MAIN))

    def _seed_shown(self, session: Session) -> int | str | None:
        live = [source for source in session.sources if isinstance(source, LiveSource)]
        if not live:
            return None
        return self.seed if all(source.seeded for source in live) else "best effort"

    def _notes(self, session: Session, word: str) -> tuple[str, ...]:
        notes = []
        evidence, n = session.evidence, session.evidence.n
        if self.checkpoint is not None and self.checkpoint.session:
            notes.append(f"resumed from {self.checkpoint.path}, session {self.checkpoint.session + 1} of this audit")
            notes += [] if self.look is None else [self.look.text]
            notes += self.checkpoint.remarks
        if self.look is not None and not self.look.agrees:
            notes.append(
                "the saved draws are not of the subject as it is now, nothing is said: begin anew, without them"
            )
            return tuple(notes)
        if session.interrupted:
            notes.append(f"interrupted after {n} of at most {session.limit} draws: the verdict is about these")
        for source in session.sources:
            if isinstance(source, RecordedSource) and len(source.words) > n:
                notes.append(
                    f"{len(source.words) - n} of the {len(source.words)} draws in {source.recorded.path} unused"
                )
        if not evidence.clean():
            notes.append("the draws depend on each other: no bound on TV is given, it would take independent draws")
        elif word == "inconclusive":
            notes.append(_what_to_change(evidence, self.tv))
        if self.door is not None:
            than = "the target" if self.target is not None else BATCHED
            notes.append(self.door.text(self.alpha, than))
        elif word == "no_bias_found" and has_two(self.subject):  # Ctrl-C came, and the draws so far earn a pass
            notes.append(OtherDoor(PLAIN_CALL, 0, 0.0, 1.0, "Ctrl-C came before").text(self.alpha, "the target"))
        if word == "no_bias_found" and not self.drafts:
            notes.append(not_looked_at(evidence.object_tokens))
        return tuple(notes)


def _code(sides: dict[str, Any], names: dict[str, Any], context: Context) -> Fingerprint:
    """The fingerprint of what an audit is about; the file of a target counts as a file."""
    target = sides["target"]
    if isinstance(target, str):
        sides["target"] = load_target(target, {}, context)
    named = names.get("target")
    return fingerprint({name: side for name, side in sides.items() if side is not None}) | of_files(named)


def _announcement(session: Session) -> str:
    """What the verdict will be about, and what that takes."""
    evidence, limit, tv = session.evidence, session.limit, session.tv
    counted, needed = evidence.words(), evidence.needed()
    about = evidence.object() + (f", {counted} possible words" if counted else "")
    if needed is None:
        return f"{about}: too many possible words for a bound, it can be biased or inconclusive; ask for fewer --tokens"
    takes = f"{about}: about {needed} draws bound TV by {tv:.3g}, at most {limit} are drawn"
    if needed <= limit:
        return takes
    return f"{takes}, which may be too few: raise --samples or --tv, or ask for fewer --tokens"


def _what_to_change(evidence: Evidence, tv: float) -> str:
    """What an undecided run has bounded, and what would bound more."""
    n, needed, tokens = evidence.n, evidence.needed(), evidence.object_tokens
    length, bound = evidence.bounded(tv)
    shorter = f"; of the first {length if length > 1 else 'token'}{' tokens' if length > 1 else ''} by {bound:.3g}"
    of_object = f"{n} draws bound TV by {evidence.tv_upper:.3g}, asked was {tv:.3g}{shorter if tokens > 1 else ''}"
    if needed is None:
        return f"{of_object}; {tokens} tokens have too many possible words for a bound: ask for fewer --tokens"
    fewer = " or ask for fewer --tokens" if tokens > 1 else ""
    return f"{of_object}: draw more (about {needed}), raise --tv{',' if fewer else ''}{fewer}"


def _finite(log10_e: float) -> float | None:
    return log10_e if math.isfinite(log10_e) else None


def _confirmation(evidence: Evidence, confirmed: Evidence | None) -> str | None:
    """E of the fresh draws alone, and times the first: an e-value too, the second batch came after the first."""
    if confirmed is None or not confirmed.n:
        return None
    fresh = f"fresh-seed confirmation on {confirmed.n} draws: E = {power_of_ten(confirmed.log_e)}"
    if confirmed.log_e < IN_FAVOUR:
        return (
            f"{fresh}, not reproduced: a fault that comes and goes, a changed environment, or the event of level alpha"
        )
    word = "reproduced" if confirmed.log_e >= REPRODUCED else "in favour of a bias"
    return f"{fresh}, {word}; both together {power_of_ten(evidence.log_e + confirmed.log_e)}"
