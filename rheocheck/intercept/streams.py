"""Which noise is which: a number drawn by a generator is known by the state that the generator was in.

The same state draws the same numbers. So the state before a draw is looked up among the states of earlier draws of
this run: a generator seeded twice, copied, or set back gives the same uniforms again, and a decoder that reuses noise
shows the correlation that it has. Real generators are moved on by one real draw each time, so that states of
different draws differ.

States are also compared between runs made with different seeds: equal ones mean that the decoder seeds its generator
with a constant, so that what looks random is the same in every call.
"""

from collections.abc import Callable, Hashable
from typing import Any

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.errors import line
from rheocheck.intercept.run import Run
from rheocheck.intercept.search import current


class Streams:
    """The draws of one run by the state that they were made from."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, tuple[Hashable, str, Any]] = {}
        self.states: list[tuple[Hashable, str]] = []

    def draw(self, state: Hashable, request: Hashable, make: Callable[[Run], Any]) -> Any:
        """The noise of a request (kind, shape, weights ..) drawn in `state`: new noise, or the same noise again.

        Two different requests in one state share bits in ways that are not followed: they are refused.
        """
        where = line()
        if state in self._drawn:
            earlier, at, noise = self._drawn[state]
            if earlier != request:
                raise NotUnderstood(
                    "an exact audit must know how draws depend on each other, got different draws from one state of a "
                    f"generator, at {at} and at {where}: the noise is used twice; give each draw its own"
                )
            return noise
        noise = make(current())
        self._drawn[state] = request, where, noise
        self.states.append((state, where))
        return noise


def check_fresh(a: Streams, b: Streams) -> None:
    """Refuse noise that is the same in two runs with different seeds."""
    earlier = {state for state, _ in a.states}
    for state, where in b.states:
        if state in earlier:
            raise NotUnderstood(
                f"a subject must draw fresh noise in every call, got the same noise in two calls at {where}: it seeds "
                "its generator with a constant; seed it with the call's `seed`, or leave it unseeded"
            )
