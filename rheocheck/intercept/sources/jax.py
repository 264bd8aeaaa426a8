"""JAX's randomness outside jit, intercepted: the functions of jax.random, and those of jax.numpy that take noise.

A key is the state that noise is known by: one key used for two different draws is refused, and used for the same draw
twice gives the same noise. What is compiled draws unseen: a traced key is refused, what was compiled before the audit
is compiled anew, and the primitive that every random number comes from refuses whoever else asks it.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rheocheck.intercept import jax_halves, numpy_arrays, sampling, symbols
from rheocheck.intercept.errors import HALVES, not_understood
from rheocheck.intercept.noise import Noise
from rheocheck.intercept.numpy_arrays import Immutable, LazyArray, NoiseArray, wrapped
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.positions import Stretch
from rheocheck.intercept.readings import seedable
from rheocheck.intercept.run import Run
from rheocheck.intercept.streams import Streams

KEYS = frozenset(
    "PRNGKey key split fold_in clone key_data wrap_key_data key_impl default_prng_impl random_seed PRNGKeyArray "
    "threefry_2x32 rbg_key unsafe_rbg_key threefry2x32_key".split()
)


def _bits_primitive() -> Any:
    """What every random number of JAX comes from; its place differs between versions."""
    for place in ("jax._src.random.prng", "jax._src.prng"):
        try:
            return importlib.import_module(place).random_bits_p
        except (ImportError, AttributeError):
            continue
    return None


BITS = _bits_primitive()
WIDER = "use float32 or float64"
MEASURED = {"float16": "which moves thirteen tokens by TV 0.004", "bfloat16": "which moves thirteen tokens by TV 0.021"}


@contextmanager
def jax_randomness(streams: Streams) -> Iterator[None]:
    """jax.random drawing from `streams`, and jax.numpy understanding noise."""
    draws = _draws(streams)
    pairs = []
    for name, function in vars(jax.random).items():
        if callable(function) and not name.startswith("_") and name not in KEYS:
            pairs.append((function, draws.get(name) or _refusal(name)))
    for name in {*numpy_arrays.UFUNCS, *numpy_arrays.FUNCTIONS}:
        function = getattr(jnp, name, None)
        if callable(function):
            pairs.append((function, _of_noise_too(function, getattr(np, name))))
    jax.clear_caches()  # what was compiled before draws unseen
    with ExitStack() as stack:
        stack.enter_context(rebound(pairs))
        if BITS is not None:
            stack.enter_context(replaced(BITS, {"bind": _refusal("bits")}))
        yield


def _draws(streams: Streams) -> dict[str, Callable[..., Any]]:
    def draw(key: Any, request: tuple[Any, ...], make: Callable[[Run], Any]) -> Any:
        if isinstance(key, jax.core.Tracer):
            raise not_understood(
                "a random draw within jax.jit or another transformation", "audit with jax.disable_jit()"
            )
        data = jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
        noise = streams.draw(Stretch("a key of JAX", (("jax", np.asarray(data).tobytes()),)), request, make)
        return noise.copy() if isinstance(noise, NoiseArray) else noise

    def uniform(key: Any, shape: Any = (), dtype: Any = None, minval: Any = 0.0, maxval: Any = 1.0, **_: Any) -> Any:
        noise = draw(
            key,
            ("uniform", tuple(shape), _type(dtype)),
            lambda run: NoiseArray(symbols.uniforms(run, shape).view(Immutable)),
        )
        low, high = np.asarray(minval, dtype=float), np.asarray(maxval, dtype=float)
        return noise if np.all(low == 0) and np.all(high == 1) else _array(noise * (high - low) + low)

    def gumbel(key: Any, shape: Any = (), dtype: Any = None, mode: Any = None) -> Any:
        return draw(
            key,
            ("gumbel", tuple(shape), _type(dtype), _mode(mode)),
            lambda run: NoiseArray(symbols.gumbels(run, shape).view(Immutable)),
        )

    def exponential(key: Any, shape: Any = (), dtype: Any = None) -> Any:
        return draw(
            key,
            ("exponential", tuple(shape), _type(dtype)),
            lambda run: NoiseArray(symbols.exponentials(run, shape).view(Immutable)),
        )

    def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", **_: Any) -> Any:
        p = jnp.asarray(p)
        half = _half(p, "bernoulli", refused=False)
        chances = jax_halves.coins(p, mode) if half else np.asarray(p, dtype=float)
        chances = chances if shape is None else np.broadcast_to(chances, tuple(shape))
        request = ("bernoulli", chances.shape, chances.tobytes(), p.dtype.name, mode)
        return draw(key, request, lambda run: wrapped(sampling.coins(run, chances)))

    def indices(key: Any, request: tuple[Any, ...], rows: Any, count: int, replace: bool = True) -> Any:
        name = f"jax.random.{request[0]}"
        enough = np.count_nonzero(rows, axis=-1) >= (1 if replace else count)
        if not np.isfinite(rows).all() or (rows < 0).any() or not enough.all():
            raise not_understood(f"{name} by NaN, infinite, negative or too few weights", "give it weights that sum")
        request = (*request, rows.tobytes(), rows.shape, count, replace)
        return draw(key, request, lambda run: [sampling.indices(run, row, count, replace, name) for row in rows])

    def categorical(
        key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: Any = None, **_: Any
    ) -> Any:
        mode, own = _mode(mode), jnp.asarray(logits)
        logits = jnp.moveaxis(own, axis, -1)
        half = _half(logits, "categorical", refused=not replace or mode != "low") and not jnp.isnan(logits).any()
        batch, extra = logits.shape[:-1], ()
        if shape is not None:
            split = len(tuple(shape)) - len(batch)
            extra = tuple(shape)[:split]
            batch = tuple(shape)[split:] if replace else batch
        logits = jnp.broadcast_to(logits, (*batch, logits.shape[-1])).reshape(-1, logits.shape[-1])
        rows = _half_rows(logits) if half else _exponentials(np.asarray(logits, dtype=float))
        request = ("categorical", own.dtype.name, batch, axis % own.ndim, mode)
        drawn = indices(key, request, rows, int(np.prod(extra)), replace)
        return jnp.asarray(np.array(drawn).T.reshape((*extra, *batch)))

    def choice(
        key: Any,
        a: Any,
        shape: Any = (),
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        mode: Any = None,
        **_: Any,
    ) -> Any:
        population = jnp.arange(a) if jnp.ndim(a) == 0 else jnp.asarray(a)
        n = population.shape[axis]
        p = None if p is None else jnp.asarray(p)
        half = p is not None and _half(p, "choice", refused=not replace) and bool((p >= 0).all())
        weights = np.ones(n) if p is None else jax_halves.choice_law(p) if half else np.asarray(p, dtype=float)
        request = ("choice", None if p is None else p.dtype.name, _mode(mode))
        drawn = indices(key, request, weights[None], int(np.prod(shape)), replace)
        return jnp.take(population, jnp.asarray(np.array(drawn[0], dtype=int).reshape(tuple(shape))), axis=axis)

    def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = int, **_: Any) -> Any:
        low, high, count = int(minval), int(maxval), int(np.prod(shape))
        request = ("randint", tuple(shape), low, high, np.dtype(dtype).itemsize)
        drawn = draw(key, request, lambda run: sampling.integers(run, low, high, count, "jax.random.randint"))
        return jnp.asarray(np.array(drawn, dtype=int).reshape(tuple(shape)), dtype=dtype)

    def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False, **_: Any) -> Any:
        values = jnp.arange(x) if jnp.ndim(x) == 0 else jnp.asarray(x)
        if independent and values.ndim > 1:
            raise not_understood("jax.random.permutation with independent=True", "permute one row at a time")
        n = values.shape[axis]
        order = draw(key, ("permutation", n), lambda run: sampling.permutation(run, n, "jax.random.permutation"))
        return jnp.take(values, jnp.asarray(order), axis=axis)

    return {
        "uniform": uniform, "gumbel": gumbel, "exponential": exponential, "bernoulli": bernoulli,
        "categorical": categorical, "choice": choice, "randint": randint, "permutation": permutation,
    }  # fmt: skip


def _type(dtype: Any) -> str:
    """The type that a draw has; other types of one key are other bits."""
    name = np.dtype(jnp.result_type(float) if dtype is None else dtype).name
    if name in HALVES:
        raise not_understood(f"random numbers of type {name}", f"JAX makes few of them, {MEASURED[name]}; {WIDER}")
    return name


def _mode(mode: Any) -> str:
    """How finely a Gumbel variable is made; other modes of one key are other bits."""
    high = getattr(jax.config, "jax_use_high_dynamic_range_gumbel", False)
    return ("high" if high else "low") if mode is None else mode


def _half(x: Any, name: str, refused: bool) -> bool:
    """Whether a sampler makes its noise in half precision. Refused where that is not followed."""
    dtype = x.dtype.name
    if dtype not in HALVES and jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize < 4:
        raise not_understood(f"jax.random.{name} in {dtype}", WIDER)
    if dtype in HALVES and refused:
        raise not_understood(
            f"jax.random.{name} in {dtype} with mode or replacement other than the usual",
            f"JAX makes its noise in that type, {MEASURED[dtype]}; {WIDER}",
        )
    return dtype in HALVES


def _half_rows(logits: Any) -> Any:
    rows = jax_halves.categorical_laws(logits)
    if rows is None:
        raise not_understood(
            f"jax.random.categorical in {logits.dtype.name} of {logits.shape[-1]} outcomes",
            f"JAX makes its noise in that type, {MEASURED[logits.dtype.name]}; {WIDER}",
        )
    return rows


def _exponentials(logits: Any) -> Any:
    with np.errstate(invalid="ignore"):  # rows of nothing but -inf, or with NaN, are refused as weights
        return np.exp(logits - logits.max(axis=-1, keepdims=True))


def _array(noise: Any) -> NoiseArray:
    return noise if isinstance(noise, NoiseArray) else numpy_arrays.array_of_one(noise)


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise not_understood(f"jax.random.{name}", "use uniform, categorical, bernoulli, choice or gumbel")

    return refuse


def _of_noise_too(original: Callable[..., Any], twin: Callable[..., Any]) -> Callable[..., Any]:
    """A function of jax.numpy; with noise among its arguments, NumPy's function of that name."""

    def function(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if not any(isinstance(x, NoiseArray | LazyArray | Noise) for x in values):
            return original(*args, **kwargs)
        if not any(isinstance(x, NoiseArray | Noise) for x in values):  # undecided arrays convert themselves
            return original(*map(_decided, args), **{k: _decided(v) for k, v in kwargs.items()})
        result = twin(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})
        return jnp.asarray(result) if isinstance(result, np.ndarray | np.generic) else result

    return function


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, jax.Array) else value


def _decided(value: Any) -> Any:
    return jnp.asarray(numpy_arrays.decided(value)) if isinstance(value, LazyArray) else value


class _JaxSource:
    def stand_ins(self) -> list[tuple[Any, Any]]:
        return [(seeder, seedable(seeder)) for seeder in (jax.random.key, jax.random.PRNGKey)]

    def followed(self, streams: Streams) -> list[AbstractContextManager[None]]:
        return [jax_randomness(streams)]


SOURCE = _JaxSource()
