"""A uniform of a run: a real number in [0, 1) of which only an interval is known, narrower with every question.

Positions on the line are *cuts*, pairs (t, side): (t, 0) lies just before the number t and (t, 1) just after it, so

    u <  t, u >= t  ask on which side of (t, 0) u lies,      u <= t, u >  t  on which side of (t, 1)

and every set that comparisons can carve out is an interval between two cuts, half-open boundaries included. The
interval from (0, 0) to (0, 1) is the single number 0: a coin that may be 0 can land there, with probability zero.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

Cut = tuple[Fraction, int]
Cell = tuple[Cut, Cut]
START, END = (Fraction(0), 0), (Fraction(1), 0)


class Chooser(Protocol):
    """The run that a uniform belongs to: it takes one branch of a choice (see `Run.choose`)."""

    def choose(
        self, weights: Sequence[Fraction], what: Callable[[int], str], null: Sequence[int] = (),
        uniform: int | None = None,
    ) -> int: ...  # fmt: skip


class Uniform:
    """One uniform: what is known of it in this run.

    lo, hi  it lies between these cuts
    races   the races that it has run in (rheocheck.intercept.race), which tie it to other uniforms
    about   what it decides, if it is the hidden uniform of another draw: a name, and the outcome in each cell
    """

    __slots__ = ("about", "hi", "lo", "number", "races", "run")

    def __init__(self, run: Chooser, number: int) -> None:
        self.run, self.number = run, number
        self.lo, self.hi = START, END
        self.races: object | None = None
        self.about: tuple[str, tuple[tuple[Cell, int], ...]] | None = None

    @property
    def fresh(self) -> bool:
        """Whether nothing has been asked of it yet."""
        return self.lo == START and self.hi == END and self.races is None

    def cells(self, cuts: Sequence[Cut]) -> list[Cell]:
        """What the cuts split the known interval into, from left to right.

        Single numbers other than 0 are left out: nothing tells them from their neighbours with positive probability.
        """
        inside = sorted({cut for cut in cuts if self.lo < cut < self.hi})
        cells = list(zip([self.lo, *inside], [*inside, self.hi], strict=True))
        return [cell for cell in cells if measure(cell) or cell[0] == START] if len(cells) > 1 else cells

    def narrow(self, cell: Cell) -> None:
        """Learn that it lies in `cell`."""
        self.lo, self.hi = cell

    def lies(self, cell: Cell) -> str:
        """That it lies in a cell, in words."""
        if self.about is None:
            return f"uniform {self.number} {'in ' + shown(cell) if measure(cell) else f'= {float(cell[0][0]):.6g}'}"
        name, outcomes = self.about
        drawn = [str(index) for (lo, hi), index in outcomes if lo < cell[1] and cell[0] < hi]
        return f"{name} drew {' or '.join(drawn)}"

    def __repr__(self) -> str:
        return self.lies((self.lo, self.hi))


def measure(cell: Cell) -> Fraction:
    """The length of a cell."""
    return cell[1][0] - cell[0][0]


def shown(cell: Cell) -> str:
    """A cell as an interval for people: [0, 0.25)."""
    (lo, after), (hi, closed) = cell
    return f"{'(' if after else '['}{float(lo):.6g}, {float(hi):.6g}{']' if closed else ')'}"
