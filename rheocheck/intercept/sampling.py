"""Draws that are decided at once: an index by weights, several indices, coins by their probabilities."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.intercept.complaints import NotProbabilities
from rheocheck.intercept.errors import line, refusal
from rheocheck.intercept.lazy import MAX_ROWS, Axis, Lazy
from rheocheck.intercept.run import MAX_OUTCOMES, Run, shares
from rheocheck.intercept.symbols import compare, plain, uniforms
from rheocheck.intercept.uniform import START

Ints = NDArray[np.int64]
Weights = Sequence[Any] | NDArray[Any]


def indices(run: Run, weights: Weights, count: int, replacement: bool, name: str) -> list[int]:
    """`count` indices drawn by weights, one after the other, with or without replacement."""
    left = shares(weights)
    if not replacement and sum(w > 0 for w in left) < count:
        raise RuntimeError(f"{count} draws without replacement need so many positive weights")
    drawn = []
    for _ in range(count):
        total = sum(left)
        i = run.choose([w / total for w in left], lambda i: f"{name} drew {i}")
        drawn.append(i)
        if not replacement:
            left[i] = Fraction(0)
    return drawn


def lazy_indices(run: Run, weights: Sequence[Weights] | NDArray[Any], shape: tuple[int, ...], name: str) -> Lazy | None:
    """An index drawn by each row of weights, not yet decided: each one is where a uniform falls among the sums.

    None where the table of possibilities would be large.
    """
    laws = [shares(row) for row in weights]
    drawn = [[i for i, w in enumerate(law) if w] for law in laws]
    if math.prod(map(len, drawn)) > MAX_ROWS:
        return None
    axes = []
    for law, possible in zip(laws, drawn, strict=True):
        cuts = [START, *((total, 0) for total in itertools.accumulate(law[i] for i in possible))]
        cells = tuple(itertools.pairwise(cuts))
        uniform = run.uniform()
        uniform.about = name, tuple(zip(cells, possible, strict=True))
        axes.append(Axis(uniform, cells))
    rows = tuple(np.array(row, dtype=np.int64).reshape(shape) for row in itertools.product(*drawn))
    return Lazy(tuple(axes), rows)


def integers(run: Run, low: int, high: int, count: int, name: str) -> list[int]:
    """`count` integers from low..high-1, equally likely."""
    if high <= low:
        raise ValueError(f"{name} must have low < high, got {low} and {high}")
    if high - low > MAX_OUTCOMES:
        raise refusal(
            f"an exact audit must choose among at most {MAX_OUTCOMES} outcomes, got {high - low} of {name} at "
            f"{line()}: draw a probability with random(), or audit by sampling"
        )
    weights = [Fraction(1, high - low)] * (high - low)
    return [low + run.choose(weights, lambda i: f"{name} drew {low + i}") for _ in range(count)]


def counts(run: Run, n: int, weights: Weights, name: str) -> Ints:
    """How often each index comes in n draws by weights: a multinomial vector."""
    drawn = indices(run, weights, n, True, name)
    return np.bincount(drawn, minlength=len(weights)).astype(np.int64)


def permutation(run: Run, n: int, name: str) -> list[int]:
    """A uniformly random order of 0..n-1."""
    return indices(run, [1] * n, n, False, name) if n else []


def coins(run: Run, p: Any) -> Any:
    """Coins that fall True with probabilities p, not yet decided: a lazy boolean array."""
    p = np.asarray(p, dtype=np.float64)
    return compare("<", uniforms(run, p.shape), plain(p))


def checked_coins(run: Run, p: Any) -> Any:
    """The same where NaN and what lies outside 0..1 is refused, as torch and NumPy do; JAX compares and goes on."""
    if not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
        raise NotProbabilities("probabilities of coins must lie in 0..1, got NaN or a number outside")
    return coins(run, p)
