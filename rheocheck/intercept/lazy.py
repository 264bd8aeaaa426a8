"""What depends on comparisons that need not be made yet.

A lazy value is a table: for every way in which some uniforms may fall into their cells, the value there. An
operation on it is that operation on every row. It is decided only when the program needs to know, one uniform
after the other, and no further than the rows differ: of two coins the second is not looked at when the first one
settles how many drafts are accepted.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.intercept.asking import check_current, choose_cell
from rheocheck.intercept.noise import Noise
from rheocheck.intercept.uniform import Cell, Cut, Uniform

MAX_ROWS = 64
Predicate = tuple[Noise, str, Any]  # noise, comparison, number


@dataclass(frozen=True)
class Axis:
    """A uniform and the cells that matter."""

    uniform: Uniform
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Lazy:
    """rows[i_1, i_2, ..] is the value where the uniform of axis k lies in its cell i_k; rows are in C order."""

    axes: tuple[Axis, ...]
    rows: tuple[Any, ...]

    def map(self, function: Callable[[Any], Any]) -> "Lazy":
        """The function of every row."""
        return Lazy(self.axes, tuple(function(row) for row in self.rows))

    def known(self) -> "Lazy":
        """Without the rows that what was learnt since has ruled out."""
        if all((axis.cells[0][0], axis.cells[-1][1]) == (axis.uniform.lo, axis.uniform.hi) for axis in self.axes):
            return self  # nothing was
        axes, kept = [], []
        for axis in self.axes:
            at = [i for i, cell in enumerate(axis.cells) if _possible(axis.uniform, cell)]
            axes.append(Axis(axis.uniform, tuple(_common(axis.uniform, axis.cells[i]) for i in at)))
            kept.append(at)
        sizes = [len(axis.cells) for axis in self.axes]
        rows = tuple(self.rows[_flat(index, sizes)] for index in itertools.product(*kept))
        return Lazy(tuple(axes), rows)

    def decide(self, key: Callable[[Any], Any]) -> Any:
        """The value, after as many decisions as it takes for all rows that are left to be the same, by their keys."""
        lazy = self.known()
        numbers: dict[Any, int] = {}
        table = np.array([numbers.setdefault(key(row), len(numbers)) for row in lazy.rows])
        table = table.reshape([len(axis.cells) for axis in lazy.axes])
        first = {number: i for i, number in reversed(list(enumerate(table.ravel())))}
        for axis in lazy.axes:
            if (table == table.flat[0]).all():
                break
            groups = _groups(table)
            cells = [(axis.cells[group[0]][0], axis.cells[group[-1]][1]) for group in groups]
            table = table[groups[choose_cell(axis.uniform, cells)][0]]  # the rows of a group are the same
        return lazy.rows[first[int(table.flat[0])]]


def together(values: Sequence[Any]) -> tuple[tuple[Axis, ...], list[list[Any]]] | None:
    """Common axes of lazy and plain values, and all of them row by row; None when there would be too many rows."""
    lazies = [value for value in values if isinstance(value, Lazy)]
    if len(lazies) == 1:  # mostly
        lazy = lazies[0].known()
        return lazy.axes, [[row if value is lazies[0] else value for value in values] for row in lazy.rows]
    axes: dict[int, Axis] = {}
    for value in values:
        if isinstance(value, Lazy):
            for axis in value.known().axes:
                known = axes.get(id(axis.uniform))
                cells = axis.cells if known is None else _refined(known, axis)
                axes[id(axis.uniform)] = Axis(axis.uniform, cells)
    common = tuple(axis for axis in axes.values() if len(axis.cells) > 1)
    count = int(np.prod([len(axis.cells) for axis in common]))
    if count > MAX_ROWS:
        return None
    rows = []
    for cells in itertools.product(*(axis.cells for axis in common)):
        at = {id(axis.uniform): cell for axis, cell in zip(common, cells, strict=True)}
        rows.append([_row(value, at) if isinstance(value, Lazy) else value for value in values])
    return common, rows


def compared(predicates: Iterable[Predicate | bool], shape: tuple[int, ...]) -> Lazy:
    """The boolean arrays of elementwise comparisons, in a lazy table; or, where it would be large, decided now."""
    elements = list(predicates)
    truths = [x if isinstance(x, bool) else (x[0].uniform, *x[0].truth(x[1], x[2])) for x in elements]
    cuts: dict[int, tuple[Uniform, list[Cut]]] = {}
    for x in truths:
        if not isinstance(x, bool):
            check_current(x[0])
            cuts.setdefault(id(x[0]), (x[0], []))[1].extend(x[1])
    axes = []
    budget = 1
    for uniform, at in cuts.values():
        cells = uniform.cells(at)
        if budget * len(cells) > MAX_ROWS:
            cells = [cells[choose_cell(uniform, cells)]]
        budget *= len(cells)
        axes.append(Axis(uniform, tuple(cells)))
    rows = []
    for chosen in itertools.product(*(axis.cells for axis in axes)):
        start = {id(axis.uniform): cell[0] for axis, cell in zip(axes, chosen, strict=True)}
        values = [x if isinstance(x, bool) else x[2](start[id(x[0])]) for x in truths]
        rows.append(np.array(values, dtype=bool).reshape(shape))
    return Lazy(tuple(axes), tuple(rows))


def _groups(table: NDArray[np.int64]) -> list[list[int]]:
    """The runs of cells, along the first axis of a table, behind which the table is the same."""
    behind = [row.tobytes() for row in table]
    return [list(group) for _, group in itertools.groupby(range(len(behind)), key=behind.__getitem__)]


def _possible(uniform: Uniform, cell: Cell) -> bool:
    return cell[0] < uniform.hi and uniform.lo < cell[1]


def _common(uniform: Uniform, cell: Cell) -> Cell:
    return max(cell[0], uniform.lo), min(cell[1], uniform.hi)


def _refined(a: Axis, b: Axis) -> tuple[Cell, ...]:
    return tuple(a.uniform.cells([cut for axis in (a, b) for cell in axis.cells for cut in cell]))


def _row(lazy: Lazy, at: dict[int, Cell]) -> Any:
    """The row where the uniforms lie in the given cells."""
    index = []
    for axis in lazy.axes:
        cell = at.get(id(axis.uniform), (axis.uniform.lo, axis.uniform.hi))
        index.append(next(i for i, own in enumerate(axis.cells) if own[0] <= cell[0] < own[1]))
    return lazy.rows[_flat(index, [len(axis.cells) for axis in lazy.axes])]


def _flat(index: Sequence[int], sizes: Sequence[int]) -> int:
    return int(np.ravel_multi_index(tuple(index), tuple(sizes))) if sizes else 0
