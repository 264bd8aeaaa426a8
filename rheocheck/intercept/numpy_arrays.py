"""Arrays of noise and arrays not yet decided, as NumPy code (and JAX code outside jit) meets them.

Neither is an ndarray: NumPy hands every function of them over through its protocols. A NoiseArray knows arithmetic,
comparisons, races and shapes, and raises on anything else. A LazyArray (mostly booleans: u < p) stands for one of a
few real arrays; logic and sums are done to all of them, anything else decides which one it is and is then done by
NumPy itself.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from rheocheck.intercept import symbols
from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.lazy import Lazy, together
from rheocheck.intercept.noise import ARRAYS, Noise
from rheocheck.intercept.symbols import Cells

ADVICE = "compare it with a number, race it by argmax, or audit by sampling"


class Immutable(np.ndarray):
    """The cells of an array of JAX: `u *= 2` makes a new array there."""


class NoiseArray(NDArrayOperatorsMixin):
    """An array of noise: `cells` holds a Noise (or a plain number) per element."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    shape = property(lambda self: self.cells.shape)
    ndim = property(lambda self: self.cells.ndim)
    size = property(lambda self: self.cells.size)
    dtype = property(lambda self: np.dtype(np.float64))
    T = property(lambda self: NoiseArray(self.cells.T))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        operation = UFUNCS.get(ufunc.__name__) if method == "__call__" and not kwargs else None
        if operation is None:
            name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            raise not_understood(f"numpy.{name} of random numbers", ADVICE)
        result = operation(*map(decided, inputs))
        if out is None or (isinstance(out[0], NoiseArray) and isinstance(out[0].cells, Immutable)):
            return result
        if not isinstance(out[0], NoiseArray) or not isinstance(result, NoiseArray):
            raise not_understood("random numbers written into an array", "keep them in an array of their own")
        out[0].cells[...] = result.cells
        return out[0]

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        operation = FUNCTIONS.get(func.__name__)
        if operation is None:
            raise not_understood(f"numpy.{func.__name__} of random numbers", ADVICE)
        return operation(*map(decided, args), **{k: decided(v) for k, v in kwargs.items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols that Python and the libraries look for
            raise AttributeError(name)
        raise not_understood(f"the array method {name} of random numbers", ADVICE)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, NoiseArray | Noise):
            raise not_understood("a random number used as an index", "draw an index by choice")
        return _out(self.cells[decided(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(self.cells, Immutable):
            raise not_understood("an item of a JAX array set", "make a new array")
        self.cells[decided(index)] = _cells(value)

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def item(self, *index: Any) -> Any:
        return self.cells.item(*index)

    def tolist(self) -> Any:
        return self.cells.tolist()

    def argmax(self, axis: int | None = None) -> Any:
        return FUNCTIONS["argmax"](self, axis)

    def argmin(self, axis: int | None = None) -> Any:
        return FUNCTIONS["argmin"](self, axis)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        return _clip(self, min, max)

    def copy(self) -> "NoiseArray":
        return NoiseArray(self.cells.copy())

    copied = copy

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Another type; an integer type takes the integer part."""
        kind = np.dtype(dtype).kind
        if kind == "f":
            if np.dtype(dtype).itemsize < 4:
                raise not_understood("random numbers of 16 bits", "audit in float32 or float64")
            return self.copy()
        if kind in "iu":
            return symbols.truncated(self.cells).astype(dtype)
        raise not_understood(f"random numbers turned into {dtype}", "compare them with a number")

    def reshape(self, *shape: Any) -> "NoiseArray":
        return NoiseArray(self.cells.reshape(*shape))

    def ravel(self) -> "NoiseArray":
        return NoiseArray(self.cells.ravel())

    def flatten(self) -> "NoiseArray":
        return NoiseArray(self.cells.flatten())

    def squeeze(self, axis: Any = None) -> "NoiseArray":
        return NoiseArray(self.cells.squeeze(axis))

    def _no_number(self, *_: Any, **__: Any) -> Any:
        raise not_understood("random numbers used as plain numbers", ADVICE)

    __float__ = __int__ = __index__ = __bool__ = __array__ = _no_number

    def __repr__(self) -> str:
        raise not_understood("random numbers written as text", "leave the printing out")


class LazyArray(NDArrayOperatorsMixin):
    """An array that is one of a few; `lazy` says which, depending on uniforms."""

    __hash__ = None  # type: ignore[assignment]
    aliased = False  # whether another array shares its elements in NumPy, but not here

    def __init__(self, lazy: Lazy) -> None:
        self.lazy = lazy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None and not any(isinstance(x, NoiseArray | Noise) for x in inputs):
            return row_by_row(getattr(ufunc, method), inputs, kwargs)
        if out is not None and isinstance(out[0], LazyArray):
            raise not_understood("an undecided array changed in place", "make a new array")
        return getattr(ufunc, method)(*map(decided, inputs), out=out, **kwargs)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if func.__name__ in PURE and "out" not in kwargs:
            return row_by_row(func, args, kwargs)
        return func(*_all_decided(args), **{k: _all_decided(v) for k, v in kwargs.items()})

    def __getitem__(self, index: Any) -> Any:
        return row_by_row(lambda row, i: row[i], (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.aliased:
            raise not_understood("a change in place of random values that arrays share", "work on a copy()")
        self.__array__()[decided(index)] = decided(value)

    def __getattr__(self, name: str) -> Any:
        if name in PURE:
            return lambda *args, **kwargs: row_by_row(
                lambda row, *a: getattr(row, name)(*a, **kwargs), (self, *args), {}
            )
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__array__(), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        row = np.asarray(self.lazy.decide(_key))
        if self.lazy.axes:
            self.lazy = Lazy((), (row.copy(),))
            (row,) = self.lazy.rows
            row.flags.writeable = not self.aliased
        return row if dtype is None else row.astype(dtype)

    def __jax_array__(self) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(self.__array__())

    def __bool__(self) -> bool:
        return bool(self.__array__())

    def __int__(self) -> int:
        return int(self.__array__())

    def __index__(self) -> int:
        return self.__array__().__index__()

    def __float__(self) -> float:
        return float(self.__array__())

    def __len__(self) -> int:
        return len(self.lazy.rows[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.__array__())


def array_of_one(value: Any) -> Any:
    """A Noise as an array without dimensions; anything else as it is."""
    return NoiseArray(_cells(value)) if isinstance(value, Noise) else value


ARRAYS["numpy"] = array_of_one


PURE = frozenset(
    "all any sum prod cumsum cumprod argmax argmin max min amax amin count_nonzero astype reshape ravel squeeze "
    "flatten where logical_not invert copy".split()
)


def wrapped(lazy: Lazy) -> Any:
    """A lazy array, or its rows if they are all the same."""
    first = lazy.rows[0]
    return first if len(set(map(_key, lazy.rows))) == 1 else LazyArray(lazy)


def row_by_row(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A function of every row of its lazy arguments; of their decided values where rows would differ in shape."""
    values = [x.lazy if isinstance(x, LazyArray) else x for x in args]
    table = together(values)
    if table is not None and not any(isinstance(x, LazyArray) for x in kwargs.values()):
        axes, rows = table
        results = [np.asarray(function(*row, **kwargs)) for row in rows]
        if len({(r.shape, r.dtype) for r in results}) == 1:
            lazy = Lazy(axes, tuple(results))
            sources = [x for x in args if isinstance(x, LazyArray) and _shared(x.lazy.rows, results[0])]
            if not sources or not results[0].ndim:
                return wrapped(lazy)
            result = LazyArray(lazy)
            for array in (result, *sources):
                array.aliased = True
            return result
    return function(*map(decided, args), **{k: decided(v) for k, v in kwargs.items()})


def _shared(rows: Any, result: NDArray[Any]) -> bool:
    """Whether a result is a view of one of some rows."""
    return any(np.may_share_memory(row, result) for row in rows)


def decided(value: Any) -> Any:
    """A lazy array decided now; anything else as it is."""
    return value.__array__() if isinstance(value, LazyArray) else value


def _all_decided(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_all_decided, value))
    return decided(value)


def _key(row: Any) -> Any:
    """What tells the rows of a lazy array apart."""
    row = np.asarray(row)
    return row.shape, row.dtype, row.tobytes()


def _cells(value: Any) -> Cells:
    if isinstance(value, NoiseArray):
        return value.cells
    if isinstance(value, Noise):
        return symbols.elementwise(lambda _: value, np.zeros(()))
    if isinstance(value, list | tuple) and any(isinstance(x, Noise) for x in value):
        return symbols.elementwise(lambda x: x, np.array([*value, None], dtype=object)[:-1])
    return symbols.plain(value)


def _out(cells: Any) -> Any:
    """An array of noise; a single Noise (or number) as NumPy would hand out a scalar."""
    if not isinstance(cells, np.ndarray):
        return cells if isinstance(cells, Noise) else float(cells)
    return NoiseArray(cells)


def _scalar(cells: Cells) -> Any:
    return _out(cells[()]) if cells.ndim == 0 else NoiseArray(cells)


def _unary(name: str) -> Callable[..., Any]:
    return lambda x: _scalar(symbols.unary(name, _cells(x)))


def _binary(op: str) -> Callable[..., Any]:
    return lambda a, b: _scalar(symbols.binary(op, _cells(a), _cells(b)))


def _comparison(op: str) -> Callable[..., Any]:
    return lambda a, b: wrapped(symbols.compare(op, _cells(a), _cells(b)))


def _clip(x: Any, a_min: Any = None, a_max: Any = None) -> Any:
    sides = (None if side is None else _cells(side) for side in (a_min, a_max))
    return _scalar(symbols.clamp(_cells(x), *sides))


def _winner(largest: bool) -> Callable[..., Any]:
    return lambda x, axis=None: symbols.winners(_cells(x), axis, largest)[()]


def _argsort(x: Any, axis: int = -1, kind: Any = None) -> NDArray[np.int64]:
    cells = _cells(x)
    return symbols.ranked(cells, cells.shape[axis], axis, False)


def _search_sorted(edges: Any, x: Any, side: str = "left", sorter: Any = None) -> Any:
    if isinstance(edges, NoiseArray) or sorter is not None:
        raise not_understood("searchsorted in random numbers", "search plain numbers")
    return wrapped(symbols.search_sorted(symbols.plain(edges), _cells(x), side == "right"))


def _where(condition: Any, a: Any, b: Any) -> NoiseArray:
    if isinstance(condition, NoiseArray | Noise):
        raise not_understood("numpy.where on random numbers themselves", "compare them first")
    pick = symbols.elementwise(lambda c, x, y: x if c else y, np.asarray(condition), _cells(a), _cells(b))
    return NoiseArray(pick)


UFUNCS: dict[str, Callable[..., Any]] = {
    "add": _binary("+"), "subtract": _binary("-"), "multiply": _binary("*"), "divide": _binary("/"),
    "true_divide": _binary("/"), "power": _binary("**"), "negative": _unary("neg"), "log": _unary("log"),
    "exp": _unary("exp"), "sqrt": _unary("sqrt"), "square": _unary("square"), "reciprocal": _unary("reciprocal"),
    "log1p": _unary("log1p"), "positive": lambda x: x, "less": _comparison("<"), "less_equal": _comparison("<="),
    "greater": _comparison(">"), "greater_equal": _comparison(">="), "equal": _comparison("=="),
    "not_equal": _comparison("!="), "floor": lambda x: symbols.floor(_cells(x)).astype(float)[()],
    "maximum": lambda a, b: _bounded(a, b, True), "minimum": lambda a, b: _bounded(a, b, False),
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "argmax": _winner(True), "argmin": _winner(False), "argsort": _argsort, "searchsorted": _search_sorted,
    "where": _where, "clip": _clip, "copy": lambda x: x.copy(), "ravel": lambda x: x.ravel(),
    "reshape": lambda x, *shape: x.reshape(*shape), "squeeze": lambda x, axis=None: x.squeeze(axis),
    "shape": lambda x: x.shape, "ndim": lambda x: x.ndim, "size": lambda x: x.size,
    "concatenate": lambda parts, axis=0: NoiseArray(np.concatenate([_cells(p) for p in parts], axis=axis)),
    "stack": lambda parts, axis=0: NoiseArray(np.stack([_cells(p) for p in parts], axis=axis)),
}  # fmt: skip


def _bounded(a: Any, b: Any, larger: bool) -> Any:
    """maximum or minimum of noise and plain numbers."""
    if not isinstance(a, NoiseArray | Noise):
        a, b = b, a
    return _clip(a, b, None) if larger else _clip(a, None, b)
