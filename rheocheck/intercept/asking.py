"""Questions about one uniform that are decided now: the run branches, and the uniform is narrowed to the answer."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

from rheocheck.intercept.errors import line, not_understood, refusal
from rheocheck.intercept.search import current
from rheocheck.intercept.uniform import START, Cell, Cut, Uniform, measure


def decide(uniform: Uniform, cuts: Sequence[Cut], holds: Callable[[Cut], bool]) -> bool:
    """Whether a comparison of one uniform holds, decided now."""
    check_current(uniform)
    cells = uniform.cells(cuts)
    groups = [list(group) for _, group in itertools.groupby(cells, key=lambda cell: holds(cell[0]))]
    joined = [(group[0][0], group[-1][1]) for group in groups]
    return holds(joined[choose_cell(uniform, joined)][0])


def decide_index(uniform: Uniform, edges: Sequence[Fraction]) -> int:
    """How many of some rising edges lie at or below one uniform, decided now: a draw by inverting a distribution."""
    check_current(uniform)
    cells = uniform.cells([(edge, 0) for edge in edges])
    start = cells[choose_cell(uniform, cells)][0]
    return sum((edge, 0) <= start for edge in edges)


def check_run(uniform: Uniform) -> None:
    """Refuse a uniform of an earlier run."""
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


def choose_cell(uniform: Uniform, cells: Sequence[Cell]) -> int:
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
