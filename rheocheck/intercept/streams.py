"""Which noise is which: numbers drawn by a generator are known by their places in the stream of its engine.

Every draw is made really, too, so that a generator moves on as far as it would without an audit, and the places of
the numbers drawn are looked up among those of earlier draws of this run (`positions`). The same draw from the same
places gives the same noise again: a generator seeded twice, copied, or set back shows the correlation that it has. Any
other overlap is refused.

Places are also compared between runs made with different seeds: equal ones mean that the decoder seeds its generator
with a constant, so that what looks random is the same in every call.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.errors import line, refusal
from rheocheck.intercept.positions import Position, Stretch, just_seeded
from rheocheck.intercept.run import Run
from rheocheck.intercept.search import current


@dataclass(frozen=True)
class Draw:
    """A draw of this run: what it took, what was asked, where, and the noise that was handed out."""

    places: tuple[Hashable, ...]
    request: Hashable
    line: str
    noise: Any


class Streams:
    """The draws of one run after the other, by the places of their numbers."""

    def __init__(self) -> None:
        self._drawn: dict[Hashable, Draw] = {}
        self._names: dict[Hashable, Hashable] = {}  # of half words that have waited: the first name of each
        self._watched: dict[int, tuple[str, Callable[[], Position], Position]] = {}

    def begin(self) -> None:
        """Forget the draws of the run before."""
        self._drawn, self._names = {}, {}
        self._watched = {key: (name, read, read()) for key, (name, read, _) in self._watched.items()}

    def draw(self, taken: Stretch, request: Hashable, make: Callable[[Run], Any]) -> Any:
        """The noise of a request (library, kind, shape, weights ..) from these places: new, or the same noise again.

        Different requests share the bits of one place in ways that are not followed: they are refused.
        """
        where = line()
        if taken.kept is not None:
            before, now = taken.kept
            self._names[now] = self._names.get(before, before)
        places = tuple(self._names.get(place, place) for place in taken.places) if self._names else taken.places
        earlier = next((self._drawn[place] for place in places if place in self._drawn), None)
        if earlier is not None:
            if (earlier.places, earlier.request) != (places, request):
                raise refusal(
                    "an exact audit must know how draws depend on each other, got draws of different kind or length "
                    f"that share numbers of one stream of {taken.stream}, at {earlier.line} and at {where}: the noise "
                    "is used twice; give each draw numbers of its own"
                )
            return earlier.noise
        draw = Draw(places, request, where, make(current()))
        self._drawn.update(dict.fromkeys(places, draw))
        return draw.noise

    def places(self) -> dict[Hashable, str]:
        """The places drawn from in this run, and the line of the draw."""
        return {place: draw.line for place, draw in self._drawn.items()}

    def watch(self, key: int, name: str, read: Callable[[], Position]) -> None:
        """Watch a generator that nothing but `moved` may move; `read` says where it stands."""
        self._watched[key] = name, read, read()

    def moved(self, key: int, position: Position | None = None) -> None:
        """If a generator is watched: it was moved on by a draw that was seen, to this position."""
        if key in self._watched:
            name, read, _ = self._watched[key]
            self._watched[key] = name, read, read() if position is None else position

    def check(self) -> None:
        """Refuse a run in which a watched generator was drawn from unseen."""
        for key, (_, read, _) in self._watched.items():
            self.unmoved(key, read())

    def unmoved(self, key: int, position: Position) -> None:
        """Refuse what follows when a watched generator was drawn from unseen, so that it stands elsewhere now.

        To be seeded unseen, as by torch.default_generator.manual_seed, is no draw.
        """
        if key not in self._watched:
            return
        name, _, expected = self._watched[key]
        if position != expected and not just_seeded(position):
            raise refusal(
                f"an exact audit must see every random draw, got some of {name} that it could not replace: make "
                "the generator inside the call, or keep it as a plain attribute"
            )


def check_fresh(earlier: dict[Hashable, str], later: dict[Hashable, str]) -> None:
    """Refuse noise that is the same in two runs with different seeds."""
    for place, where in later.items():
        if place in earlier:
            raise NotUnderstood(
                f"a subject must draw fresh noise in every call, got the same noise in two calls at {where}: it seeds "
                "its generator with a constant; seed it with the call's `seed`, or leave it unseeded"
            )
