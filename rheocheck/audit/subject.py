"""A subject: what an audit looks at, as a function that continues a context by new token ids.

    def subject(context, n_tokens): ...          # at least n_tokens new ids, each in 0..V-1; fewer only behind `eos`

With a parameter named `seed` it gets a fresh integer per call, so a run can be repeated. Without one, the
audit seeds `random`, `numpy.random` and torch (if imported) once before the run: best effort. A subject
that can draw many continuations at once may offer `subject.sample(context, n_tokens, samples, seed)`, int
array [samples, n_tokens] of independent draws.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws
from rheocheck.audit.samples_file import RecordedSamples, is_samples_file, read_samples
from rheocheck.audit.settings import Value, accepts, call_factory, takes
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.core.pair import Context
from rheocheck.formats.loading import is_import_string, load_attribute
from rheocheck.intercept.complaints import complaint
from rheocheck.intercept.seeding import call_seed, first_seed
from rheocheck.intercept.words import FAILED, MAX_ID, cut, filled

Ints = NDArray[np.int64]
BATCH = 500  # draws per call of `subject.sample`: small enough for a progress bar and for Ctrl-C


class Subject(Protocol):
    """Continues `context` by at least `n_tokens` new token ids."""

    def __call__(self, context: Context, n_tokens: int) -> Sequence[int]: ...


def load_subject(
    spec: str, settings: dict[str, Value], context: Context, *, what: str = "SUBJECT"
) -> Subject | RecordedSamples:
    """The subject that a command line names: "module:attr", or a file of recorded samples.

    With settings, attr is a factory called with them; a function that cannot be called as (context,
    n_tokens) but without arguments is a factory too. A baseline takes the settings it has parameters for, a
    subject all of them.
    """
    if spec.startswith(("http://", "https://")):
        raise InputError(
            f'{what} must be "module:attr" or a samples file, got the endpoint {spec}: endpoints are not '
            "supported yet; wrap it in a function (context, n_tokens) -> ids, or record samples as .jsonl"
        )
    if is_samples_file(spec):
        if settings and what == "SUBJECT":
            raise InputError(f"--set must go with a factory, got the samples file {spec!r}: drop --set")
        return read_samples(spec, context)
    if not is_import_string(spec):
        raise InputError(
            f'{what} must be "module:attr" or a .npy, .jsonl or .parquet file, got {spec!r}: check the spelling'
        )
    value = load_attribute(spec, what)
    factory = callable(value) and not takes(value, 2) and takes(value, 0)
    if factory or (settings and what == "SUBJECT"):
        value = call_factory(value, settings, f"{what} {spec!r}", only_known=what != "SUBJECT")
    if not callable(value):
        raise InputError(
            f"{what} {spec!r} must be a function (context, n_tokens) -> ids, got {type(value).__name__}: "
            "name such a function, or a factory that returns one"
        )
    return value


class _NoOutput(Exception):
    """The subject gave no ids since its probabilities were none; the message says where."""


class LiveSource:
    """Checked draws from a subject: fresh seeds for every call, every return looked at.

    stream      0 to 14: keeps the seeds of the sources of one run apart
    calls       calls made so far, counted when they have returned: a resumed run goes on at this seed
    one_by_one  leave out `subject.sample`: only the call itself is looked at
    eos         the token behind which a text ends

    Words may be none of any vocabulary (`intercept.words`): what that means is not decided here.
    """

    def __init__(
        self,
        subject: Subject,
        context: Context,
        tokens: int,
        *,
        seed: int,
        stream: int = 0,
        calls: int = 0,
        one_by_one: bool = False,
        eos: int | None = None,
    ) -> None:
        self.subject, self.context, self.tokens, self.eos = subject, context, tokens, eos
        self._sample = None if one_by_one else getattr(subject, "sample", None)
        self._takes_seed = accepts(subject, "seed")
        self.batch = BATCH if self._sample is not None else 1
        self.seeded = self._sample is not None or self._takes_seed
        self._start = first_seed(seed)
        self._stream = stream
        self.calls = calls

    def draw(self, count: int) -> Draws:
        """At most `count` draws, the next ones of this source's stream: those of one call."""
        failure = None
        try:
            words = self._one() if self._sample is None else self._batch(count)
        except _NoOutput as error:  # of none of the draws that it was asked for
            failure = str(error)
            words = np.full((1 if self._sample is None else count, self.tokens), FAILED, dtype=np.int64)
        rows = np.arange(len(words), dtype=np.int64)
        self.calls += 1
        return Draws(words, rows, 0 * rows + self.calls - 1, failure=failure)

    def _seed(self) -> int:
        return call_seed(self._start, self._stream, self.calls)

    def _batch(self, count: int) -> Ints:
        call = f"subject.sample({self.context}, {self.tokens}, {count}, seed)"
        drawn = self._call(call, self._sample, self.context, self.tokens, count, self._seed())
        if isinstance(drawn, list | tuple) and len({len(row) for row in drawn if isinstance(row, list | tuple)}) > 1:
            rows: list[Ints] | Ints = [_as_ids(row, call) for row in drawn]  # texts of different lengths
            shape: tuple[int, ...] = (len(rows), max(row.size for row in rows))
        else:
            rows = _as_ids(drawn, call)
            shape = rows.shape
        if len(shape) != 2 or shape[0] != count or shape[1] > self.tokens:
            raise InputError(f"{call} must return shape {(count, self.tokens)}, got {shape}: one row per draw")
        return filled(rows, self.tokens, self.eos)

    def _one(self) -> Ints:
        call = f"subject({self.context}, {self.tokens})"
        keywords = {"seed": self._seed()} if self._takes_seed else {}
        ids = _as_ids(self._call(call, self.subject, self.context, self.tokens, **keywords), call)
        if ids.ndim != 1:
            raise InputError(
                f"{call} must return one row of at least {self.tokens} new ids, got shape {ids.shape}: return one list"
            )
        return filled(ids[None], self.tokens, self.eos)

    @staticmethod
    def _call(call: str, function: Any, *args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except RheocheckError:
            raise
        except (Exception, SystemExit) as error:  # whatever the subject raises becomes one clear line
            failure = complaint(error)
            if failure is not None:
                raise _NoOutput(failure) from error
            raise InputError(
                f"{call} must return token ids, it raised {type(error).__name__}: {error}: run this call by itself"
            ) from error


class RecordedSource:
    """Draws from a samples file, in the order in which they were recorded. It costs nothing to use them all."""

    seeded = True
    calls = 0

    def __init__(self, recorded: RecordedSamples, tokens: int, depth: int | None, eos: int | None = None) -> None:
        self.recorded, self.tokens = recorded, tokens
        self.words = recorded.prefixes(tokens, eos)
        rows, calls = recorded.rows, recorded.calls
        here = np.arange(len(self.words), dtype=np.int64)
        self._all = Draws(
            self.words,
            0 * here if rows is None else rows,
            here if calls is None else calls,
            recorded.log(tokens, depth) if depth else None,
        )
        self._next = 0
        self.batch = len(self.words)

    def skip(self, count: int) -> None:
        """Leave out the first `count` draws: an earlier session has seen them."""
        self._next = count

    def draw(self, count: int) -> Draws:
        """The next `count` recorded draws."""
        start, self._next = self._next, self._next + count
        return self._all.where(slice(start, start + count))


Source = LiveSource | RecordedSource


def _as_ids(value: Any, call: str) -> Ints:
    try:
        ids = np.asarray(value)
    except (Exception, SystemExit) as error:  # ragged lists, tensors on a device, lazy objects of any kind
        raise InputError(
            f"{call} must return token ids, got {type(value).__name__} ({error}): convert to a list"
        ) from error
    if ids.dtype.kind in "Of" and isinstance(value, list | tuple) and all(type(x) is int for x in value):
        return np.array([max(-MAX_ID, min(MAX_ID, x)) for x in value], dtype=np.int64)  # beyond 64 bits
    if ids.dtype.kind not in "iu" and ids.size:
        raise InputError(f"{call} must return integer token ids, got {value!r:.80} ({ids.dtype}): convert to int")
    return cut(ids)
