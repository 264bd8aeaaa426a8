"""Noise that decides more than one thing: legal where its remainder is rescaled, a well-known bias where it is not.

A coin that is asked again and again on one line (a walk through cumulated probabilities) decides one thing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rheocheck.intercept.run import Choice


@dataclass(frozen=True)
class Reuse:
    """A uniform of the program, and the places where it decided something, in order."""

    uniform: int
    lines: tuple[str, ...]

    def __str__(self) -> str:
        count = {2: "two", 3: "three"}.get(len(self.lines), str(len(self.lines)))
        return f"uniform {self.uniform} decided {count} things: {', '.join(self.lines)}"


def reused(choices: Iterable[Choice]) -> list[Reuse]:
    """The uniforms that decided something in several places."""
    asked: dict[int, dict[tuple[str, str | None], None]] = {}
    for choice in choices:
        if choice.uniform is not None:
            asked.setdefault(choice.uniform, {})[choice.line, choice.caller] = None
    return [Reuse(uniform, _told_apart(list(places))) for uniform, places in sorted(asked.items()) if len(places) > 1]


def _told_apart(places: list[tuple[str, str | None]]) -> tuple[str, ...]:
    """The lines; with what called their function where one line stands for several places."""
    lines = [line for line, _ in places]
    return tuple(
        f"{line}, called from {caller}" if caller and lines.count(line) > 1 else line for line, caller in places
    )
