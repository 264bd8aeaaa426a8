"""The unit of work, a cell on some prompts, and what is written down of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from rheocheck.bench.cells import Cell, shares
from rheocheck.bench.settings import Settings


@dataclass(frozen=True)
class Piece:
    """A cell on `rows` prompts from number `first` on: decoded together, and timed."""

    cell: Cell
    first: int
    rows: int


@dataclass(frozen=True)
class PieceRow:
    """What happened to one prompt.

    blocks             lengths, the last one uncut
    stood, descended   by level: cycles that stood at a node with kept children, and those that went on
    mass               by level: sum over these nodes of p(kept children)
    expanded, survived, accepted    of these nodes: all, those that kept their probe, those that went on to it
    """

    number: int
    blocks: tuple[int, ...]
    stood: tuple[int, ...]
    descended: tuple[int, ...]
    mass: tuple[float, ...]
    expanded: int
    survived: int
    accepted: int


@dataclass(frozen=True)
class Measured:
    """A finished piece: a row for every prompt, and seconds, whole and by part."""

    piece: Piece
    rows: tuple[PieceRow, ...]
    seconds: float
    parts: dict[str, float]


def pieces(settings: Settings) -> Iterator[Piece]:
    """All pieces, cell after cell on the same rows: interleaved, so that a slow minute slows all methods."""
    wanted = {cell: min(settings.prompts, max(2, round(settings.prompts * share))) for cell, share in shares().items()}
    for first in range(0, settings.prompts, settings.rows):
        for cell, prompts in wanted.items():
            rows = min(settings.rows, prompts - first)
            if rows > 0:
                yield Piece(cell, first, rows)
