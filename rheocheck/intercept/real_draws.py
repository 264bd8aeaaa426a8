"""A draw that is answered with noise is made really, too: its generator moves on exactly as far as without an audit.

A request is a tuple: what is drawn, and all that decides how many numbers of the generator it takes. What NumPy and
`random` would return is thrown away.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

BASE: Any = random.Random.__base__  # in C: the numbers themselves
SHUFFLE, SAMPLE = random.Random.shuffle, random.Random.sample  # before anything stands in for them
RANDOM_STATE = np.random.RandomState
KINDS = ("Generator", "RandomState")  # the first word of a request that the two make otherwise


class _Real:
    """A random.Random as it is, whatever its class's methods have been replaced by."""

    _randbelow = random.Random._randbelow_with_getrandbits  # type: ignore[attr-defined]

    def __init__(self, generator: random.Random) -> None:
        self._generator = generator

    def getrandbits(self, k: int) -> int:
        return BASE.getrandbits(self._generator, k)


def draw_really(generator: random.Random, request: Any) -> None:
    """Make a draw of `random`: a number, integers [low, high) one by one, or some of n in order."""
    if request == "random":
        BASE.random(generator)
        return
    name, *numbers = request
    real: Any = _Real(generator)
    if name == "shuffle":
        SHUFFLE(real, list(range(numbers[0])))
    elif name == "sample":
        SAMPLE(real, range(numbers[0]), numbers[1])
    elif name == "getrandbits":
        real.getrandbits(numbers[1].bit_length() - 1)
    else:
        low, high, count = numbers
        for _ in range(count):
            real._randbelow(high - low)


def draw_numpy_really(generator: Any, request: tuple[Any, ...]) -> None:
    """Make a draw of a Generator or a RandomState as NumPy made them."""
    name, *rest = request[1:] if request[0] in KINDS else request
    NUMPY[name](generator, *rest)


def _size(shape: tuple[int, ...]) -> Any:
    return shape or None  # one number takes what an array of one takes


def _uniform(generator: Any, dtype: str, shape: tuple[int, ...]) -> None:
    if isinstance(generator, RANDOM_STATE):
        generator.random_sample(_size(shape))
    else:
        generator.random(_size(shape), dtype)


def _choice(generator: Any, p: bytes | None, n: int, shape: tuple[int, ...], replace: bool) -> None:
    if p is not None and replace:
        _uniform(generator, "float64", shape)  # all that NumPy does with its generator then
    else:
        generator.choice(n, _size(shape), replace, None if p is None else np.frombuffer(p))


def _integers(generator: Any, low: int, top: int, shape: tuple[int, ...], boolean: bool, size: int) -> None:
    draw = generator.randint if isinstance(generator, RANDOM_STATE) else generator.integers
    bytes_ = 8 if size == 4 else size  # types of 32 bits and more take the same words
    whole = np.dtype(f"i{bytes_}" if low < 0 else f"u{bytes_}").type
    draw(low, top, _size(shape), bool if boolean else whole)


def _exponential(generator: Any, dtype: str, method: str, shape: tuple[int, ...]) -> None:
    if isinstance(generator, RANDOM_STATE):
        generator.standard_exponential(_size(shape))
    else:
        generator.standard_exponential(_size(shape), dtype, method)


NUMPY: dict[str, Callable[..., Any]] = {
    "uniform": _uniform,
    "exponential": _exponential,
    "gumbel": lambda generator, shape: generator.gumbel(size=_size(shape)),
    "choice": _choice,
    "multinomial": lambda generator, n, p, shape: generator.multinomial(n, np.frombuffer(p), _size(shape)),
    "integers": _integers,
    "permutation": lambda generator, n: generator.permutation(n),
    "binomial": lambda generator, p, shape: generator.binomial(1, np.frombuffer(p).reshape(shape)),
}
