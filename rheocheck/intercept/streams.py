"""Which noise is which: a number drawn by a generator is known by the state that the generator was in.

The same state draws the same numbers. So the state before a draw is looked up among the states of earlier draws of
this run: a generator seeded twice, copied, or set back gives the same noise again, and a decoder that reuses noise
shows the correlation that it has. Real generators are moved on by one real draw each time, so that states of
different draws differ.

States are also compared between runs made with different seeds: equal ones mean that the decoder seeds its generator
with a constant, so that what looks random is the same in every call.
"""

from collections.abc import Callable, Hashable
from typing import Any

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.errors import line, refusal
from rheocheck.intercept.run import Run
from rheocheck.intercept.search import current


class Streams:
    """The draws of one run after the other, by the state that they were made from."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, tuple[Hashable, str, Any]] = {}
        self._watched: dict[int, tuple[str, Callable[[], Hashable], Hashable]] = {}

    def begin(self) -> None:
        """Forget the draws of the run before."""
        self._drawn = {}
        self._watched = {key: (name, state, state()) for key, (name, state, _) in self._watched.items()}

    def draw(self, state: Hashable, request: Hashable, make: Callable[[Run], Any]) -> Any:
        """The noise of a request (kind, shape, weights ..) drawn in `state`: new noise, or the same noise again.

        Two different requests in one state share bits in ways that are not followed: they are refused.
        """
        where = line()
        if state in self._drawn:
            earlier, at, noise = self._drawn[state]
            if earlier != request:
                raise refusal(
                    "an exact audit must know how draws depend on each other, got different draws from one state of a "
                    f"generator, at {at} and at {where}: the noise is used twice; give each draw its own"
                )
            return noise
        noise = make(current())
        self._drawn[state] = request, where, noise
        return noise

    def states(self) -> dict[Hashable, str]:
        """The states drawn from in this run, and the line of the first draw."""
        return {state: at for state, (_, at, _) in self._drawn.items()}

    def watch(self, key: int, name: str, state: Callable[[], Hashable]) -> None:
        """Watch a generator that nothing but `moved` may move."""
        self._watched[key] = name, state, state()

    def moved(self, key: int) -> None:
        """A watched generator was moved on by a draw that was seen."""
        if key in self._watched:
            name, state, _ = self._watched[key]
            self._watched[key] = name, state, state()

    def check(self) -> None:
        """Refuse a run in which a watched generator was drawn from unseen."""
        for key in self._watched:
            self.unmoved(key)

    def unmoved(self, key: int) -> None:
        """Refuse what follows when a watched generator was drawn from unseen."""
        name, state, expected = self._watched[key]
        if state() != expected:
            raise refusal(
                f"an exact audit must see every random draw, got some of {name} that it could not replace: make "
                "the generator inside the call, or keep it as a plain attribute"
            )


def check_fresh(earlier: dict[Hashable, str], later: dict[Hashable, str]) -> None:
    """Refuse noise that is the same in two runs with different seeds."""
    for state, where in later.items():
        if state in earlier:
            raise NotUnderstood(
                f"a subject must draw fresh noise in every call, got the same noise in two calls at {where}: it seeds "
                "its generator with a constant; seed it with the call's `seed`, or leave it unseeded"
            )
