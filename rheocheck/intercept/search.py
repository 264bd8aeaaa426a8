"""All ways in which the random choices of a program may fall, the likeliest first."""

import heapq
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeVar

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.errors import line
from rheocheck.intercept.run import Run, Step

T = TypeVar("T")
_active: list[Run] = []  # the run under way: sources of randomness find it here


def current() -> Run:
    """The run under way."""
    if not _active:
        raise NotUnderstood(
            f"intercepted noise must be used within the audited call, got a use at {line()} after it: "
            "do not keep noise on an object"
        )
    return _active[-1]


def perform(program: Callable[[], T], last: Step | None = None, forced: tuple[int, ...] = ()) -> tuple[Run, T]:
    """One run of the program, along the choices up to `last`, or along `forced` ones, and then the likeliest ones."""
    run = Run(last, forced)
    _active.append(run)
    try:
        result = program()
    finally:
        _active.pop()
    run.finish()
    return run, result


class Search:
    """Runs of a program in order of probability.

    unseen   probability of the runs not made yet; 0 when all were made, and never too small
    pending  how many runs there are yet to make
    """

    def __init__(self, program: Callable[[], Any]) -> None:
        self._program = program
        self._heap: list[tuple[float, int, Fraction, Step | None]] = [(-1.0, 0, Fraction(1), None)]
        self._pushed = 0
        self.unseen = Fraction(1)

    @property
    def pending(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[tuple[Run, Any]]:
        while self._heap:
            _, _, weight, last = self._heap[0]
            run, result = perform(self._program, last)
            heapq.heappop(self._heap)  # only now: an interrupted run stays unseen
            for mass, step in run.untried:
                self._pushed += 1
                heapq.heappush(self._heap, (-float(mass), self._pushed, mass, step))
            self.unseen = self.unseen - weight + sum((mass for mass, _ in run.untried), Fraction(0))
            if not self._heap:
                self.unseen = Fraction(0)  # what is left is the rounding of probabilities to 192 places
            yield run, result
