"""The sampled audit: draw from a subject, compare with a law or with a second subject, say what is certain.

    biased         E has reached 1/alpha: a correct decoder does this with probability <= alpha, however often one looks
    no_bias_found  TV of the named object is at most `tv`, with confidence 99.9 %, and the draws show no dependence
    inconclusive   neither, within the draws that were allowed

Statistic: the battery of bets of `rheocheck.stats.battery`, sequential; chi-square at the final sample size is shown
beside it as a cross-check.
"""

import math
from typing import Any

from rheocheck.audit.against_baseline import AgainstBaseline
from rheocheck.audit.against_law import AgainstLaw
from rheocheck.audit.evidence import Evidence
from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.session import Checkpoint, Session, power_of_ten
from rheocheck.audit.subject import LiveSource, RecordedSource, Source, load_subject
from rheocheck.audit.target import EXACT_RTOL, FLOAT_RTOL, as_target, load_target
from rheocheck.audit.verdict import Verdict
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.plan import pass_samples, smallest_detectable_tv

DEFAULT_TV = 0.02
DELTA = 1e-3  # 1 - confidence of the upper bound on TV
PILOT = 500  # draws of a baseline that choose the object and the sample size, and are thrown away
CONFIRMATION = 2  # streams of seeds: 0 subject, 1 baseline, 2 and 3 the fresh draws that confirm a bias


def audit(
    subject: Any,
    *,
    target: Any = None,
    baseline: Any = None,
    context: Context = (),
    tokens: int = 4,
    samples: int | None = None,
    alpha: float = 1e-6,
    tv: float | None = None,
    rtol: float | None = None,
    seed: int = 0,
    resume: str | None = None,
    question: dict[str, Any] | None = None,
    confirm: bool = True,
    progress: bool | None = None,
) -> Verdict:
    """Whether `subject` emits the law of `target` (or of `baseline`) over `tokens` tokens after `context`.

    subject   a function (context, n_tokens) -> ids, recorded samples, or how a command line would name one
    target    a Pair, a law(context) -> probabilities, or how a command line would name one
    baseline  a second subject: the same engine with speculation off; exactly one of target and baseline
    samples   draws at most; by default four times what `tv` needs, or all that are recorded
    tv        the bias worth finding: 0.02, or with `samples` given what these can find
    rtol      tolerance of the target's law per token: 0 for a Pair, 1e-6 for a float law
    resume    a file: continue the audit it holds, and save there at every look
    question  what `resume` must find unchanged, besides the numbers here (names of subject and target)
    confirm   after a bias, draw as many again with fresh seeds and report what they say
    progress  a progress bar on stderr: yes, no, or (None) when stderr is a terminal

    Ctrl-C while drawing ends the run early: the verdict is about the draws made so far. Raises InputError.
    """
    context = tuple(context)
    _check_arguments(target, baseline, context, tokens, samples, alpha, tv, rtol, seed)
    if isinstance(subject, str):
        subject = load_subject(subject, {}, context)
    if isinstance(baseline, str):
        baseline = load_subject(baseline, {}, context, what="--baseline")
    asked = {**(question or {}), "context": list(context), "tokens": tokens, "alpha": alpha, "rtol": rtol}
    try:
        maker = _Maker(subject, target, baseline, context, tokens, samples, alpha, tv, rtol, seed)
        evidence = maker.evidence()
        checkpoint = Checkpoint(resume, {**asked, "tv": maker.tv}) if resume else None
        if checkpoint is not None:
            checkpoint.read(evidence)
        number = checkpoint.session if checkpoint else 0
        session = maker.session(evidence, seed + number, 0, progress)
        if isinstance(session.sources[0], RecordedSource):
            session.sources[0].skip(evidence.n)
        session.run(seed + number, checkpoint)
        confirmed = None
        if session.decided() == "biased" and confirm and not session.interrupted and maker.live():
            confirmed = maker.evidence()
            again = maker.session(confirmed, seed, CONFIRMATION, progress)
            again.limit, again.threshold, again.eps = evidence.n, math.inf, 0.0
            again.run(seed + 1)
        return maker.verdict(session, confirmed)
    except InputError:
        raise
    except ValueError as error:  # `stats` may not know our exceptions; its messages are written for the user
        raise InputError(str(error)) from error


