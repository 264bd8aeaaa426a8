"""torch's randomness, intercepted.

Every random operation of torch ends in an aten operation that carries the tag `nondeterministic_seeded`. A dispatch
mode sees all of them, from whatever depth they are called: those that are understood are answered with noise, any
other one raises. In-place draws (`uniform_`, `exponential_`, ..) turn the tensor that they fill into noise.
"""

import functools
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from rheocheck.intercept import sampling, symbols
from rheocheck.intercept.complaints import SENTENCES, NotProbabilities
from rheocheck.intercept.doors_torch import refuse_devices, torch_pairs, torch_threads
from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.positions import WORDS, Twister, stretch
from rheocheck.intercept.run import Run
from rheocheck.intercept.streams import Streams
from rheocheck.intercept.torch_operations import operations
from rheocheck.intercept.torch_tensors import OPERATIONS, lazy_tensor, noise_tensor, numbers, refill, tensor_like

GLOBAL = id(torch.default_generator)
OPERATIONS.update(operations())


class TorchRandomness(TorchDispatchMode):
    """Answers random aten operations from the streams of a run, and refuses those that it does not know."""

    def __init__(self, streams: Streams) -> None:
        super().__init__()
        self._streams = streams

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and torch's guard against it costs more than the dispatch itself

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not _is_random(func):
            return func(*args, **kwargs)
        name = func._schema.name.removeprefix("aten::")
        if _draws_nothing(func, args, kwargs):
            return func(*args, **kwargs)
        source = SOURCES.get(name)
        if source is None:
            raise not_understood(f"torch's random operation {name}", "use rand, multinomial, bernoulli or exponential_")
        if kwargs.get("out") is not None:
            raise not_understood(f"torch.{name} with out=", "use its result")
        request = (*_request(name, args), kwargs.get("dtype") or torch.get_default_dtype())
        really = partial(func, *args, **kwargs)
        refuse_devices(name, (*args, *kwargs.values()))
        generator = kwargs.pop("generator", None)
        return self.draw(generator, lambda run: source(run, *args, **kwargs), request, really)

    def draw(
        self, generator: Any, make: Callable[[Run], Any], request: tuple[Any, ...], really: Callable[[], Any]
    ) -> Any:
        """The noise of a request, drawn where the generator stands; `really` moves it on."""
        with _disable_current_modes(), torch._C.DisableTorchFunctionSubclass():
            generator = torch.default_generator if generator is None else generator
            before = _position(generator)
            self._streams.unmoved(id(generator), before)
            try:
                really()
            finally:  # a draw that fails on a weight has moved the generator by those before it
                after = _position(generator)
                self._streams.moved(id(generator), after)
            noise = self._streams.draw(stretch(before, after), ("torch", *request), make)
            return noise.copied() if hasattr(noise, "copied") else noise.clone()


