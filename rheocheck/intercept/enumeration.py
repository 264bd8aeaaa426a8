"""The exact law of an unmodified subject, by running it once for every way in which its random choices may fall.

    P(word) = sum over the runs that emit it of the product of the probabilities of their choices

The likeliest runs come first, so that an enumeration cut short knows most of the law. Checks on the way: a run follows
the choices of an earlier one and must meet the same choices again; every run has another seed; the first runs are
made again and must emit the same word from other noise, the very first one once more at the end. Other ways in for
randomness, the time among them, are guarded (`doors`). The digits of the seed are not: only these repeats can notice
that they decide something, and a rare event of that kind slips through.
"""

import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rheocheck.core.errors import InputError, NotUnderstood, RheocheckError
from rheocheck.core.pair import Context
from rheocheck.intercept.complaints import complaint
from rheocheck.intercept.doors import entropy_doors
from rheocheck.intercept.errors import crash, refusals_kept
from rheocheck.intercept.patching import REPLACED, one_scan
from rheocheck.intercept.reuse import Reuse, reused
from rheocheck.intercept.run import Choice, Run, Step, rounded
from rheocheck.intercept.search import Search, current, perform
from rheocheck.intercept.seeding import ENUMERATION, call_seed, first_seed, seed_globals
from rheocheck.intercept.sources import imported, sources
from rheocheck.intercept.streams import Streams, check_fresh
from rheocheck.intercept.words import failed_word, read_word

Progress = Callable[[Fraction, int], None]  # (probability covered so far, runs so far)
REPEATS = 20  # runs that are made twice; the first one as often
ROUNDING = Fraction(1, 2**100)  # an unseen probability that is none
MAX_NULL = 200  # events of probability zero that are looked at


@dataclass(frozen=True)
class Path:
    """One run: its choices, their probability, and the word that it emits; or, of a FAILED one, why it emits none."""

    choices: tuple[Choice, ...]
    weight: Fraction
    word: Context
    failure: str | None = None

    @classmethod
    def to(cls, last: Step | None, word: Context, failure: str | None = None) -> "Path":
        """The run that ends in this choice."""
        choices = () if last is None else tuple(step.choice() for step in last.script())
        weight = Fraction(1)
        for choice in choices:
            weight = rounded(weight * choice.weight)
        return cls(choices, weight, word, failure)

    @property
    def script(self) -> tuple[int, ...]:
        """The branch taken at each choice, from which `replay` makes the run again."""
        return tuple(choice.index for choice in self.choices)


@dataclass(frozen=True)
class NullEvent:
    """An event of probability zero, such as a coin that is exactly 0, and the word that is emitted then."""

    word: Context
    what: str
    line: str


@dataclass(frozen=True)
class Enumeration:
    """What was found.

    law         probability of every word of `tokens` ids (`words`) that was emitted; all of it when `unseen` is 0
    unseen      probability of the runs not made
    stopped     why it ended early: "max_paths", "max_seconds", "interrupted", or None
    endings     for every word, the last choice of each run that emits it, which stands for all of that run
    boundaries  what is emitted on events of probability zero
    reuses      noise that decided more than one thing
    failures    of a word without output, why its first run had none
    """

    law: dict[Context, Fraction] = field(repr=False)
    unseen: Fraction
    paths: int
    stopped: str | None
    seconds: float
    endings: dict[Context, list[Step | None]] = field(repr=False)
    boundaries: tuple[NullEvent, ...] = field(repr=False)
    reuses: tuple[Reuse, ...] = ()
    failures: dict[Context, str] = field(repr=False, default_factory=dict)

    def paths_to(self, word: Context) -> list[Path]:
        """Every run that emits the word."""
        return [Path.to(last, word, self.failures.get(word)) for last in self.endings[word]]


def enumerate_law(
    subject: Callable[..., Any],
    context: Context = (),
    tokens: int = 4,
    *,
    max_paths: int | None = None,
    max_seconds: float | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    eos: int | None = None,
) -> Enumeration:
    """The law of `tokens` ids that `subject(context, tokens)` emits, every random choice taken every way.

    With an end-of-text token `eos` it is the law of the stopped text, filled up with `eos`.

    Source: torch.multinomial, rand, bernoulli, exponential_ ..; random; numpy.random; jax.random outside jit. Raises
    NotUnderstood where a use of randomness cannot be followed, and when the subject does not repeat itself.
    Ctrl-C ends the enumeration early, as a budget does.
    """
    started = time.monotonic()
    law: dict[Context, Fraction] = {}
    endings: dict[Context, list[Step | None]] = {}
    failures: dict[Context, str] = {}
    reuses: dict[tuple[str, ...], Reuse] = {}
    boundaries: dict[NullEvent, None] = {}
    paths, null_paths, stopped = 0, 0, None
    with _Caller(subject, context, tokens, seed, eos) as caller:
        search = Search(caller)
        first: tuple[Run, Context] | None = None
        try:
            for run, word in search:
                paths += 1
                if first is None:
                    first = run, word
                if run.null is not None:
                    null_paths += 1
                    boundaries[NullEvent(word, run.null.what, run.null.line)] = None
                else:
                    law[word] = law.get(word, Fraction(0)) + run.weight
                    endings.setdefault(word, []).append(run.last)
                    if caller.failure is not None:
                        failures.setdefault(word, caller.failure)
                for reuse in reused(run.choices):
                    reuses.setdefault(reuse.lines, reuse)
                if paths <= REPEATS:
                    caller.repeat(run, word, times=REPEATS if paths == 1 else 1)
                if progress is not None:
                    progress(1 - search.unseen, paths)
                if not search.pending or (search.unseen < ROUNDING and null_paths >= MAX_NULL):
                    break
                if max_paths is not None and paths >= max_paths:
                    stopped = "max_paths"
                if max_seconds is not None and time.monotonic() - started >= max_seconds:
                    stopped = "max_seconds"
                if stopped is not None:
                    break
            assert first is not None
            caller.repeat(*first)
        except KeyboardInterrupt:
            stopped = "interrupted"
    unseen = max(search.unseen, 1 - sum(law.values(), Fraction(0))) if stopped == "interrupted" else search.unseen
    seconds = time.monotonic() - started
    return Enumeration(
        law, unseen, paths, stopped, seconds, endings, tuple(boundaries), tuple(reuses.values()), failures
    )


