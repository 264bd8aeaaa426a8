"""NumPy's randomness, intercepted: the functions of numpy.random, RandomState and Generator.

Their classes cannot be changed, so subclasses stand in for them: in numpy.random, wherever its functions were
imported to, and in place of every generator made before the audit (the attribute of an object that holds one, above
all). One that cannot be replaced must not be drawn from: its state would tell.
"""

import gc
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from rheocheck.intercept import sampling, symbols
from rheocheck.intercept.complaints import NotProbabilities
from rheocheck.intercept.doors_numpy import numpy_pairs, numpy_seeding
from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.noise import Noise
from rheocheck.intercept.numpy_arrays import LazyArray, NoiseArray, wrapped
from rheocheck.intercept.older import OLDER, older_sources
from rheocheck.intercept.patching import alive, rebound
from rheocheck.intercept.positions import numpy_position, stretch
from rheocheck.intercept.readings import plain
from rheocheck.intercept.real_draws import draw_numpy_really
from rheocheck.intercept.run import Run
from rheocheck.intercept.streams import Streams

GENERATOR, RANDOM_STATE = np.random.Generator, np.random.RandomState
GLOBAL = np.random.mtrand._rand
ZIGGURAT = ("exponential", "float64", "zig")  # how exponential() draws
DRAWS_NOTHING = frozenset("seed set_state get_state bit_generator spawn".split())


@contextmanager
def numpy_randomness(streams: Streams) -> Iterator[None]:
    """numpy.random drawing from `streams`; the state of the global generator is put back."""
    seen = {kind: _seen(kind, streams) for kind in (GENERATOR, RANDOM_STATE)}
    legacy = seen[RANDOM_STATE](GLOBAL._bit_generator)
    originals = {
        name: function
        for name, function in vars(np.random).items()
        if getattr(function, "__self__", None) is GLOBAL and name not in DRAWS_NOTHING
    }
    default_rng = np.random.default_rng

    def seen_default_rng(seed: Any = None) -> Any:
        if isinstance(seed, GENERATOR):
            return seed
        return seen[GENERATOR](default_rng(seed).bit_generator)

    def moving(function: Callable[..., Any]) -> Callable[..., Any]:
        def moved(*args: Any, **kwargs: Any) -> None:
            function(*map(plain, args), **kwargs)
            streams.moved(id(_bits(GLOBAL)))

        return moved

    pairs = [(function, getattr(legacy, name)) for name, function in originals.items()]
    pairs += [(function, moving(function)) for function in (np.random.seed, np.random.set_state)]
    before = np.random.get_state()
    try:
        with ExitStack() as stack:
            stack.enter_context(rebound([*pairs, (default_rng, seen_default_rng), *seen.items()]))
            twins = ((GLOBAL, legacy), *_twins(seen))
            stack.enter_context(_substituted(twins))
            for generator, twin in twins:
                streams.watch(
                    id(_bits(twin)), f"a numpy {type(generator).__name__}", partial(numpy_position, _bits(twin))
                )
            yield
    finally:
        np.random.set_state(before)


