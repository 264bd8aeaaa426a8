"""The standard library's `random`, intercepted: every instance of random.Random, the module's functions included.

The methods that draw are replaced on the class, and the module's own bound functions wherever they were imported to.
"""

import array
import itertools
import math
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from fractions import Fraction
from functools import partial
from typing import Any

from rheocheck.intercept import sampling
from rheocheck.intercept.asking import decide_index
from rheocheck.intercept.complaints import NotProbabilities
from rheocheck.intercept.door import SEED, URANDOM, Door
from rheocheck.intercept.errors import importing, not_understood
from rheocheck.intercept.noise import Noise
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.positions import WORDS, Stretch, Twister, stretch
from rheocheck.intercept.readings import marked, plain, stand_in
from rheocheck.intercept.real_draws import BASE, draw_really
from rheocheck.intercept.streams import Streams
from rheocheck.intercept.uniform import END, START

OTHERS = (
    "randbytes triangular betavariate binomialvariate expovariate gammavariate gauss lognormvariate "
    "normalvariate paretovariate vonmisesvariate weibullvariate"
).split()
GLOBAL = random.random.__self__  # type: ignore[attr-defined]
SYSTEM = random.SystemRandom()
_OURS = random.Random.__mro__
SMALL = 12  # bits that are taken every way
RAW_BITS = random.Random.getrandbits


@contextmanager
def random_randomness(streams: Streams) -> Iterator[None]:
    """`random` drawing from `streams`; the state of the global generator is put back."""
    before = random.getstate()
    methods = _methods(streams)
    pairs = [(getattr(random, name), getattr(_Bound(methods), name)) for name in methods if hasattr(random, name)]
    math_functions = [
        (math.log, _math("log", math.log)),
        (math.exp, _math("exp", math.exp)),
        (math.sqrt, _math("sqrt", math.sqrt)),
    ]
    try:
        with ExitStack() as stack:
            stack.enter_context(replaced(random.Random, {**methods, "__new__": _made}))
            system = {name: _of_system(name, methods[name]) for name in ("random", "getrandbits")}
            stack.enter_context(replaced(random.SystemRandom, system))
            stack.enter_context(rebound([*pairs, *math_functions, *_secrets(methods), (BASE, _base())]))
            streams.watch(id(GLOBAL), "the module random", partial(_position, GLOBAL))
            yield
    finally:
        random.setstate(before)


def _position(generator: random.Random) -> Twister:
    """Where a generator stands."""
    state = array.array("I", BASE.getstate(generator))
    return Twister(state[:WORDS].tobytes(), state[WORDS])


