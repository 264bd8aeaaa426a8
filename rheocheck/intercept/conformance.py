"""For authors of subjects: does a callable keep the contract, and can its law be enumerated?

    print(conformance(my_subject))
    assert conformance(my_subject, vocab_size=4).ok

A subject is any callable subject(context, n_tokens) that returns at least n_tokens new token ids, or fewer behind an
end-of-text token that is named (`eos`); with a parameter `seed` it is given a fresh integer per call. See README, "How
to audit your decoder".
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from rheocheck.core.errors import InputError, NotUnderstood, RheocheckError
from rheocheck.core.pair import Context
from rheocheck.intercept.enumeration import enumerate_law, takes_seed
from rheocheck.intercept.patching import one_scan
from rheocheck.intercept.seeding import seed_globals
from rheocheck.intercept.unseeded import entropy_from
from rheocheck.intercept.words import check_word, read_word

T = TypeVar("T")
CALLS = 20  # plain calls that look for a state kept between them
MAX_PATHS, MAX_SECONDS = 2_000, 10.0  # of the enumeration that shows whether the code can be followed


@dataclass(frozen=True)
class Check:
    """One question to a subject; `ok` is None where the answer is neither good nor bad."""

    name: str
    ok: bool | None
    text: str

    def __str__(self) -> str:
        return f"{'note' if self.ok is None else 'ok' if self.ok else 'FAILS':5}  {self.name}: {self.text}"


@dataclass(frozen=True)
class Conformance:
    """What was asked of a subject, in order; the first failure ends the questions."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed: the subject can be audited by sampling, and exactly if `enumerable`."""
        return all(check.ok is not False for check in self.checks)

    @property
    def enumerable(self) -> bool:
        """Whether every use of randomness on the paths that were run was understood."""
        return any(check.name == "enumeration" and check.ok for check in self.checks)

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))


def conformance(
    subject: Callable[..., Any], *, context: Context = (), tokens: int = 2, vocab_size: int | None = None,
    eos: int | None = None,
) -> Conformance:  # fmt: skip
    """Questions to a subject about its contract, by plain calls first and by enumeration last.

    context, tokens  what it is asked to continue, and by how many tokens
    vocab_size       V, to check that ids lie in 0..V-1
    eos              the token after which the subject may return fewer ids; what follows it is not looked at
    """
    checks: list[Check] = []
    for question in (_returns_ids, _repeats, _reads_its_context, _samples, _enumerates):
        try:
            checks += question(subject, tuple(context), tokens, vocab_size, eos)
        except RheocheckError as error:
            checks.append(Check(QUESTIONS[question.__name__], False, " ".join(str(error).split())))
        if checks and checks[-1].ok is False:
            break
    return Conformance(tuple(checks))


QUESTIONS = {
    "_returns_ids": "ids", "_repeats": "seed", "_reads_its_context": "context", "_samples": "sample",
    "_enumerates": "enumeration",
}  # fmt: skip


def _returns_ids(
    subject: Any, context: Context, tokens: int, vocab_size: int | None, eos: int | None
) -> Iterator[Check]:
    """Ids, enough of them, in the vocabulary, for one token and for several."""
    for n in sorted({1, tokens}):
        _in_vocabulary(_call(subject, context, n, 1, eos), f"subject({context}, {n})", vocab_size)
    yield Check("ids", True, f"returns at least {tokens} new token ids")


def _in_vocabulary(word: Context, call: str, vocab_size: int | None) -> None:
    if vocab_size is not None and max(word) >= vocab_size:
        raise InputError(
            f"{call} must return token ids in 0..{vocab_size - 1}, got {max(word)}: do both use one vocabulary?"
        )


def _repeats(subject: Any, context: Context, tokens: int, vocab_size: int | None, eos: int | None) -> Iterator[Check]:
    """The same seed gives the same tokens, whatever was called between."""

    def call(seed: int) -> Context:
        return _call(subject, context, tokens, seed, eos)

    first, again, unseeded = _twice(call, range(CALLS))
    for word in first:
        _in_vocabulary(word, f"subject({context}, {tokens})", vocab_size)
    differing = next((pair for pair in zip(first, again, strict=True) if pair[0] != pair[1]), None)
    if differing is not None:
        raise InputError(
            f"subject({context}, {tokens}) must return the same ids for the same seed, got {differing[0]} and "
            f"{differing[1]}: it keeps state between calls, or draws from a generator that the seed does not set"
        )
    yield _repeated("seed", f"{CALLS} seeds give the same tokens twice", unseeded)
    if not takes_seed(subject):
        yield Check("seed", None, "it has no parameter `seed`: the global generators are seeded, best effort")
    if len(set(first)) == 1:
        yield Check("seed", None, f"{CALLS} seeds all give the tokens {first[0]}: is it meant to be random?")


