"""Chance: the only source of randomness, always an argument.

Builders and verifiers ask a `chance` for an index or a coin and get nothing else. A RandomChance samples; a
ReplayChance answers from a script, so that `outcomes` can run a program once per way its choices may fall and
weigh every run exactly:

    sum of weight over outcomes(program) == 1
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from rheocheck.core.errors import InputError

T = TypeVar("T")
MAX_CHOICES = 2_000  # on one path of a replay: a program that asks for more cannot be enumerated, or never ends


class Chance(Protocol):
    """What a builder or a verifier may ask of randomness."""

    def choose(self, weights: Sequence[Any]) -> int:
        """An index i with probability weights[i] / sum(weights)."""

    def flip(self, p: Any) -> bool:
        """True with probability p; p may lie outside [0, 1], where it means never or always."""

    def note(self, event: str) -> None:
        """Record that `event` happened on this path, such as a verifier's "fallback"; draws nothing."""


class RandomChance:
    """Samples with exact probabilities: rationals are compared with integers drawn uniformly, not with floats."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)
        self.notes: list[str] = []

    def choose(self, weights: Sequence[Any]) -> int:
        values = [w if hasattr(w, "denominator") else Fraction(w) for w in weights]
        scale = math.lcm(*(int(w.denominator) for w in values))
        counts = [int(w.numerator) * (scale // int(w.denominator)) for w in values]
        _check_weights(counts)
        ticket = self._random.randrange(sum(counts))
        for index, count in enumerate(counts):  # noqa: B007 (the index is the result)
            ticket -= count
            if ticket < 0:
                break
        return index

    def flip(self, p: Any) -> bool:
        p = p if hasattr(p, "denominator") else Fraction(p)
        return self._random.randrange(int(p.denominator)) < int(p.numerator)

    def note(self, event: str) -> None:
        self.notes.append(event)


class ReplayChance:
    """Answers its first choices from `script`, then takes the first possible branch and offers the others.

    weight    the exact probability of the answers given so far
    taken     the answers given so far, where there was more than one
    untried   scripts of the branches not taken, for `outcomes` to follow later
    """

    def __init__(self, script: tuple[int, ...] = ()) -> None:
        self._script = script
        self.taken: list[int] = []
        self._closed = False
        self.weight: Any = Fraction(1)
        self.untried: list[tuple[int, ...]] = []
        self.notes: list[str] = []

    def choose(self, weights: Sequence[Any]) -> int:
        if self._closed:
            raise InputError(
                "a chance may be asked only while the call that it was given to runs, got a choice asked of an old "
                "one; keep no chance, use the argument"
            )
        _check_weights(weights)
        possible = [i for i, w in enumerate(weights) if w > 0]
        if len(possible) == 1:
            return possible[0]
        if len(self.taken) < len(self._script):
            index = self._script[len(self.taken)]
        else:
            index = possible[0]
            self.untried += [(*self.taken, other) for other in possible[1:]]
        self.taken.append(index)
        if len(self.taken) > MAX_CHOICES:
            raise InputError(f"a replayed program may make at most {MAX_CHOICES} choices on one path; does it end?")
        weights = [Fraction(w) if isinstance(w, int | float) else w for w in weights]
        self.weight *= weights[index] / sum(weights)
        return index

    def flip(self, p: Any) -> bool:
        p = min(max(Fraction(p) if isinstance(p, float) else p, 0), 1)
        return self.choose((1 - p, p)) == 1

    def note(self, event: str) -> None:
        self.notes.append(event)

    def close(self) -> None:
        """Refuse further choices: the run is over, and what it weighs is counted."""
        self._closed = True


def outcomes(program: Callable[[ReplayChance], T]) -> Iterator[tuple[Any, T, list[str]]]:
    """Every outcome of `program(chance)` with its exact probability and the notes on its path.

    Depth first; outcomes of probability zero are not visited. The program must depend on nothing but its chance.
    """
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        chance = ReplayChance(scripts.pop())
        result = program(chance)
        chance.close()
        scripts += reversed(chance.untried)
        yield chance.weight, result, chance.notes


def _check_weights(weights: Sequence[Any]) -> None:
    if not weights or min(weights) < 0 or sum(weights) <= 0:
        shown = ", ".join(map(str, weights[:8]))
        raise InputError(f"weights to choose by must be non-negative with a positive sum, got ({shown})")