class _Maker:
    """Makes evidence, sources and the verdict of one question, so that a confirmation can ask it afresh."""

    def __init__(
        self,
        subject: Any,
        target: Any,
        baseline: Any,
        context: Context,
        tokens: int,
        samples: int | None,
        alpha: float,
        tv: float | None,
        rtol: float | None,
        seed: int,
    ) -> None:
        self.subject, self.baseline, self.context, self.tokens = subject, baseline, context, tokens
        self.alpha, self.seed = alpha, seed
        self.recorded = isinstance(subject, RecordedSamples)
        if self.recorded and baseline is not None and not isinstance(baseline, RecordedSamples):
            raise InputError("a baseline for recorded samples must be recorded too, got a live subject: record it")
        self.samples = samples or (len(subject.rows) if isinstance(subject, RecordedSamples) else None)
        self.target = None
        if target is not None:
            self.target = load_target(target, {}, context) if isinstance(target, str) else as_target(target, context)
            self.rtol = rtol if rtol is not None else EXACT_RTOL if self.target.exact else FLOAT_RTOL
        else:
            self._pilot = self._source(baseline, seed, 3).draw(PILOT).words if self._is_live(baseline) else None
        self.tv = tv or DEFAULT_TV
        if tv is None and self.samples is not None:
            self.tv = self._within_reach(self.evidence(), self.samples)

    def live(self) -> bool:
        """Whether fresh draws can be had."""
        return self._is_live(self.subject) and (self.baseline is None or self._is_live(self.baseline))

    def evidence(self) -> Evidence:
        """Evidence without a draw."""
        if self.target is not None:
            return AgainstLaw(
                self.target, self.context, self.tokens, eps=self.tv, alpha=self.alpha, delta=DELTA, rtol=self.rtol
            )
        pilot = self._pilot
        if pilot is None:
            pilot = self.baseline.prefixes(self.tokens, None)[:PILOT]
        return AgainstBaseline(pilot, self.context, self.tokens, eps=self.tv, alpha=self.alpha, delta=DELTA)

    def session(self, evidence: Evidence, seed: int, stream: int, progress: bool | None) -> Session:
        """Sources with these seeds, and the limits of the question."""
        subjects = [self.subject] if self.baseline is None else [self.subject, self.baseline]
        sources = [self._source(s, seed, stream + i) for i, s in enumerate(subjects)]
        for source in sources:
            if isinstance(source, RecordedSource) and self.samples is not None and source.batch < self.samples:
                raise InputError(
                    f"--samples must be at most the recorded {source.batch} draws, got {self.samples}: lower it"
                )
        limit = self.samples or evidence.plan.cap
        threshold = math.log(1 / self.alpha)
        return Session(evidence, sources, limit=limit, eps=self.tv, threshold=threshold, progress=progress)

    def verdict(self, session: Session, confirmed: Evidence | None) -> Verdict:
        """The verdict on a finished session."""
        evidence = session.evidence
        word = session.decided() or "inconclusive"
        finds = evidence.detectable(self.alpha)
        p_value = min(1.0, math.exp(-evidence.peak))
        seeded = all(source.seeded for source in session.sources)
        return Verdict(
            verdict=word,
            method="sampled",
            total_variation=evidence.estimate() if evidence.n else None,
            total_variation_upper=evidence.tv_upper,
            total_variation_lower=evidence.tv_lower(DELTA) if word == "biased" else 0.0,
            confidence=1 - DELTA,
            object=evidence.object(),
            reference=evidence.reference,
            p_value=p_value,
            e_value=math.exp(evidence.log_e) if evidence.log_e < 700 else None,
            log10_e=evidence.log_e / math.log(10) if math.isfinite(evidence.log_e) else None,
            statistics={name: e for name, e in evidence.statistics().items() if math.isfinite(e)},
            cross_check=evidence.cross_check() if evidence.n else None,
            samples=evidence.n,
            paths=None,
            smallest_detectable_tv=finds,
            alpha=self.alpha,
            tv=self.tv,
            witness=evidence.witness() if word == "biased" else None,
            diagnosis=evidence.diagnosis() if word == "biased" else None,
            confirmation=_confirmation(evidence, confirmed),
            seed=None if self.recorded else self.seed if seeded else "best effort",
            boundary_tokens=evidence.boundary_tokens(),
            notes=self._notes(session, word, finds),
        )

    def _notes(self, session: Session, word: str, finds: float) -> tuple[str, ...]:
        notes = []
        n = session.evidence.n
        if session.interrupted:
            notes.append(f"interrupted after {n} of at most {session.limit} draws: the verdict is about these")
        if word == "inconclusive":
            bound = session.evidence.tv_upper
            notes.append(f"{n} draws bound TV by {bound:.3g}, asked was {self.tv:.3g}: draw more, or raise --tv")
            if not session.evidence.clean():
                notes.append("the draws look dependent on each other: the bound would not hold")
        return tuple(notes)

    def _within_reach(self, evidence: Evidence, samples: int) -> float:
        """The bias that so many draws can both find and, where there is none, rule out; 0.02 if none is."""
        law = evidence.law
        finds = smallest_detectable_tv(law, samples, self.alpha)
        low, high = 0.0, 1.0
        while high - low > 1e-3 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if pass_samples(law, middle, DELTA) <= samples else (middle, high)
        reach = max(finds, high)
        return reach if reach < 1 else DEFAULT_TV

    def _source(self, subject: Any, seed: int, stream: int) -> Source:
        size = self.target.vocab_size if self.target is not None else None
        if isinstance(subject, RecordedSamples):
            return RecordedSource(subject, self.tokens, size)
        if not callable(subject):
            raise InputError(
                f"a subject must be a function (context, n_tokens) -> ids, got {type(subject).__name__}: wrap it in one"
            )
        return LiveSource(subject, self.context, self.tokens, size, seed, stream)

    @staticmethod
    def _is_live(subject: Any) -> bool:
        return not isinstance(subject, RecordedSamples)