def _twins(seen: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Every generator that was made before, and what stands in for it, with the same state."""
    return [(x, seen[type(x)](_bits(x))) for x in alive(OLDER) if type(x) in seen and x is not GLOBAL]


@contextmanager
def _substituted(twins: tuple[tuple[Any, Any], ...]) -> Iterator[None]:
    """The twins wherever an attribute, a variable, a dict or a list held their generators: one look at all objects."""
    undo: list[Callable[[], Any]] = []  # partials and plain arguments: a closure would hold a generator in a cell
    new = {id(generator): twin for generator, twin in twins}
    for holder in gc.get_referrers(*(generator for generator, _ in twins)):
        if isinstance(holder, types.CellType):
            undo.append(partial(setattr, holder, "cell_contents", holder.cell_contents))
            holder.cell_contents = new[id(holder.cell_contents)]
        elif isinstance(holder, dict | list):
            for key, held in _held(holder.items() if isinstance(holder, dict) else enumerate(holder), new):
                undo.append(partial(holder.__setitem__, key, held))
                holder[key] = new[id(held)]
        elif hasattr(holder, "__dict__"):
            for key, held in _held(vars(holder).items(), new):
                undo.append(partial(setattr, holder, key, held))
                setattr(holder, key, new[id(held)])
    try:
        yield
    finally:
        for step in undo:
            step()


def _held(items: Iterable[tuple[Any, Any]], new: dict[int, Any]) -> list[tuple[Any, Any]]:
    return [(key, held) for key, held in items if id(held) in new]


def _bits(generator: Any) -> Any:
    return generator._bit_generator


def _seen(kind: type, streams: Streams) -> type:
    """A subclass of Generator or RandomState whose draws come from `streams`."""

    def draw(generator: Any, request: tuple[Any, ...], make: Callable[[Run], Any]) -> Any:
        bits = _bits(generator)
        before = numpy_position(bits)
        streams.unmoved(id(bits), before)
        draw_numpy_really(kind(bits), request)
        after = numpy_position(bits)
        streams.moved(id(bits), after)
        noise = streams.draw(stretch(before, after), ("numpy", *request), make)
        return noise.copy() if isinstance(noise, NoiseArray | LazyArray | np.ndarray) else noise

    own = kind.__name__  # but for uniforms of float64 and orders, the two kinds make other noise of one state

    def uniforms(self: Any, shape: tuple[int, ...], *name: str) -> Any:
        return draw(self, (*name, shape), lambda run: _array(symbols.uniforms(run, shape), shape))

    def uniform(self: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(low), np.shape(high)) if size is None else _shape(size)
        noise = uniforms(self, shape, "uniform", "float64")
        standard = np.ndim(low) == np.ndim(high) == 0 and (low, high) == (0.0, 1.0)
        return noise if standard else noise * np.subtract(high, low) + low

    def random(self: Any, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise not_understood("numpy random(out=)", "use its result")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"Unsupported dtype {np.dtype(dtype)!r} for random")
        return uniforms(self, () if size is None else _shape(size), "uniform", np.dtype(dtype).name)

    def rand(self: Any, *shape: int) -> Any:
        return uniform(self, size=shape or None)

    def exponential(self: Any, scale: Any = 1.0, size: Any = None) -> Any:
        return _exponential(self, np.shape(scale) if size is None else _shape(size), *ZIGGURAT) * scale

    def _exponential(self: Any, shape: tuple[int, ...], *name: str) -> Any:
        return -np.log(uniforms(self, shape, own, *name))

    def standard_exponential(
        self: Any, size: Any = None, dtype: Any = None, method: str = "zig", out: Any = None
    ) -> Any:
        if out is not None:
            raise not_understood("numpy standard_exponential(out=)", "use its result")
        return _exponential(self, () if size is None else _shape(size), "exponential", np.dtype(dtype).name, method)

    def gumbel(self: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else _shape(size)
        return -np.log(_exponential(self, shape, "gumbel")) * scale + loc

    def choice(
        self: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> Any:
        if axis != 0 or not (shuffle or replace):
            raise not_understood("numpy choice along another axis, or with shuffle=False", "take an index")
        population = np.arange(a) if np.ndim(a) == 0 else np.asarray(a)
        weights = np.full(len(population), 1.0) if p is None else np.asarray(p, dtype=float)
        if weights.shape != population.shape[:1]:
            raise ValueError("a and p must have same size")
        if p is not None and abs(weights.sum() - 1) > np.sqrt(np.finfo(float).eps):  # as NumPy does
            raise NotProbabilities("probabilities do not sum to 1")
        shape = () if size is None else _shape(size)
        request = (own, "choice", None if p is None else weights.tobytes(), len(population), shape, replace)
        count = int(np.prod(shape))
        if not (weights >= 0).all():
            raise NotProbabilities("probabilities are not non-negative")
        if not replace and np.count_nonzero(weights) < count:
            raise NotProbabilities("fewer non-zero entries in p than size")
        drawn = draw(self, request, lambda run: sampling.indices(run, weights, count, replace, "numpy choice"))
        picked = population[np.array(drawn, dtype=int).reshape(shape)]
        return picked.item() if size is None and p is None and picked.ndim == 0 and np.ndim(a) == 0 else picked

    def multinomial(self: Any, n: int, pvals: Any, size: Any = None) -> Any:
        weights = np.array(pvals, dtype=float)
        if weights.ndim != 1 or np.ndim(n):
            raise not_understood("numpy multinomial in several rows", "draw one row at a time")
        if weights[:-1].sum() > 1 + 1e-12:
            raise NotProbabilities("sum(pvals[:-1]) > 1.0")
        weights[-1] = max(0.0, 1 - weights[:-1].sum())  # what NumPy does with the last one
        shape = () if size is None else _shape(size)
        rows = int(np.prod(shape))
        drawn = draw(
            self,
            (own, "multinomial", n, weights.tobytes(), shape),
            lambda run: [sampling.counts(run, n, weights, "numpy multinomial") for _ in range(rows)],
        )
        return np.array(drawn).reshape((*shape, len(weights)))

    def integers(
        self: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = int, endpoint: bool = False
    ) -> Any:
        if np.ndim(low) or np.ndim(high):
            raise not_understood("numpy integers with arrays of bounds", "draw one at a time")
        low, high = (0, low) if high is None else (low, high)
        shape = () if size is None else _shape(size)
        count, top = int(np.prod(shape)), int(high) + endpoint
        wide = np.dtype(dtype)  # types of 32 bits and more share their bits
        request = (own, "integers", int(low), top, shape, wide.kind == "b", min(wide.itemsize, 4))
        drawn = draw(self, request, lambda run: sampling.integers(run, int(low), top, count, "numpy integers"))
        if size is not None:
            return np.array(drawn, dtype=dtype).reshape(shape)
        return drawn[0] if dtype is int else np.dtype(dtype).type(drawn[0])

    def permutation(self: Any, x: Any, axis: int = 0) -> Any:
        values = np.arange(x) if np.ndim(x) == 0 else np.asarray(x)
        n = values.shape[axis]
        order = draw(self, ("permutation", n), lambda run: sampling.permutation(run, n, "numpy permutation"))
        return np.take(values, order, axis=axis)

    def shuffle(self: Any, x: Any, axis: int = 0) -> None:
        x[:] = (
            permutation(self, np.asarray(x), axis)
            if isinstance(x, np.ndarray)
            else [x[i] for i in permutation(self, len(x))]
        )

    def binomial(self: Any, n: Any, p: Any, size: Any = None) -> Any:
        if n != 1:
            raise not_understood("numpy binomial of several coins", "draw each coin by random() < p")
        shape = np.shape(p) if size is None else _shape(size)
        values = np.broadcast_to(np.asarray(p, dtype=float), shape)
        request = (own, "binomial", values.tobytes(), shape)
        coins = draw(self, request, lambda run: wrapped(sampling.checked_coins(run, values)))
        return coins.astype(int) if isinstance(coins, LazyArray | np.ndarray) else coins

    drawing = {
        "random": random, "random_sample": random, "ranf": random, "sample": random, "rand": rand, "uniform": uniform,
        "exponential": exponential, "standard_exponential": standard_exponential, "gumbel": gumbel, "choice": choice,
        "multinomial": multinomial, "integers": integers, "randint": integers, "permutation": permutation,
        "shuffle": shuffle, "binomial": binomial,
    }  # fmt: skip
    public = [name for name in dir(kind) if not name.startswith("_") and name not in DRAWS_NOTHING]
    methods: dict[str, Any] = {name: drawing.get(name) or _refusal(name) for name in public}
    methods["__init__"] = lambda self, seed=None: kind.__init__(self, plain(seed))  # type: ignore[misc]
    methods["bit_generator"] = property(_refusal("bit_generator"))  # it draws unseen: advance, random_raw
    for name in {"seed", "set_state"} & set(dir(kind)):
        methods[name] = _moving(getattr(kind, name), streams)
    return type(kind.__name__, (kind,), methods)


def _moving(method: Callable[..., Any], streams: Streams) -> Callable[..., Any]:
    """A method that moves a generator for all to see."""

    def moved(self: Any, *args: Any, **kwargs: Any) -> None:
        method(self, *map(plain, args), **kwargs)
        streams.moved(id(_bits(self)))

    return moved


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise not_understood(f"numpy's random {name}", "use random, choice, uniform, exponential or gumbel")

    return refuse


def _shape(size: Any) -> tuple[int, ...]:
    return (int(size),) if np.ndim(size) == 0 else tuple(int(n) for n in size)


def _array(cells: Any, shape: tuple[int, ...]) -> NoiseArray | Noise:
    """An array of noise; one Noise where NumPy hands out a scalar."""
    return NoiseArray(cells) if shape else cells[()]


class _NumpySource:
    def stand_ins(self) -> list[tuple[Any, Any]]:
        return numpy_pairs()

    def followed(self, streams: Streams) -> list[AbstractContextManager[None]]:
        return [numpy_seeding(), older_sources(streams), numpy_randomness(streams)]


SOURCE = _NumpySource()