def replay(
    subject: Callable[..., Any], choices: Sequence[int], context: Context = (), tokens: int = 4, *, seed: int = 0,
    eos: int | None = None,
) -> Path:  # fmt: skip
    """The run of `subject` in which the choices fall as given, the rest the likeliest way."""
    with _Caller(subject, context, tokens, seed, eos) as caller:
        run, word = perform(caller, forced=tuple(choices))
    return Path(tuple(run.choices), run.weight, word, caller.failure)


class _Caller:
    """Calls the subject with all randomness intercepted, each time with another seed.

    failure  why the last call gave no ids, if it gave none
    """

    def __init__(
        self, subject: Callable[..., Any], context: Context, tokens: int, seed: int, eos: int | None
    ) -> None:  # fmt: skip
        if not callable(subject):
            raise InputError(
                f"a subject must be a function (context, n_tokens) -> ids, got {type(subject).__name__}: wrap it in one"
            )
        if type(tokens) is not int or tokens < 1:
            raise InputError(f"tokens must be an integer >= 1, got {tokens!r}: raise it")
        self._subject, self._context, self._tokens, self._eos = subject, tuple(context), tokens, eos
        self.failure: str | None = None
        self._start, self._calls = first_seed(seed), 0
        self._takes_seed = takes_seed(subject)
        self._streams = Streams()

    def __enter__(self) -> "_Caller":
        self._stack = ExitStack()
        self._libraries = imported()
        self._stack.enter_context(one_scan(REPLACED))
        found = list(sources())
        self._stack.enter_context(entropy_doors([pair for source in found for pair in source.stand_ins()]))
        for source in found:
            for context in source.followed(self._streams):
                self._stack.enter_context(context)
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    def __call__(self) -> Context:
        seed = call_seed(self._start, ENUMERATION, self._calls)
        self._calls += 1
        seed_globals(seed, devices=False)  # draws on devices are refused
        self._streams.begin()
        keywords = {"seed": seed} if self._takes_seed else {}
        call = f"subject({self._context}, {self._tokens})"
        self.failure = None
        try:
            with refusals_kept():
                ids = self._subject(self._context, self._tokens, **keywords)
                word = read_word(ids, self._tokens, call, self._eos)
        except (RheocheckError, KeyboardInterrupt):
            raise
        except (Exception, SystemExit) as error:
            self.failure = complaint(error)
            if self.failure is None:
                raise _raised(error, call) from error
            word = failed_word(self._tokens)
        self._streams.check()
        if imported() != self._libraries:
            late = ", ".join(library for library in imported() if library not in self._libraries)
            raise NotUnderstood(
                f"what draws random numbers must be imported before an exact audit, got {late} imported by the first "
                "call: import it at the top of the module"
            )
        return word

    def repeat(self, run: Run, word: Context, times: int = 1) -> None:
        """Make a run again from other noise: the same choices must lead to the same word."""
        places = self._streams.places()
        for _ in range(times):
            _, again = perform(self, run.last)
            if again != word:
                raise NotUnderstood(
                    "a subject must do the same when its random choices fall the same way, got the words "
                    f"{word} and {again}: it keeps state between calls, or draws randomness that is not seen"
                )
            check_fresh(places, self._streams.places())


def _raised(error: BaseException, call: str) -> InputError:
    """The error for an exception out of a call: the subject's own, with the choices that lead there, or our crash."""
    ours, place = crash(error)
    what = f"{type(error).__name__} at {place}: {error}"
    choices = ",".join(str(choice.index) for choice in current().choices)
    if ours:
        return NotUnderstood(
            f"an exact audit must follow {call}, got a fault of rheocheck itself, {what}; please report it, and try "
            "--method sampled"
        )
    return InputError(
        f"{call} must return token ids, it raised {what}; its random choices were --replay {choices or repr('')}: run "
        "them again, or audit by sampling"
    )


def takes_seed(subject: Callable[..., Any]) -> bool:
    """Whether the subject certainly takes `seed`."""
    try:
        inspect.signature(subject).bind_partial(seed=0)
    except (TypeError, ValueError):
        return False
    return True
