"""Exact curves as a picture: block length under its ceiling, acceptance at the root under its optimum, the probe.

A biased point is a black cross, and its method's name says so: its length is no merit. The best point of a
lossless curve is a star.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.exact import Curve, Point, Sweep
from rheocheck.report.curves_text import flat, sizes

SUFFIXES = (".png", ".svg")
Figure_of = Callable[[Point], Fraction | None]


def check_plot(path: str) -> None:
    """InputError or MissingExtra when no picture could be written to `path`; asked before the work begins."""
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"--plot must be a file ending in {' or '.join(SUFFIXES)}, got {path!r:.80}; try curves.png")
    if not Path(path).absolute().parent.is_dir():
        raise InputError(f"--plot must be a file in a folder that exists, got {path!r:.80}; make the folder first")
    if Path(path).is_dir():
        raise InputError(f"--plot must be a file, got the folder {path!r:.80}; name a file in it")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            f"--plot must have matplotlib, it is missing: pip install 'rheocheck[plots]' ({error})"
        ) from None


def save_plot(found: Sweep, path: str, *, subject: str) -> None:
    """Draw the curves into a file."""
    check_plot(path)
    from matplotlib import rc_context

    try:
        with rc_context({"svg.fonttype": "none"}):  # text stays text
            curves_figure(found, subject=subject).savefig(path, dpi=120)
    except OSError as error:
        raise InputError(f"--plot must be a file that can be written, got {path!r:.80}: {error.strerror}") from None


def curves_figure(found: Sweep, *, subject: str) -> Any:
    """The matplotlib figure: a panel of lengths, one of the root's acceptance, one of the probe if there is any."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    probes = any(point.probe_survival is not None for curve in found.curves for point in curve.points)
    figure = Figure(figsize=(5 * (2 + probes), 4.2), layout="constrained")
    panels = figure.subplots(1, 2 + probes)
    figure.suptitle(f"exact curves over {found.over} on {subject} ({sizes(found)})", fontsize=10)
    for place, curve in enumerate(found.curves):
        colour, name = f"C{place}", f"{curve.method} (BIASED)" if curve.biased else curve.method
        _line(panels[0], curve, lambda p: p.expected_length, color=colour, label=name)
        _line(panels[0], curve, lambda p: p.ceiling, color=colour, linestyle=":", marker="")
        _line(panels[1], curve, lambda p: p.acceptance.root, color=colour, label=name)
        _line(panels[1], curve, _possible, color=colour, linestyle=":", marker="")
        if any(point.probe_survival is not None for point in curve.points):
            _line(panels[2], curve, lambda p: p.probe_survival, color=colour, label=f"{name}: kept")
            _line(
                panels[2], curve, lambda p: p.probe_acceptance, color=colour, linestyle="--", label=f"{name}: accepted"
            )
        _mark(panels[0], curve, lambda p: p.expected_length, colour)
        _mark(panels[1], curve, lambda p: p.acceptance.root, None)
    titles = ("tokens a block (dotted: ceiling)", "acceptance at the root (dotted: optimum)", "the probe")
    for panel, title in zip(panels, titles, strict=False):
        panel.set_title(title, fontsize=10)
        panel.set_xlabel(found.over)
        panel.grid(alpha=0.3)
        if found.over != "T":
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend(fontsize=8)
    return figure


def _line(panel: Any, curve: Curve, of: Figure_of, **style: Any) -> None:
    """A figure along the values; points without it leave a gap."""
    points = sorted(curve.points, key=lambda point: point.value)
    heights = [float("nan") if (y := of(point)) is None else float(y) for point in points]
    panel.plot([point.value for point in points], heights, **{"marker": ".", **style})


def _mark(panel: Any, curve: Curve, of: Callable[[Point], Fraction], colour: str | None) -> None:
    """A star on the best point, crosses on biased ones."""
    if colour is not None and curve.best is not None and not flat(curve):
        panel.plot([curve.best.value], [float(of(curve.best))], marker="*", markersize=14, color=colour)
    biased = [point for point in curve.points if point.biased]
    if biased:
        xs, ys = [point.value for point in biased], [float(of(point)) for point in biased]
        panel.plot(xs, ys, linestyle="", marker="x", markersize=9, color="black", zorder=5)


def _possible(point: Point) -> Fraction | None:
    return point.optimal_acceptance.root if point.optimal_acceptance else None