@functools.cache
def _is_random(func: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in func.tags


def _draws_nothing(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether an operation is random only by its name: dropout out of training, or with probability 0."""
    given = {argument.name: value for argument, value in zip(func._schema.arguments, args, strict=False)} | kwargs
    given = {argument.name: argument.default_value for argument in func._schema.arguments} | given
    dropout = given.get("dropout_p", given.get("p") if "dropout" in func._schema.name else None)
    return dropout is not None and (dropout == 0 or given.get("train") is False)


@contextmanager
def torch_randomness(streams: Streams) -> Iterator[None]:
    """torch drawing from `streams`; the state of its own generator is put back."""
    mode = TorchRandomness(streams)
    before = torch.default_generator.get_state()
    methods = {name: _in_place(mode, name, cells) for name, cells in IN_PLACE.items()}
    run = threading.Thread.run

    def run_seen(thread: threading.Thread) -> None:
        with mode:  # a mode holds for one thread
            run(thread)

    seeders: list[Callable[..., Any]] = [torch.random.manual_seed, torch.random.seed, torch.random.set_rng_state]
    moving = [(seeder, _moving(seeder, streams)) for seeder in seeders]
    streams.watch(GLOBAL, "torch's own generator", _position_now)
    try:
        with replaced(torch.Tensor, methods), rebound(moving), replaced(threading.Thread, {"run": run_seen}), mode:
            with torch_threads(mode):
                yield
    finally:
        torch.default_generator.set_state(before)


def _position(generator: torch.Generator) -> Twister:
    """Where a generator on the CPU stands: an MT19937 in the middle of what torch saves of it."""
    if generator.device.type != "cpu":
        raise not_understood(f"a generator on {generator.device}", "draw on the CPU, or audit by sampling")
    state = generator.get_state().numpy()
    left, _, following = struct.unpack_from("iiQ", state.tobytes(), 8)
    words = state[24 : 24 + 8 * WORDS].view(np.uint64).astype(np.uint32)
    return Twister(words.tobytes(), WORDS if left == 1 else following)


def _position_now() -> Twister:
    """Where torch's own generator stands."""
    with _disable_current_modes(), torch._C.DisableTorchFunctionSubclass():
        return _position(torch.default_generator)


def _moving(seeder: Callable[..., Any], streams: Streams) -> Callable[..., Any]:
    """A function that moves torch's own generator for all to see."""

    def moved(*args: Any, **kwargs: Any) -> Any:
        result = seeder(*args, **kwargs)
        streams.moved(GLOBAL)
        return result

    return moved


# -- draws that return a tensor ----------------------------------------------------------------------------------------


def _rand(run: Run, size: Sequence[int], *, dtype: Any = None, device: Any = None, **_: Any) -> Any:
    return noise_tensor(symbols.uniforms(run, size), dtype or torch.get_default_dtype(), device)


def _rand_like(run: Run, like: torch.Tensor, *, dtype: Any = None, device: Any = None, **_: Any) -> Any:
    return noise_tensor(symbols.uniforms(run, like.shape), dtype or like.dtype, device or like.device)


def _multinomial(run: Run, weights: torch.Tensor, num_samples: int, replacement: bool = False) -> torch.Tensor:
    rows = numbers(weights).reshape(-1, weights.shape[-1])
    shape = (*weights.shape[:-1], num_samples)
    if not replacement and 1 < num_samples <= rows.shape[-1] and (np.count_nonzero(rows, axis=-1) < num_samples).any():
        raise not_understood(
            "torch.multinomial without replacement of more than have a weight", "draw fewer: torch fills up with any"
        )
    if replacement or num_samples == 1:
        lazy = sampling.lazy_indices(run, np.repeat(rows, num_samples, axis=0), shape, "torch.multinomial")
        if lazy is not None:
            return lazy_tensor(lazy, torch.int64, weights.device)
    drawn = [sampling.indices(run, row, num_samples, replacement, "torch.multinomial") for row in rows]
    return tensor_like(np.array(drawn).reshape(shape), weights, torch.int64)


def _bernoulli(run: Run, p: torch.Tensor, p_for_all: float | None = None) -> Any:
    probabilities = numbers(p) if p_for_all is None else np.full(p.shape, p_for_all)
    return lazy_tensor(sampling.checked_coins(run, probabilities), p.dtype, p.device)


def _randint(run: Run, *args: Any, dtype: Any = None, device: Any = None, **_: Any) -> torch.Tensor:
    (low, high, size) = args if len(args) == 3 else (0, *args)
    values = sampling.integers(run, low, high, int(np.prod(size)), "torch.randint")
    return torch.tensor(values, dtype=dtype or torch.int64, device=device).reshape(tuple(size))


def _randint_like(run: Run, like: torch.Tensor, *bounds: int, dtype: Any = None, **_: Any) -> torch.Tensor:
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    values = sampling.integers(run, low, high, like.numel(), "torch.randint_like")
    return torch.tensor(values, dtype=dtype or like.dtype).reshape(like.shape)


def _randperm(run: Run, n: int, *, dtype: Any = None, device: Any = None, **_: Any) -> torch.Tensor:
    return torch.tensor(sampling.permutation(run, n, "torch.randperm"), dtype=dtype or torch.int64, device=device)


SOURCES: dict[str, Callable[..., Any]] = {
    "rand": _rand,
    "rand_like": _rand_like,
    "multinomial": _multinomial,
    "bernoulli": _bernoulli,
    "randint": _randint,
    "randint_like": _randint_like,
    "randperm": _randperm,
}

# -- draws that fill a tensor ------------------------------------------------------------------------------------------


def _uniform_(run: Run, tensor: torch.Tensor, low: float = 0.0, high: float = 1.0) -> Any:
    cells = symbols.uniforms(run, tensor.shape)
    if (low, high) != (0, 1):
        cells = symbols.binary("+", symbols.binary("*", cells, symbols.plain(high - low)), symbols.plain(low))
    return noise_tensor(cells, tensor.dtype, tensor.device)


def _exponential_(run: Run, tensor: torch.Tensor, lambd: float = 1.0) -> Any:
    return noise_tensor(symbols.exponentials(run, tensor.shape, lambd), tensor.dtype, tensor.device)


def _bernoulli_(run: Run, tensor: torch.Tensor, p: Any = 0.5) -> Any:
    probabilities = np.broadcast_to(numbers(p) if isinstance(p, torch.Tensor) else p, tuple(tensor.shape))
    return lazy_tensor(sampling.checked_coins(run, probabilities), tensor.dtype, tensor.device)


IN_PLACE: dict[str, Callable[..., Any]] = {
    "uniform_": _uniform_,
    "exponential_": _exponential_,
    "bernoulli_": _bernoulli_,
}


def _in_place(mode: TorchRandomness, name: str, fill: Callable[..., Any]) -> Callable[..., Any]:
    def method(tensor: torch.Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> torch.Tensor:
        refuse_devices(name, (tensor, generator))
        kwargs = {{"from": "low", "to": "high"}.get(key, key): value for key, value in kwargs.items()}
        request = (
            name,
            tensor.dtype,
            tuple(tensor.shape),
            _order(tensor),
            *map(_key, args),
            *sorted((k, _key(v)) for k, v in kwargs.items()),
        )

        def really() -> None:
            like = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
            try:
                getattr(torch._C.TensorBase, name)(like, *args, generator=generator, **kwargs)
            except RuntimeError as error:
                raise (NotProbabilities(str(error)) if SENTENCES.search(str(error)) else error) from None

        return refill(tensor, mode.draw(generator, lambda run: fill(run, tensor, *args, **kwargs), request, really))

    return method


def _request(name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    only_shape = name.endswith("_like") or (name == "bernoulli" and len(args) > 1)  # of what gives no weights
    return (name, *(_key(value, contents=not only_shape) for value in args))


def _key(value: Any, contents: bool = True) -> Any:
    """An argument of a request in a form that can be compared: numbers count, not objects."""
    if isinstance(value, torch.Tensor):
        shape = value.dtype, tuple(value.shape), _order(value)
        return (shape, numbers(value).tobytes()) if contents else shape
    return tuple(value) if isinstance(value, list | tuple) else value


def _order(tensor: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from the slowest to the fastest in memory: torch draws in that order."""
    strides = tensor.stride()
    return tuple(sorted((d for d, n in enumerate(tensor.shape) if n > 1), key=lambda d: -strides[d]))


class _TorchSource:
    def stand_ins(self) -> list[tuple[Any, Any]]:
        return torch_pairs()

    def followed(self, streams: Streams) -> list[AbstractContextManager[None]]:
        return [torch_randomness(streams)]


SOURCE = _TorchSource()
