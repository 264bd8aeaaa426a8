"""A target: the next-token law that a subject should follow, and the joint law of L tokens that it implies.

    P(x_1 .. x_L | context) = p(x_1 | context) p(x_2 | context x_1) ...

A *boundary token* sits so close to the cut-off of a filter (top-k, top-p, min-p) that rounding decides
whether it stays: there the law is not known. A law that offers `boundary(context)` names these tokens. The
joint law is then told apart only up to such a context, and what follows it counts as one cell.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.settings import Value, call_factory, takes
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.core.files import load_pair
from rheocheck.core.loading import is_import_string, load_attribute
from rheocheck.core.pair import Context, Pair

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_CELLS = 2**20
OBJECT_CELLS = 512  # most cells of the joint prefix that a bound on TV is about
EXACT_RTOL, FLOAT_RTOL = 0.0, 1e-6


@dataclass(frozen=True)
class Target:
    """A next-token law over V tokens.

    law       context -> V probabilities
    boundary  context -> tokens within rounding of a filter's cut-off
    exact     whether the law is rational (then its tolerance is 0)
    state     context -> what of it the law still sees, when that is known: equal states have equal laws
    drafter   context -> the drafter's V probabilities, when they are known: they name the fault that was found
    """

    law: Callable[[Context], Iterable[Any]] = field(repr=False)
    vocab_size: int
    boundary: Callable[[Context], Iterable[int]] | None = field(repr=False)
    exact: bool
    state: Callable[[Context], Context] | None = field(repr=False, default=None)
    drafter: Callable[[Context], Iterable[Any]] | None = field(repr=False, default=None)

    def row(self, context: Context, rtol: float) -> Floats:
        """The law [V] after `context`, checked; a sum within the tolerance of 1 is brought to 1."""
        row = _called(f"target({context})", lambda: np.asarray(self.law(context), dtype=float))
        if row.shape != (self.vocab_size,):
            raise InputError(f"target({context}) must have shape ({self.vocab_size},), got {row.shape}: one per token")
        if not np.all(np.isfinite(row)) or row.min() < 0:
            raise InputError(f"target({context}) must be probabilities >= 0, got {row.tolist()[:8]}: check the logits")
        if not abs(row.sum() - 1) <= max(1e-9, rtol):
            raise InputError(
                f"target({context}) must sum to 1, got {float(row.sum())!r}: divide by the sum, "
                f"or raise --rtol ({rtol})"
            )
        return row / row.sum()

    def near_cutoff(self, context: Context) -> frozenset[int]:
        """The boundary tokens after `context`."""
        near = self.boundary
        if near is None:
            return frozenset()
        tokens = _called(f"target.boundary({context})", lambda: frozenset(int(x) for x in near(context)))
        if not all(0 <= x < self.vocab_size for x in tokens):
            raise InputError(
                f"target.boundary({context}) must be tokens 0..{self.vocab_size - 1}, got {sorted(tokens)}: "
                "check the law"
            )
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

    How many tokens a law has is read off its answer after `context`.
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
    size = _called(f"target({context})", lambda: len(np.asarray(value(context))))
    if size < 1:
        raise InputError(f"target({context}) must be probabilities, got none: one per token of the vocabulary")
    return Target(value, size, getattr(value, "boundary", None), exact=False)


@dataclass(frozen=True)
class JointLaw:
    """The target's law of words of L tokens after one context; word x_1..x_L has index sum x_i V^(L-i).

    law       probability of each word [V^L]
    cells     [V^L] the word that stands for each word's cell: itself, or, for a possible word that runs into
              a context with boundary tokens, the first possible word that runs into it too
    rows      {prefix: p(. | context + prefix)} for every prefix that can occur
    boundary  {prefix: its boundary tokens}, only where there are any
    """

    vocab_size: int
    tokens: int
    law: Floats = field(repr=False)
    cells: Ints = field(repr=False)
    rows: Mapping[Context, Floats] = field(repr=False)
    boundary: Mapping[Context, frozenset[int]] = field(repr=False)

    def index(self, words: Ints) -> Ints:
        """The index of each word [n, L] -> [n]."""
        return words @ self.vocab_size ** np.arange(self.tokens - 1, -1, -1, dtype=np.int64)

    def of_cells(self, values: Floats | Ints) -> Floats:
        """Values per word [V^L] added up per cell [V^L]; words that do not stand for a cell get 0."""
        return np.bincount(self.cells, weights=values, minlength=len(self.cells)).astype(np.float64)


def object_tokens(size: int, tokens: int) -> int:
    """How many tokens the object of a bound on TV has: the longest prefix with at most 512 words, at least one."""
    return next((n for n in range(min(tokens, 9), 1, -1) if size**n <= OBJECT_CELLS), 1)


def joint_law(target: Target, context: Context, tokens: int, rtol: float) -> JointLaw:
    """The joint law of `tokens` tokens after `context`. Raises InputError beyond 2^20 words."""
    size = target.vocab_size
    if tokens * np.log2(size) > np.log2(MAX_CELLS):  # size**tokens itself may be astronomical
        raise InputError(
            f"the joint law must have at most {MAX_CELLS} words, got {size}^{tokens}: audit a smaller vocabulary"
        )
    if any(not 0 <= x < size for x in context):
        raise InputError(f"the context must hold tokens 0..{size - 1}, got {context}: check --context")
    law = np.ones(1)
    rows: dict[Context, Floats] = {}
    boundary: dict[Context, frozenset[int]] = {}
    possible, group = np.ones(1, dtype=bool), np.full(1, -1)  # group: which boundary context a word runs into
    for length in range(tokens):
        here, may_follow = np.zeros((len(law), size)), np.zeros((len(law), size), dtype=bool)
        for i in np.flatnonzero(possible):
            prefix = _word(int(i), size, length)
            rows[prefix] = here[i] = target.row(context + prefix, rtol)
            near = target.near_cutoff(context + prefix)
            if near and group[i] < 0:
                group[i] = len(boundary)
            if near:
                boundary[prefix] = near
            may_follow[i] = (here[i] > 0) | np.isin(np.arange(size), list(near))
        law, possible, group = (law[:, None] * here).ravel(), may_follow.ravel(), np.repeat(group, size)
    cells = np.arange(len(law))
    merged = possible & (group >= 0)
    _, first, which = np.unique(group[merged], return_index=True, return_inverse=True)
    cells[merged] = np.flatnonzero(merged)[first][which]
    return JointLaw(size, tokens, law, cells, rows, boundary)


def _called(name: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except RheocheckError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's law raises becomes one clear line
        raise InputError(
            f"{name} must return numbers, it raised {type(error).__name__}: {error}: run this call by itself"
        ) from error


def _word(index: int, size: int, length: int) -> Context:
    word = []
    for _ in range(length):
        index, x = divmod(index, size)
        word.append(x)
    return tuple(reversed(word))