def _twice(call: Callable[[int], T], seeds: Sequence[int]) -> tuple[list[T], list[T], str | None]:
    """What a call returns for every seed, and for every seed again; with the line of an unseeded generator in the way.

    Where the two differ, the calls are made anew while the operating system's entropy comes from the seeds.
    """
    first, again = [call(seed) for seed in seeds], [call(seed) for seed in seeds]
    if first == again:
        return first, again, None
    lines: list[str] = []

    def repeatable(seed: int) -> T:
        with entropy_from(seed) as taken:
            result = call(seed)
        lines.extend(taken)
        return result

    with one_scan():
        repeated = [repeatable(seed) for seed in seeds], [repeatable(seed) for seed in seeds]
    return (*repeated, lines[0]) if lines else (first, again, None)


def _repeated(name: str, text: str, unseeded: str | None) -> Check:
    if unseeded is None:
        return Check(name, True, text)
    return Check(
        name, None, f"repeats only by chance: makes an unseeded generator at {unseeded}; seed it with the call's `seed`"
    )


def _reads_its_context(
    subject: Any, context: Context, tokens: int, vocab_size: int | None, eos: int | None
) -> Iterator[Check]:
    """A list is left as it was, and a longer context works."""
    given = [*context]
    _call(subject, given, tokens, 1, eos)
    if given != [*context]:
        raise InputError(f"a subject must leave its context alone, got {given} after a call with {[*context]}: copy it")
    _call(subject, (*context, 0), tokens, 1, eos)
    yield Check("context", True, "left alone, and a longer one works")


def _samples(subject: Any, context: Context, tokens: int, vocab_size: int | None, eos: int | None) -> Iterator[Check]:
    """`subject.sample`, if there is one: as many rows as asked, the same ones for the same seed."""
    sample = getattr(subject, "sample", None)
    if sample is None:
        return

    def call(seed: int) -> list[Context]:
        return [_stopped(tuple(map(int, row)), tokens, eos) for row in sample(context, tokens, 3, seed)]

    first, again, unseeded = _twice(call, [1])
    rows = first[0], again[0]
    if rows[0] != rows[1] or [len(row) for row in rows[0]] != [tokens] * 3:
        raise InputError(
            f"subject.sample({context}, {tokens}, 3, seed) must return 3 rows of {tokens} ids, the same for the same "
            f"seed, got {rows[0]} and {rows[1]}: check shape and seeding"
        )
    yield _repeated("sample", "draws whole batches, the same for the same seed", unseeded)


def _enumerates(
    subject: Any, context: Context, tokens: int, vocab_size: int | None, eos: int | None
) -> Iterator[Check]:
    """Whether every use of randomness is understood."""
    try:
        found = enumerate_law(subject, context, tokens, max_paths=MAX_PATHS, max_seconds=MAX_SECONDS, eos=eos)
    except NotUnderstood as error:
        yield Check("enumeration", None, f"by sampling only: {error}")
        return
    for word in found.law:  # rare ones too
        call, failure = f"subject({context}, {tokens})", found.failures.get(word)
        if failure is not None:
            raise InputError(f"{call} must return token ids, on some random choices it has none: {failure}")
        _in_vocabulary(check_word(word, call, eos), call, vocab_size)
    covered = f"{float(1 - found.unseen):.4%} of the probability in {found.paths} paths, {found.seconds:.1f} s"
    yield Check("enumeration", True, covered)
    for boundary in found.boundaries[:3]:
        yield Check("boundary", None, f"{boundary.what} at {boundary.line} emits {boundary.word}, with probability 0")


def _call(subject: Any, context: Any, tokens: int, seed: int, eos: int | None) -> Context:
    """One plain call, seeded as an audit would."""
    if not callable(subject):
        raise InputError(
            f"a subject must be a function (context, n_tokens) -> ids, got {type(subject).__name__}: wrap it in one"
        )
    if not _takes_both(subject):
        raise InputError(
            f"a subject must take (context, n_tokens), got the signature {inspect.signature(subject)}: wrap it in a "
            "function of these two"
        )
    call = f"subject({tuple(context)}, {tokens})"
    seed_globals(seed)
    try:
        ids = subject(context, tokens, **({"seed": seed} if takes_seed(subject) else {}))
        return check_word(read_word(ids, tokens, call, eos), call, eos)
    except RheocheckError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{call} must return token ids, it raised {type(error).__name__}: {error}: run it alone"
        ) from error


def _stopped(row: Context, tokens: int, eos: int | None) -> Context:
    """A row filled up behind its end of text; without one as it is."""
    if eos is None or eos not in row:
        return row
    end = row.index(eos)
    return row[:end] + (eos,) * (tokens - end)


def _takes_both(subject: Any) -> bool:
    try:
        inspect.signature(subject).bind((), 1, **({"seed": 0} if takes_seed(subject) else {}))
    except TypeError:
        return False
    except ValueError:  # a callable that does not tell
        return True
    return True
