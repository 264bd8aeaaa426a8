"""What a run comes back with."""

from dataclasses import asdict, dataclass
from typing import Any

from rheocheck.bench.cells import Cell
from rheocheck.bench.claims import Claim, Equal
from rheocheck.bench.intervals import Interval
from rheocheck.bench.paper import Paper
from rheocheck.bench.settings import Settings


@dataclass(frozen=True)
class Coverage:
    """Mean masses at a temperature, of q and p on the drafter's top 128; and the sum of min(p, q) over all tokens."""

    temperature: float
    drafter: float
    target: float
    overlap: float
    positions: int


@dataclass(frozen=True)
class ClaimSummary:
    """A cell.

    metrics        intervals by the name of the metric; None where the cell has none, as of a probe in top-K
    drawn          the same over the prompts that all warm cells have: what plots compare
    levels         (stood, descended) by level
    milliseconds   a cycle of one prompt of a batch, by part
    """

    cell: Cell
    prompts: int
    cycles: int
    metrics: dict[str, Interval | None]
    drawn: dict[str, Interval | None]
    levels: tuple[tuple[int, int], ...]
    milliseconds: dict[str, float]


@dataclass(frozen=True)
class Result:
    """All that was found, and under which conditions. Seconds of decoding include those of an interrupted run."""

    settings: Settings
    conditions: dict[str, Any]
    training: dict[str, Any]
    seconds: dict[str, float]
    paper: Paper
    claims: tuple[Claim, ...]
    cells: tuple[ClaimSummary, ...]
    coverage: tuple[Coverage, ...]
    equal_trees: tuple[Equal, ...]

    def of(self, cell: Cell) -> ClaimSummary:
        """The summary of a cell."""
        return next(summary for summary in self.cells if summary.cell == cell)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        found = asdict(self)
        for entry, summary in zip(found["cells"], self.cells, strict=True):
            entry["name"] = summary.cell.name
        return found