def _confirmation(evidence: Evidence, confirmed: Evidence | None) -> str | None:
    if confirmed is None or not confirmed.n:
        return None
    text = f"fresh-seed confirmation on {confirmed.n} draws: E = {power_of_ten(confirmed.log_e)}"
    if confirmed.log_e < 0:
        return f"{text}: not reproduced - a nondeterministic fault, a changed environment, or the event of level alpha"
    return f"{text}; both together {power_of_ten(evidence.peak + confirmed.log_e)}"


def _check_arguments(
    target: Any,
    baseline: Any,
    context: Context,
    tokens: Any,
    samples: Any,
    alpha: float,
    tv: float | None,
    rtol: float | None,
    seed: Any,
) -> None:
    if (target is None) == (baseline is None):
        came = "neither" if target is None else "both"
        raise InputError(
            f"exactly one of --target and --baseline must be given, got {came}: name a law, or a second subject"
        )
    if not all(type(x) is int and x >= 0 for x in context):
        raise InputError(f'the context must be token ids >= 0, got {context}: try --context "0 1"')
    for name, value, least in (("tokens", tokens, 1), ("samples", samples, 1), ("seed", seed, 0)):
        if value is not None and (type(value) is not int or value < least):
            raise InputError(f"--{name} must be an integer >= {least}, got {value!r}: raise it")
    for name, level in (("alpha", alpha), ("tv", tv)):
        if level is not None and not 0 < level < 1:
            raise InputError(f"--{name} must lie strictly between 0 and 1, got {level!r}: try 0.01")
    if rtol is not None and not 0 <= rtol < 1:
        raise InputError(f"--rtol must lie in [0, 1), got {rtol!r}: 1e-6 suits a float32 law")
