"""A small stand-in for `rheocheck.intercept`: enumerates `random.choices` and comparisons of `random.random()`.

For tests of what is built on top of an enumeration; it refuses nothing, and knows no other source of randomness.
"""

import heapq
import random
import time
from dataclasses import dataclass
from fractions import Fraction

from rheocheck.core.errors import InputError


class NotUnderstood(InputError):
    """A use of a random value that cannot be followed."""


@dataclass(frozen=True)
class Choice:
    index: int
    outcomes: int
    weight: Fraction
    what: str
    line: str


@dataclass(frozen=True)
class Path:
    choices: tuple
    weight: Fraction
    word: tuple


@dataclass(frozen=True)
class Boundary:
    word: tuple
    what: str
    line: str


@dataclass(frozen=True)
class Enumeration:
    law: dict
    unseen: Fraction
    paths: int
    stopped: str | None
    seconds: float
    shortest: dict
    boundaries: tuple


class _Run:
    """Hands out the planned branches, then the first one; remembers what it left behind."""

    def __init__(self, planned):
        self.planned, self.choices, self.left, self.weight = planned, [], [], Fraction(1)

    def choose(self, weights, what):
        total = sum(weights)
        possible = [Fraction(w) / total for w in weights]
        at = len(self.choices)
        index = self.planned[at] if at < len(self.planned) else next(i for i, w in enumerate(possible) if w)
        if not 0 <= index < len(possible):
            raise InputError(f"choice {at} must be 0..{len(possible) - 1}, got {index}: check --replay")
        if at >= len(self.planned):
            taken = [c.index for c in self.choices]
            self.left += [(self.weight * w, (*taken, i)) for i, w in enumerate(possible) if w and i != index]
        self.weight *= possible[index]
        self.choices.append(Choice(index, len(possible), possible[index], what(index), "fake.py:1"))
        return index


class _Uniform:
    """An interval of [0, 1), split where it is compared."""

    def __init__(self, run):
        self.run, self.low, self.high = run, Fraction(0), Fraction(1)

    def _below(self, p):
        p = min(max(Fraction(float(p)), self.low), self.high)
        below = self.run.choose(
            [p - self.low, self.high - p], lambda i: f"uniform {'<' if i == 0 else '>='} {float(p):g}"
        )
        self.low, self.high = (self.low, p) if below == 0 else (p, self.high)
        return below == 0

    def __lt__(self, p):
        return self._below(p)

    __le__ = __lt__

    def __ge__(self, p):
        return not self._below(p)

    __gt__ = __ge__


def _once(subject, planned, context, tokens):
    run = _Run(planned)

    def choices(population, weights=None, *, k=1):
        population = list(population)
        weights = [Fraction(w) for w in weights or [1] * len(population)]
        return [population[run.choose(weights, lambda i: f"random.choices drew {population[i]}")] for _ in range(k)]

    saved = random.choices, random.random, random.Random.choices, random.Random.random
    random.choices, random.random = choices, lambda: _Uniform(run)
    random.Random.choices = lambda self, *a, **k: choices(*a, **k)
    random.Random.random = lambda self: _Uniform(run)
    try:
        try:
            word = subject(context, tokens)
        except TypeError:
            word = subject(context, tokens, seed=0)
    finally:
        random.choices, random.random = saved[:2]
        random.Random.choices = saved[2]
        del random.Random.random  # the C base class has it
    return run, Path(tuple(run.choices), run.weight, tuple(word[:tokens]))


def enumerate_law(subject, context=(), tokens=4, *, max_paths=None, max_seconds=None, progress=None, seed=0):
    start, law, shortest, paths, stopped = time.monotonic(), {}, {}, 0, None
    queue, unseen = [(Fraction(-1), ())], Fraction(1)
    try:
        while queue:
            if max_paths is not None and paths >= max_paths:
                stopped = "max_paths"
                break
            if max_seconds is not None and time.monotonic() - start >= max_seconds:
                stopped = "max_seconds"
                break
            run, path = _once(subject, heapq.heappop(queue)[1], context, tokens)
            for weight, planned in run.left:
                heapq.heappush(queue, (-weight, planned))
            paths, unseen = paths + 1, unseen - path.weight
            law[path.word] = law.get(path.word, Fraction(0)) + path.weight
            best = shortest.get(path.word)
            if best is None or len(path.choices) < len(best.choices):
                shortest[path.word] = path
            if progress:
                progress(1 - unseen, paths)
    except KeyboardInterrupt:
        stopped = "interrupted"
    return Enumeration(law, unseen, paths, stopped, time.monotonic() - start, shortest, ())


def replay(subject, choices, context=(), tokens=4, *, seed=0):
    run, path = _once(subject, tuple(choices), context, tokens)
    if len(choices) > len(path.choices):
        raise InputError(f"the path must have {len(path.choices)} choices, got {len(choices)}: drop the last ones")
    return path
