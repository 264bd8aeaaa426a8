"""A target: the next-token law that a subject should follow; `joint_law` has the law of L tokens that it implies.

A law may be dense, one probability per token of the vocabulary, or *sparse*: a mapping {token: p} of the tokens that
are possible, such as the top_k of a real vocabulary. Tokens that a sparse law does not name have probability 0.

A *boundary token* sits so close to the cut-off of a filter (top-k, top-p, min-p) that rounding decides
whether it stays: there the law is not known. A law that offers `boundary(context)` names these tokens.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.settings import Value, call_factory, takes
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.core.pair import Context, Pair
from rheocheck.formats.files import load_pair
from rheocheck.formats.loading import is_import_string, load_attribute

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
EXACT_RTOL, FLOAT_RTOL = 0.0, 1e-6


@dataclass(frozen=True)
class LawRow:
    """A next-token law as its possible tokens, in increasing order, and their probabilities."""

    tokens: Ints
    p: Floats

    def of(self, tokens: Ints) -> Floats:
        """The probability of each of these tokens [n]."""
        at = np.minimum(np.searchsorted(self.tokens, tokens), len(self.tokens) - 1)
        found: Floats = np.where(self.tokens[at] == tokens, self.p[at], 0.0)
        return found

    def at(self, token: int) -> float:
        """The probability of one token."""
        return float(self.of(np.array([token]))[0])

    def dense(self, size: int) -> Floats:
        """The law [size]."""
        row = np.zeros(size)
        row[self.tokens] = self.p
        return row


@dataclass(frozen=True)
class Target:
    """A next-token law over V tokens.

    law       context -> V probabilities, or the possible tokens and theirs: {token: p}
    vocab_size  V; None: a sparse law does not say it, and ids have no upper limit
    boundary  context -> tokens within rounding of a filter's cut-off
    exact     whether the law is rational (then its tolerance is 0)
    state     context -> the number of its state, when that is known: equal states have equal laws
    drafter   context -> the drafter's V probabilities, when they are known: they name the fault that was found
    """

    law: Callable[[Context], Any] = field(repr=False)
    vocab_size: int | None
    boundary: Callable[[Context], Iterable[int]] | None = field(repr=False)
    exact: bool
    state: Callable[[Context], int] | None = field(repr=False, default=None)
    drafter: Callable[[Context], Iterable[Any]] | None = field(repr=False, default=None)

    def possible(self, context: Context, rtol: float) -> LawRow:
        """The law after `context`, checked; a sum within the tolerance of 1 is brought to 1."""
        given = _called(f"target({context})", lambda: self.law(context))
        row = self._sparse(context, given) if isinstance(given, Mapping) else self._dense(context, given)
        total = row.p.sum()
        if not abs(total - 1) <= max(1e-9, rtol):
            raise InputError(
                f"target({context}) must sum to 1, got {float(total)!r}: divide by the sum, or raise --rtol ({rtol})"
            )
        kept = row.p > 0
        return LawRow(row.tokens[kept], (row.p / total)[kept])

    def row(self, context: Context, rtol: float, size: int | None = None) -> Floats:
        """The law after `context` as one probability per token [V]; [size] where V is not known."""
        size = self.vocab_size if size is None else size
        row = self.possible(context, rtol)
        return row.dense(1 + int(row.tokens[-1]) if size is None else size)

    def _dense(self, context: Context, given: Any) -> LawRow:
        p = _called(f"target({context})", lambda: np.asarray(given, dtype=float))
        if p.shape != (self.vocab_size,):
            raise InputError(f"target({context}) must have shape ({self.vocab_size},), got {p.shape}: one per token")
        _check_probabilities(context, p)
        return LawRow(np.arange(len(p)), p)

    def _sparse(self, context: Context, given: Mapping[Any, Any]) -> LawRow:
        number = int | np.integer
        bad = [x for x in given if not isinstance(x, number) or isinstance(x, bool) or not self._holds(int(x))]
        if bad or not given:
            ids = ">= 0" if self.vocab_size is None else f"0..{self.vocab_size - 1}"
            came = repr(bad[0]) if bad else "none"
            raise InputError(f"target({context}) must map token ids {ids} to probabilities, got {came}: check the law")
        tokens = np.array(sorted(given), dtype=np.int64)
        p = _called(f"target({context})", lambda: np.array([given[x] for x in sorted(given)], dtype=float))
        _check_probabilities(context, p)
        return LawRow(tokens, p)

    def _holds(self, token: int) -> bool:
        return token >= 0 and (self.vocab_size is None or token < self.vocab_size)

    def near_cutoff(self, context: Context) -> frozenset[int]:
        """The boundary tokens after `context`."""
        near = self.boundary
        if near is None:
            return frozenset()
        tokens = _called(f"target.boundary({context})", lambda: frozenset(int(x) for x in near(context)))
        if not all(self._holds(x) for x in tokens):
            top = "" if self.vocab_size is None else f"..{self.vocab_size - 1}"
            raise InputError(f"target.boundary({context}) must be tokens 0{top}, got {sorted(tokens)}: check the law")
        return tokens


def load_target(spec: str, settings: Mapping[str, Value], context: Context = ()) -> Target:
    """The target that a command line names: a pair file, or "module:attr".

    attr is a Pair, a law(context) -> probabilities, or a factory of either: a function that can be called
    without arguments. A factory gets those of `settings` that it has parameters for.
    """
    if Path(spec).exists() or not is_import_string(spec):
        return as_target(load_pair(spec), context)
    value = load_attribute(spec, "--target")
    if not isinstance(value, Pair) and callable(value) and takes(value, 0):
        value = call_factory(value, settings, f"--target {spec!r}", only_known=True)
    return as_target(value, context)


def as_target(value: Any, context: Context = ()) -> Target:
    """The target of a Pair (its p), of a law(context) -> probabilities, or a Target as it is.

    How many tokens a law has is read off its answer after `context`; a sparse law may say it by `vocab_size`.
    """
    if isinstance(value, Target):
        return value
    if isinstance(value, Pair):
        return Target(value.p, value.vocab_size, None, exact=True, state=value.state, drafter=value.q)
    if not callable(value):
        raise InputError(
            f"the target must be a Pair or a law(context) -> probabilities, got {type(value).__name__}: "
            "name a pair file, a pair or a function"
        )
    given = _called(f"target({context})", lambda: value(context))
    if isinstance(given, Mapping):
        size = getattr(value, "vocab_size", None)
        if size is not None and (type(size) is not int or size < 1):
            raise InputError(f"target.vocab_size must be an integer >= 1, got {size!r}: the tokens of the vocabulary")
    else:
        size = _called(f"target({context})", lambda: len(np.asarray(given)))
        if size < 1:
            raise InputError(f"target({context}) must be probabilities, got none: one per token of the vocabulary")
    return Target(value, size, getattr(value, "boundary", None), exact=False)


def _check_probabilities(context: Context, p: Floats) -> None:
    if not np.all(np.isfinite(p)) or p.min() < 0:
        raise InputError(f"target({context}) must be probabilities >= 0, got {p.tolist()[:8]}: check the logits")


def _called(name: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except RheocheckError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's law raises becomes one clear line
        raise InputError(
            f"{name} must return numbers, it raised {type(error).__name__}: {error}: run this call by itself"
        ) from error
