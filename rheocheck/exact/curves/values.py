"""What a sweep found, as values: points, the points left out, curves."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rheocheck.core.shape import Shape
from rheocheck.exact.verification import Acceptance

Value = int | float  # what a sweep runs over: a size, or a temperature


@dataclass(frozen=True, kw_only=True)
class Point:
    """One decoder at one value, exactly.

    expected_length     tokens of a block, expected
    ceiling             expected length that no lossless verifier of the same trees exceeds; None: out of reach
    acceptance          probability that a node's verification goes on down the tree: root, and per node visited
    optimal_acceptance  the best possible of both at the nodes visited; None when time ran out
    levels              per layer d = 1..D: P(d drafts accepted | d-1 were); None where d-1 never are
    total_variation     of one cycle completed to D+1 tokens. If > 0 the decoder is biased: do not compare its length
    probe_survival      of the visits to nodes with kept children: how many find the probe kept; None without a probe
    probe_acceptance    of those: how many go on to the probe; None where none was kept
    classes, seconds    what it cost
    """

    value: Value
    expected_length: Fraction
    ceiling: Fraction | None
    acceptance: Acceptance
    optimal_acceptance: Acceptance | None
    levels: tuple[Fraction | None, ...]
    total_variation: Fraction
    probe_survival: Fraction | None
    probe_acceptance: Fraction | None
    classes: int
    seconds: float

    @property
    def biased(self) -> bool:
        return self.total_variation > 0

    def to_json(self) -> dict[str, Any]:
        """The point as plain JSON; Fractions become strings."""
        return {
            "value": self.value,
            "expected_length": str(self.expected_length),
            "ceiling": _text(self.ceiling),
            "acceptance": _both(self.acceptance),
            "optimal_acceptance": self.optimal_acceptance and _both(self.optimal_acceptance),
            "levels": [_text(x) for x in self.levels],
            "total_variation": str(self.total_variation),
            "probe_survival": _text(self.probe_survival),
            "probe_acceptance": _text(self.probe_acceptance),
            "classes": self.classes,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class LeftOut:
    """A point that the budget does not allow: why it stopped, and the probability that it had covered."""

    value: Value
    stopped: str
    covered: Fraction

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "stopped": self.stopped, "covered": str(self.covered)}


@dataclass(frozen=True)
class Curve:
    """One method along the values."""

    method: str
    points: tuple[Point, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def biased(self) -> bool:
        """Whether any point is biased: then the method is no decoder to choose, at whatever length."""
        return any(point.biased for point in self.points)

    @property
    def best(self) -> Point | None:
        """The point of the largest expected length, the first of equals; None without points, and of a biased curve."""
        return None if self.biased else max(self.points, key=lambda p: p.expected_length, default=None)

    def at(self, value: Value) -> Point | None:
        """The point at a value; None when it was left out."""
        return next((point for point in self.points if point.value == value), None)

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "best": self.best and self.best.value,
            "points": [point.to_json() for point in self.points],
            "left_out": [point.to_json() for point in self.left_out],
        }


@dataclass(frozen=True)
class Sweep:
    """Exact curves of some methods over one size, or over the temperature.

    over    "m", "K", "D", "N" or "T"
    shape   the sizes that are not swept; the swept one is meaningless in it
    """

    over: str
    values: tuple[Value, ...]
    shape: Shape
    curves: tuple[Curve, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are not swept, by letter; without F where it follows a swept K."""
        shape = self.shape
        letters = {"m": shape.leads, "K": shape.branching, "D": shape.depth, "N": shape.nodes, "F": shape.width}
        follows = self.over == "K" and shape.width == shape.branching
        return {k: size for k, size in letters.items() if k != self.over and not (k == "F" and follows)}

    @property
    def computed(self) -> int:
        """The number of points that are exact; the others were left out."""
        return sum(len(curve.points) for curve in self.curves)

    def to_json(self) -> dict[str, Any]:
        """The documented JSON object."""
        return {
            "over": self.over,
            "values": list(self.values),
            "sizes": self.sizes,
            "curves": [curve.to_json() for curve in self.curves],
        }


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)


def _both(x: Acceptance) -> dict[str, str]:
    return {"root": str(x.root), "cycle": str(x.cycle)}
