"""Plots of a run, one question each, as PNG files. Needs matplotlib (extra `plots`).

Bars are the run's intervals. All points are over the same prompts, those that all warm cells have.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rheocheck.bench.cells import HONEST, LEADS, WARM, Cell, plain, probed
from rheocheck.bench.result import Result
from rheocheck.core.errors import MissingExtra

TEMPERATURES = tuple(sorted((1.0, *WARM)))
METHODS: dict[str, Callable[[float], Cell]] = {
    "top-K": plain,
    "RheoSampling + recursive": lambda T: probed(T, 1, "recursive"),
    "RheoSampling + rheo (reconstructed)": lambda T: probed(T, 1, "rheo"),
}


def require_matplotlib() -> None:
    """Raise MissingExtra where nothing can be plotted: to be asked before half an hour of work, not after."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "plots must have matplotlib, which is missing: pip install 'rheocheck[bench]', or use --no-plots"
        ) from error


def claims_plots(result: Result, folder: Path) -> tuple[Path, ...]:
    """Write all plots into a folder."""
    require_matplotlib()
    drawn = {"blocks": _blocks, "collapse": _collapse, "leads": _leads, "coverage": _coverage}
    return tuple(_written(draw, result, folder / f"{name}.png") for name, draw in drawn.items())


def _written(draw: Callable[[Result, Any], None], result: Result, path: Path) -> Path:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    draw(result, figure)
    if result.settings.quick:
        figure.suptitle("a quick run: too small to conclude")
    figure.savefig(path, dpi=130)
    return path


def _blocks(result: Result, figure: Any) -> None:
    """Tokens a cycle, and level acceptance, against T."""
    left, right = figure.subplots(1, 2)
    for name, cell in METHODS.items():
        _line(result, left, TEMPERATURES, [cell(T) for T in TEMPERATURES], "block", name)
        _line(result, right, TEMPERATURES, [cell(T) for T in TEMPERATURES], "acceptance", name)
    _named(left, "temperature", "tokens a cycle")
    _named(right, "temperature", "level acceptance")


def _collapse(result: Result, figure: Any) -> None:
    """At the root, against T: one-hot proposals, and the probe."""
    left, right = figure.subplots(1, 2)
    tops, probes = [plain(T) for T in TEMPERATURES], [probed(T) for T in TEMPERATURES]
    _line(result, left, TEMPERATURES, tops, "root", "top-K: goes on from the root")
    _line(result, left, TEMPERATURES, tops, "root mass", "top-K: p on the root's kept children")
    _line(result, left, TEMPERATURES, probes, "root", "RheoSampling + rheo: goes on from the root")
    _line(result, right, TEMPERATURES, tops, "acceptance", "top-K: a level")
    _line(result, right, TEMPERATURES, probes, "probe acceptance", "RheoSampling + rheo: a kept probe")
    for axes in (left, right):
        _named(axes, "temperature", "acceptance")


def _leads(result: Result, figure: Any) -> None:
    """Against m, at T = 1: tokens a cycle, and what becomes of the probe."""
    left, right = figure.subplots(1, 2)
    for verifier in HONEST:
        cells = [probed(1.0, m, verifier) for m in LEADS]
        _line(result, left, LEADS, cells, "block", f"RheoSampling + {verifier}")
        _line(result, right, LEADS, cells, "probe survival", f"kept ({verifier})")
        _line(result, right, LEADS, cells, "probe acceptance", f"accepted ({verifier})")
    base = result.of(plain(1.0)).drawn["block"]
    assert base is not None  # every cell has cycles
    left.axhspan(base.low, base.high, alpha=0.2, color="grey", label="top-K")
    _named(left, "leads m", "tokens a cycle")
    _named(right, "leads m", "share of probes")
    for axes in (left, right):
        axes.set_xticks(LEADS)


def _coverage(result: Result, figure: Any) -> None:
    """Masses against T."""
    axes = figure.subplots()
    at = [c.temperature for c in result.coverage]
    for name, values in (
        ("drafter's mass in its top 128", [c.drafter for c in result.coverage]),
        ("target's mass there", [c.target for c in result.coverage]),
        ("sum of min(p, q)", [c.overlap for c in result.coverage]),
    ):
        axes.plot(at, values, marker="o", label=name)
    _named(axes, "temperature", "mass")


def _line(result: Result, axes: Any, at: Sequence[float], cells: Sequence[Cell], metric: str, label: str) -> None:
    """A metric of some cells with its intervals; cells without it are left out."""
    found = [(x, result.of(cell).drawn[metric]) for x, cell in zip(at, cells, strict=True)]
    points = [(x, i.estimate, i.estimate - i.low, i.high - i.estimate) for x, i in found if i is not None]
    if points:
        x, y, down, up = zip(*points, strict=True)
        axes.errorbar(x, y, yerr=(down, up), marker="o", capsize=3, label=label)


def _named(axes: Any, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
