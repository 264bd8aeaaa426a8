"""Exact curves as a table for a terminal: a row per point, the best of every curve marked, a sentence per curve."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rheocheck.exact import Curve, LeftOut, Point, Sweep

LAYERS = 4  # layers whose acceptance is shown
TINY = Fraction(1, 10**300)  # floats much smaller are 0
STOPPED = {"max_classes": "--max-classes", "max_seconds": "--max-seconds", "interrupted": "interrupted"}


def curves_text(found: Sweep, *, subject: str) -> str:
    """The table, what was left out, and how to read it; no trailing newline."""
    rows = [_head(found.over)]
    for curve in found.curves:
        marked = curve.best if not flat(curve) else None
        rows += [_row(curve, point, point is marked) for point in _in_order(found, curve)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"exact curves over {found.over} on {subject} ({sizes(found)})"]
    lines += ["  ".join(_justified(row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, *left_out(found), *readings(found)])


def sizes(found: Sweep) -> str:
    """The sizes that are not swept, as in "K=4 D=2 N=8 F=4"."""
    return " ".join(f"{letter}={size}" for letter, size in found.sizes.items())


def readings(found: Sweep) -> Iterator[str]:
    """A sentence per curve: where it is best, and what it gains there over the first curve; or that it is biased."""
    best_at = "is best for" if found.over != "T" else "is longest for"  # nobody chooses the temperature for its length
    for curve in found.curves:
        best, some = curve.best, " that was computed" if curve.left_out else ""
        if best is not None and flat(curve):
            yield f"{curve.method}: {figure(best.expected_length)} tokens at every {found.over}{some}"
        elif best is not None:
            tokens = f"{figure(best.expected_length)} tokens{_gains(found, curve, best)}"
            yield f"{found.over} = {best.value:g}{some and ', of those computed,'} {best_at} {curve.method}: {tokens}"
        if curve.biased:
            biased = [point for point in curve.points if point.biased]
            where = ", ".join(f"{point.value:g}" for point in biased)
            worst = figure(max(point.total_variation for point in biased))
            yield f"{curve.method} is BIASED at {found.over} = {where} (TV up to {worst}): its length there is no gain"
        if found.over == "T" and len(curve.points) > 1:
            first, last = curve.points[0], curve.points[-1]
            ends = [f"{figure(point.acceptance.root)} at T = {point.value:g}" for point in (first, last)]
            yield f"  its acceptance at the root: {', '.join(ends)}"


def left_out(found: Sweep) -> Iterator[str]:
    """One line per point that is not there, and why."""
    for curve in found.curves:
        for point in curve.left_out:
            why = STOPPED.get(point.stopped, point.stopped)
            covered = f"{float(point.covered):.1%} of the probability covered"
            yield f"left out: {curve.method} at {found.over} = {point.value:g} ({why}; {covered})"


def flat(curve: Curve) -> bool:
    """Whether every point of a curve has the same length: then none is best."""
    return len(curve.points) > 1 and len({point.expected_length for point in curve.points}) == 1


def _gains(found: Sweep, curve: Curve, best: Point) -> str:
    """What the curve gains over the first one at its best, and at the last value; over a biased one nothing."""
    base = found.curves[0]
    if curve is base or base.biased or base.at(best.value) is None:
        return ""
    gains = []
    for at in dict.fromkeys((best.value, found.values[-1])):
        mine, other = curve.at(at), base.at(at)
        if mine is not None and other is not None:
            gain = mine.expected_length - other.expected_length
            where = f"over {base.method}" if at == best.value else f"at {found.over} = {at:g}"
            gains.append(f"{f'{float(gain):+.4f}' if gain else '0'} {where}")
    return "".join(f", {gain}" for gain in gains)


def _in_order(found: Sweep, curve: Curve) -> list[Point | LeftOut]:
    return sorted((*curve.points, *curve.left_out), key=lambda point: found.values.index(point.value))


def _head(over: str) -> list[str]:
    figures = ["length", "ceiling", "acceptance by layer", "root, possible", "probe kept", "accepted", "TV"]
    return ["method", over, *figures, ""]


def _row(curve: Curve, point: Point | LeftOut, best: bool) -> list[str]:
    if isinstance(point, LeftOut):
        return [curve.method, f"{point.value:g}", *["-"] * 7, "left out"]
    layers = " ".join(figure(x) for x in point.levels[:LAYERS]) + (" ..." if len(point.levels) > LAYERS else "")
    possible = point.optimal_acceptance.root if point.optimal_acceptance else None
    figures = [point.expected_length, point.ceiling, None, possible, point.probe_survival, point.probe_acceptance]
    shown = [figure(x) for x in (*figures, point.total_variation)]
    shown[2] = layers
    return [curve.method, f"{point.value:g}", *shown, "BIASED" if point.biased else "best" if best else ""]


def _justified(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    last = len(row) - 1
    return [
        text.ljust(width) if column in (0, 4, last) else text.rjust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    ]


def figure(x: Fraction | None) -> str:
    """Four decimals; 0 only of an exact zero, and - of nothing."""
    if x is None:
        return "-"
    if 0 < x < TINY:
        return f"<{float(TINY):g}"
    return f"{float(x):.4f}" if x >= Fraction(1, 10_000) else f"{float(x):.1g}"
