"""Arrays of noise: what torch, NumPy and JAX do with an array of random numbers, elementwise, on object arrays.

The three libraries differ in names and in what they hand out; what an operation means is written here once. A `cells`
array holds Noise and plain numbers (Fraction, or float for an infinity).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.lazy import Lazy, compared
from rheocheck.intercept.noise import COMPARE, FLIPPED, Noise, as_number, exp_of, log_of, root_of
from rheocheck.intercept.race import race, ranking
from rheocheck.intercept.run import Run

Cells = NDArray[np.object_]


def uniforms(run: Run, shape: Sequence[int]) -> Cells:
    """Independent uniforms."""
    return elementwise(lambda _: Noise(run.uniform()), np.zeros(tuple(shape)))


def exponentials(run: Run, shape: Sequence[int], rate: Any = 1) -> Cells:
    """Independent exponentials with a rate: -log(u) / rate."""
    return binary("/", unary("neg", unary("log", uniforms(run, shape))), plain(rate))


def gumbels(run: Run, shape: Sequence[int]) -> Cells:
    """Independent standard Gumbel variables: -log(-log(u))."""
    return unary("neg", unary("log", exponentials(run, shape)))


def plain(x: Any) -> Cells:
    """Plain numbers of any shape as cells."""
    return elementwise(as_number, np.asarray(x, dtype=np.float64))


def elementwise(function: Callable[..., Any], *arrays: Any) -> Cells:
    """A function of every element, broadcast; always an array, 0-d included."""
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if isinstance(result, np.ndarray):
        return result
    cell = np.empty((), dtype=object)
    cell[()] = result
    return cell


UNARY: dict[str, tuple[Callable[[Noise], Any], Callable[[Any], Any]]] = {  # of noise, and of a plain number
    "neg": (lambda x: -x, lambda x: -x),
    "log": (Noise.log, lambda x: log_of(x) if x >= 0 else float("nan")),
    "exp": (Noise.exp, exp_of),
    "sqrt": (lambda x: x.power(Fraction(1, 2)), lambda x: root_of(x, Fraction(2))),
    "square": (lambda x: x.power(Fraction(2)), lambda x: x * x),
    "reciprocal": (lambda x: x.power(Fraction(-1)), lambda x: _divide(Fraction(1), x)),
    "log1p": (lambda x: (x + 1).log(), lambda x: log_of(x + 1)),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: _product(a, b),
    "/": lambda a, b: _divide(a, b),
    "**": lambda a, b: a**b if isinstance(a, Noise) else _power(a, b),
}


def unary(name: str, cells: Cells) -> Cells:
    """neg, log, exp, sqrt .. of every element."""
    of_noise, of_number = UNARY[name]
    return elementwise(lambda x: of_noise(x) if isinstance(x, Noise) else of_number(x), cells)


def binary(op: str, a: Cells, b: Cells) -> Cells:
    """a + b, a / b .. elementwise; at most one of the two may be random."""
    return elementwise(BINARY[op], a, b)


def clamp(cells: Cells, low: Cells | None, high: Cells | None) -> Cells:
    """Every element clipped to [low, high]."""
    none = elementwise(lambda _: None, np.zeros(()))

    def one(x: Any, lo: Any, hi: Any) -> Any:
        if isinstance(x, Noise):
            return x.clamp(lo, hi)
        return min(max(x, x if lo is None else lo), x if hi is None else hi)

    return elementwise(one, cells, none if low is None else low, none if high is None else high)


def compare(op: str, a: Cells, b: Cells) -> Lazy:
    """a < b .. elementwise: boolean arrays, one per way in which the uniforms may fall."""

    def one(x: Any, y: Any) -> Any:
        if isinstance(x, Noise) and isinstance(y, Noise):
            raise not_understood(f"{op} between two random numbers", "compare each of them with a plain number")
        if isinstance(x, Noise):
            return x, op, y
        return (y, FLIPPED[op], x) if isinstance(y, Noise) else bool(COMPARE[op](x, y))

    pairs = [one(x, y) for x, y in zip(*(side.ravel() for side in np.broadcast_arrays(a, b)), strict=True)]
    return compared(pairs, np.broadcast_shapes(a.shape, b.shape))


def floor(cells: Cells) -> NDArray[np.int64]:
    """The integer part of every element, decided now."""
    return np.array([math.floor(x) for x in cells.ravel()], dtype=np.int64).reshape(cells.shape)


def truncated(cells: Cells) -> NDArray[np.int64]:
    """What a conversion to integers leaves of every element, decided now: towards zero."""
    return np.array([int(x) for x in cells.ravel()], dtype=np.int64).reshape(cells.shape)


def winners(cells: Cells, axis: int | None, largest: bool) -> NDArray[np.int64]:
    """argmax or argmin along an axis (None: of the flat array), decided now."""
    return along(lambda row: race(row, largest), cells, axis)


def ranked(cells: Cells, k: int, axis: int, largest: bool) -> NDArray[np.int64]:
    """The indices of the k largest (smallest) along an axis, in order, decided now."""
    return along(lambda row: ranking(row, k, largest), cells, axis)


def along(function: Callable[[list[Any]], Any], cells: Cells, axis: int | None) -> NDArray[np.int64]:
    """An integer (or a list of them, which then lies along the axis) of every row of an array."""
    if axis is None:
        return np.asarray(function(list(cells.ravel())), dtype=np.int64)
    rows = np.moveaxis(cells, axis, -1)
    values = [function(list(row)) for row in rows.reshape(-1, rows.shape[-1])]
    result = np.array(values, dtype=np.int64).reshape((*rows.shape[:-1], *np.shape(values)[1:]))
    return np.moveaxis(result, -1, axis) if result.ndim == rows.ndim else result


def search_sorted(edges: Cells, cells: Cells, right: bool) -> Lazy:
    """np.searchsorted(edges [n], cells): how many edges lie below (right: not above) each element.

    With torch, edges [.., n] and cells [.., k] may be rows: each is searched in its own.
    """
    if not all(a <= b for row in edges.reshape(-1, edges.shape[-1]) for a, b in itertools.pairwise(row)):
        raise not_understood("a binary search among numbers that do not rise", "sort them, or take their cumsum")
    edges = edges if edges.ndim == 1 else edges[..., None, :]
    below = compare("<=" if right else "<", edges, cells[..., None])
    return below.map(lambda row: row.sum(axis=-1))


def _product(a: Any, b: Any) -> Any:
    if not isinstance(a, Noise) and not isinstance(b, Noise) and (a == 0 or b == 0):
        return Fraction(0)
    return a * b


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, Noise) or isinstance(b, Noise) or b:
        return a / b
    return float("nan") if a == 0 else float("inf") if a > 0 else float("-inf")


def _power(a: Any, b: Any) -> Any:
    return b.__rpow__(a) if isinstance(b, Noise) else as_number(float(a) ** float(b))
