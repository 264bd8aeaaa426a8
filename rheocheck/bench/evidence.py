"""Measured pieces as one table, cells by prompts. Figures are ratios of counts; intervals are paired by prompt."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from rheocheck.bench.cells import COLD, Cell
from rheocheck.bench.intervals import ALPHA, Interval, interval
from rheocheck.bench.pieces import Measured, PieceRow

# Numerator and denominator of one prompt.
METRICS: dict[str, Callable[[PieceRow], tuple[float, float]]] = {
    "block": lambda row: (sum(row.blocks), len(row.blocks)),
    "acceptance": lambda row: (sum(row.descended), sum(row.stood)),
    "root": lambda row: (row.descended[0], row.stood[0]),
    "mass": lambda row: (sum(row.mass), sum(row.stood)),
    "root mass": lambda row: (row.mass[0], row.stood[0]),
    "probe survival": lambda row: (row.survived, row.expanded),
    "probe acceptance": lambda row: (row.accepted, row.survived),
}


class ClaimEvidence:
    """All that was decoded."""

    def __init__(self, found: Iterable[Measured]) -> None:
        self.pieces = tuple(found)
        self.rows: dict[Cell, dict[int, PieceRow]] = {}
        for measured in self.pieces:
            self.rows.setdefault(measured.piece.cell, {}).update({row.number: row for row in measured.rows})

    def common(self) -> "ClaimEvidence":
        """The prompts alone that all warm cells have, so that curves through cells compare like with like."""
        warm = [set(rows) for cell, rows in self.rows.items() if cell.temperature not in COLD]
        shared = set.intersection(*warm)
        return ClaimEvidence(replace(m, rows=tuple(row for row in m.rows if row.number in shared)) for m in self.pieces)

    def contrast(self, terms: Sequence[tuple[float, Cell]], metric: str = "block", alpha: float = ALPHA) -> Interval:
        """The interval of a sum of c * (the metric of a cell), over the prompts that all the cells have."""
        numbers = sorted(reduce(set.intersection, (set(self.rows[cell]) for _, cell in terms)))
        counts = [np.array([METRICS[metric](self.rows[cell][n]) for n in numbers], dtype=float).T for _, cell in terms]
        return interval([(c, (num, den)) for (c, _), (num, den) in zip(terms, counts, strict=True)], alpha)

    def one(self, cell: Cell, metric: str = "block") -> Interval:
        """A metric of one cell over all its prompts."""
        return self.contrast([(1.0, cell)], metric)

    def levels(self, cell: Cell) -> list[tuple[int, int]]:
        """By level: how many cycles stood at a node with kept children, and how many went on."""
        rows = self.rows[cell].values()
        stood, descended = (np.sum([getattr(row, name) for row in rows], 0) for name in ("stood", "descended"))
        return [(int(s), int(d)) for s, d in zip(stood, descended, strict=True)]

    def speed_ratio(self, cell: Cell, base: Cell) -> tuple[float, Interval | None]:
        """Tokens per second of a cell over those of a base, of the same prompts decoded to the same length.

        Runs of both in one round are paired: the geometric mean over rounds, and its interval from two rounds on.
        """
        seconds = {(m.piece.cell, m.piece.first, m.piece.rows): m.seconds for m in self.pieces}
        rounds = [key[1:] for key in seconds if key[0] == cell and (base, *key[1:]) in seconds]
        ratios = np.log([seconds[base, *where] / seconds[cell, *where] for where in rounds])
        middle = float(np.exp(ratios.mean()))
        if len(ratios) < 2:
            return middle, None
        found = interval([(1.0, (ratios, np.ones(len(ratios))))])
        return middle, Interval(middle, float(np.exp(found.low)), float(np.exp(found.high)), found.alpha, len(ratios))

    def parts(self, cell: Cell) -> dict[str, float]:
        """Milliseconds a cycle of a batch row, by part, and whole."""
        mine = [m for m in self.pieces if m.piece.cell == cell]
        cycles = sum(len(row.blocks) for m in mine for row in m.rows)
        names = {name: sum(m.parts[name] for m in mine) for name in mine[0].parts}
        names["whole"] = sum(m.seconds for m in mine)
        return {name: 1000 * seconds / cycles for name, seconds in names.items()}
