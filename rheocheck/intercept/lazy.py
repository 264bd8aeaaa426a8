"""What depends on comparisons that need not be made yet.

A lazy value is a table: for every way in which some uniforms may fall into their cells, the value there. An
operation on it is that operation on every row. It is decided only when the program needs to know, one uniform
after the other, and no further than the rows differ: of two coins the second is not looked at when the first one
settles how many drafts are accepted.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.intercept.errors import line, not_understood, refusal
from rheocheck.intercept.noise import Noise
from rheocheck.intercept.uniform import START, Cell, Cut, Uniform, measure

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
            table = table[groups[_choose_cell(axis.uniform, cells)][0]]  # the rows of a group are the same
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
            cells = [cells[_choose_cell(uniform, cells)]]
        budget *= len(cells)
        axes.append(Axis(uniform, tuple(cells)))
    rows = []
    for chosen in itertools.product(*(axis.cells for axis in axes)):
        start = {id(axis.uniform): cell[0] for axis, cell in zip(axes, chosen, strict=True)}
        values = [x if isinstance(x, bool) else x[2](start[id(x[0])]) for x in truths]
        rows.append(np.array(values, dtype=bool).reshape(shape))
    return Lazy(tuple(axes), tuple(rows))


def decide(uniform: Uniform, cuts: Sequence[Cut], holds: Callable[[Cut], bool]) -> bool:
    """Whether a comparison of one uniform holds, decided now."""
    check_current(uniform)
    cells = uniform.cells(cuts)
    groups = [list(group) for _, group in itertools.groupby(cells, key=lambda cell: holds(cell[0]))]
    joined = [(group[0][0], group[-1][1]) for group in groups]
    return holds(joined[_choose_cell(uniform, joined)][0])


def decide_index(uniform: Uniform, edges: Sequence[Fraction]) -> int:
    """How many of some rising edges lie at or below one uniform, decided now: a draw by inverting a distribution."""
    check_current(uniform)
    cells = uniform.cells([(edge, 0) for edge in edges])
    start = cells[_choose_cell(uniform, cells)][0]
    return sum((edge, 0) <= start for edge in edges)


def decide_floor(noise: Noise) -> int:
    """The integer part of a noise, decided now."""
    check_current(noise.uniform)
    low, high = noise.ends()
    if not np.isfinite(float(low)) or not np.isfinite(float(high)) or high - low > 4096:
        raise not_understood("the integer part of an unbounded random number", "draw an index from fewer outcomes")
    first = low.__floor__()
    cuts: list[Cut] = []
    for n in range(first, high.__floor__() + 1):
        cuts += noise.truth(">=", Fraction(n))[0]
    cells = noise.uniform.cells(cuts)
    cell = cells[_choose_cell(noise.uniform, cells)]
    middle = noise.at((cell[0][0] + cell[1][0]) / 2)
    return int(middle.__floor__())


def check_run(uniform: Uniform) -> None:
    """Refuse a uniform of an earlier run."""
    from rheocheck.intercept.search import current

    if uniform.run is not current():
        raise refusal(
            f"a subject must draw its noise in the call that uses it, got noise of an earlier call at {line()}: "
            "it keeps state between calls; build everything inside the call"
        )


def check_current(uniform: Uniform) -> None:
    """Refuse a uniform of an earlier run, and one that has run in a race."""
    check_run(uniform)
    if uniform.races is not None:
        raise not_understood("noise of a finished race compared with a number", "draw fresh noise")


def _choose_cell(uniform: Uniform, cells: Sequence[Cell]) -> int:
    """Decide in which of some cells, which fill what is known, the uniform lies; it is then known to lie there."""
    check_current(uniform)
    if len(cells) > 1:
        total = sum(measure(cell) for cell in cells)
        if total:
            weights = [measure(cell) / total for cell in cells]
        else:  # within an event of probability zero
            weights = [Fraction(int(i == 0)) for i in range(len(cells))]
        null = [i for i, cell in enumerate(cells) if not measure(cell) and cell[0] == START]
        own = uniform.number if uniform.about is None else None  # a hidden uniform is one draw, however it is asked
        index = uniform.run.choose(weights, lambda i: uniform.lies(cells[i]), null, own)
    else:
        index = 0
    uniform.narrow(cells[index])
    return index


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