def _of_system(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of SystemRandom, drawing fresh noise; a module that is being imported gets the system's own."""
    original = getattr(random.SystemRandom, name)
    return lambda self, *args: original(self, *args) if importing() else method(self, *args)


def _secrets(methods: dict[str, Callable[..., Any]]) -> list[tuple[Any, Any]]:
    """The functions of `secrets` that draw from few outcomes."""
    choice, below = methods["choice"], methods["randrange"]
    bits = _of_system("getrandbits", methods["getrandbits"])
    return [
        (secrets.choice, lambda population: choice(SYSTEM, population)),
        (secrets.randbelow, lambda n: below(SYSTEM, n)),
        (secrets.randbits, lambda k: bits(SYSTEM, k)),
    ]


def _base() -> type:
    """What stands in for the class in C under random.Random, whose numbers would not be seen."""
    door = Door("_random.Random, the base in C of random.Random,", SEED)
    return stand_in(BASE, {name: lambda *_: door.refuse() for name in ("random", "getrandbits")})


class _Bound:
    """The methods bound to the global generator, as the module holds them."""

    def __init__(self, methods: dict[str, Callable[..., Any]]) -> None:
        for name, method in methods.items():
            setattr(self, name, _bound(method))


def _bound(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: method(GLOBAL, *args, **kwargs)


def _made(kind: type, *_: Any, **__: Any) -> Any:
    """A generator not yet seeded, as Random.__init__ does it: that in C would look into a seed."""
    return super(random.Random, kind).__new__(kind)  # type: ignore[misc]


def _methods(streams: Streams) -> dict[str, Callable[..., Any]]:
    def draw(generator: random.Random, request: Any, make: Callable[..., Any]) -> Any:
        if isinstance(generator, random.SystemRandom):
            return streams.draw(Stretch("the operating system", ()), request, make)  # fresh each time
        before = _position(generator)
        streams.unmoved(id(generator), before)
        draw_really(generator, request)
        after = _position(generator)
        streams.moved(id(generator), after)
        return streams.draw(stretch(before, after), ("random", request), make)

    def one(self: random.Random) -> Noise:
        return draw(self, "random", lambda run: Noise(run.uniform()))

    def uniform(self: random.Random, a: float, b: float) -> Noise:
        return one(self) * (b - a) + a

    def choices(
        self: random.Random, population: Sequence[Any], weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> Any:
        if cum_weights is None:
            cum_weights = list(itertools.accumulate([1] * len(population) if weights is None else weights))
        elif weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        if len(cum_weights) != len(population):
            raise ValueError("The number of weights does not match the population")
        if not 0 < cum_weights[-1] < math.inf:  # NaN neither
            raise NotProbabilities("weights must have a finite sum above 0")
        edges: list[Fraction] = [Fraction(w) / Fraction(cum_weights[-1]) for w in cum_weights[:-1]]
        if not all(a <= b for a, b in itertools.pairwise([Fraction(0), *edges])):
            raise not_understood("random.choices with cumulative weights that do not rise", "pass weights >= 0")
        uniforms = [one(self).uniform for _ in range(k)]
        cells = itertools.pairwise([START, *((edge, 0) for edge in edges), END])
        about = "random.choices", tuple((cell, i) for i, cell in enumerate(cells) if cell[0] < cell[1])
        for uniform in uniforms:
            uniform.about = about
        return [population[decide_index(uniform, edges)] for uniform in uniforms]

    def integers(self: random.Random, low: int, high: int, count: int, name: str) -> list[int]:
        return draw(
            self, (name, low, high, count), lambda run: sampling.integers(run, low, high, count, f"random.{name}")
        )

    def raw_bits(self: random.Random, k: int) -> int:
        if isinstance(self, random.SystemRandom):
            return int.from_bytes(URANDOM((k + 7) // 8)) >> (-k % 8)
        streams.unmoved(id(self), _position(self))
        bits = RAW_BITS(self, k)
        streams.moved(id(self))
        return bits

    def choice(self: random.Random, population: Sequence[Any]) -> Any:
        if not len(population):
            raise IndexError("Cannot choose from an empty sequence")
        return population[integers(self, 0, len(population), 1, "choice")[0]]

    def randrange(self: random.Random, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return values[integers(self, 0, len(values), 1, "randrange")[0]]

    def randint(self: random.Random, a: int, b: int) -> int:
        return integers(self, a, b + 1, 1, "randint")[0]

    def getrandbits(self: random.Random, k: int) -> int:
        if k > SMALL:  # too many to take each way: good for a seed
            return marked(raw_bits(self, k), f"random.getrandbits({k})")
        return integers(self, 0, 2**k, 1, "getrandbits")[0]

    def order(self: random.Random, n: int, k: int, name: str) -> list[int]:
        return draw(self, (name, n, k), lambda run: sampling.indices(run, [1] * n, k, False, f"random.{name}"))

    def shuffle(self: random.Random, x: Any) -> None:
        x[:] = [x[i] for i in order(self, len(x), len(x), "shuffle")]

    def sample(self: random.Random, population: Sequence[Any], k: int, *, counts: Any = None) -> list[Any]:
        if counts is not None:
            raise not_understood("random.sample with counts", "repeat the elements")
        return [population[i] for i in order(self, len(population), k, "sample")]

    def unless_importing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(random.Random, name)

        def drawn(self: random.Random, *args: Any, **kwargs: Any) -> Any:
            if importing():
                result = original(self, *args, **kwargs)
                streams.moved(id(self))
                return result
            if name != "random" and _own_randomness(type(self)):
                raise not_understood(f"{name} of a subclass of random.Random that draws by itself", "call its random()")
            return method(self, *args, **kwargs)

        return drawn

    drawing: dict[str, Callable[..., Any]] = {
        "random": one, "uniform": uniform, "choice": choice, "choices": choices, "randrange": randrange,
        "randint": randint, "shuffle": shuffle, "sample": sample, "getrandbits": getrandbits,
    }  # fmt: skip
    methods = drawing | {name: _refusal(name) for name in OTHERS if hasattr(random.Random, name)}

    def moving(name: str) -> Callable[..., Any]:
        original = getattr(random.Random, name)

        def moved(self: random.Random, *args: Any, **kwargs: Any) -> None:
            original(self, *map(plain, args), **kwargs)
            streams.moved(id(self))

        return moved

    moved = {name: moving(name) for name in ("seed", "setstate")}
    return {name: unless_importing(name, method) for name, method in methods.items()} | moved


def _own_randomness(kind: type) -> bool:
    own = [base for base in kind.__mro__[: -len(_OURS)] if base is not random.SystemRandom]
    return any("random" in vars(base) or "getrandbits" in vars(base) for base in own)


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise not_understood(f"random.{name}", "use random.random, choice or choices")

    return refuse


def _math(name: str, original: Callable[..., float]) -> Callable[..., Any]:
    """math.log and the like, of noise too."""

    def function(x: Any, *rest: Any) -> Any:
        if not isinstance(x, Noise):
            return original(x, *rest)
        if rest:
            raise not_understood(f"math.{name} with a base", "divide by the log of the base")
        return x.power(0.5) if name == "sqrt" else getattr(x, name)()

    return function


class _RandomSource:
    def stand_ins(self) -> list[tuple[Any, Any]]:
        return []

    def followed(self, streams: Streams) -> list[AbstractContextManager[None]]:
        return [random_randomness(streams)]


SOURCE = _RandomSource()
