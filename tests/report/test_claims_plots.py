"""Every plot is drawn, from the figures of the run."""

import sys

import pytest

from rheocheck.core.errors import MissingExtra
from rheocheck.report import claims_plots as plots
from tests.bench.synthetic import result


@pytest.fixture(scope="module")
def found():
    return result()


def test_all_plots_are_written(found, tmp_path):
    paths = plots.claims_plots(found, tmp_path)
    assert [path.name for path in paths] == ["blocks.png", "collapse.png", "leads.png", "coverage.png"]
    for path in paths:
        assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 10_000


def test_what_is_drawn_is_what_was_found(found):
    from matplotlib.figure import Figure

    figure = Figure()
    plots._blocks(found, figure)
    left = figure.axes[0]
    assert left.get_legend_handles_labels()[1] == list(plots.METHODS)
    for container, cell in zip(left.containers, plots.METHODS.values(), strict=True):
        x, y = container[0].get_data()
        assert list(x) == [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]
        assert list(y) == [found.of(cell(T)).metrics["block"].estimate for T in x]


def test_without_matplotlib_it_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"matplotlib, which is missing: pip install 'rheocheck\[bench\]'"):
        plots.require_matplotlib()
