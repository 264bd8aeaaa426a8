"""A draw that is answered with noise is made really, too: its generator moves on exactly as far as without an audit.

A request is a tuple: what is drawn, and all that decides how many numbers of the generator it takes. What NumPy and
`random` would return is thrown away.
"""

import _random
import random
from collections.abc import Callable
from typing import Any

import numpy as np

SHUFFLE, SAMPLE = random.Random.shuffle, random.Random.sample  # before anything stands in for them
RANDOM_STATE = np.random.RandomState


class _Real:
    """A random.Random as it is, whatever its class's methods have been replaced by."""

    _randbelow = random.Random._randbelow_with_getrandbits  # type: ignore[attr-defined]

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator

    def getrandbits(self, k: int) -> int:
        return _random.Random.getrandbits(self._generator, k)


def draw_really(generator: random.Random, request: Any) -> None:
    """Make a draw of `random`: a number, integers [low, high) one by one, or some of n in order."""
    if request == "random":
        _random.Random.random(generator)
        return
    name, *numbers = request
    real: Any = _Real(generator)
    if name == "shuffle":
        SHUFFLE(real, list(range(numbers[0])))
    elif name == "sample":
        SAMPLE(real, range(numbers[0]), numbers[1])
    else:
        low, high, count = numbers
        for _ in range(count):
            real._randbelow(high - low)


def draw_numpy_really(kind: Any, generator: Any, request: tuple[Any, ...]) -> None:
    """Make a draw of a Generator or a RandomState (`kind`)."""
    name, *rest = request
    NUMPY[name](kind, generator, *rest)


def _size(shape: tuple[int, ...]) -> Any:
    return shape or None  # one number takes what an array of one takes


def _uniform(kind: Any, generator: Any, dtype: str, shape: tuple[int, ...]) -> None:
    if kind is RANDOM_STATE:
        kind.random_sample(generator, _size(shape))
    else:
        kind.random(generator, _size(shape), dtype)


def _choice(kind: Any, generator: Any, p: bytes | None, n: int, shape: tuple[int, ...], replace: bool) -> None:
    kind.choice(generator, n, _size(shape), replace, None if p is None else np.frombuffer(p))


def _integers(kind: Any, generator: Any, low: int, top: int, dtype: str, shape: tuple[int, ...]) -> None:
    draw = kind.randint if kind is RANDOM_STATE else kind.integers
    draw(generator, low, top, _size(shape), np.dtype(dtype).type)


NUMPY: dict[str, Callable[..., Any]] = {
    "uniform": _uniform,
    "exponential": lambda kind, generator, shape: kind.standard_exponential(generator, _size(shape)),
    "gumbel": lambda kind, generator, shape: kind.gumbel(generator, size=_size(shape)),
    "choice": _choice,
    "multinomial": lambda kind, generator, n, p, shape: kind.multinomial(generator, n, np.frombuffer(p), _size(shape)),
    "integers": _integers,
    "permutation": lambda kind, generator, n: kind.permutation(generator, n),
    "binomial": lambda kind, generator, p, shape: kind.binomial(generator, 1, np.frombuffer(p).reshape(shape)),
}
