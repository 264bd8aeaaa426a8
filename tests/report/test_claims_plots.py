"""Every plot is drawn, from the figures of the run."""

import sys
from dataclasses import replace

import pytest

from rheocheck.bench.cells import HONEST, plain, probed
from rheocheck.bench.evidence import ClaimEvidence
from rheocheck.core.errors import MissingExtra
from rheocheck.report import claims_plots as plots
from tests.bench.synthetic import evidence, result

CORE = {plain(1.0), *(probed(1.0, 1, verifier) for verifier in HONEST)}


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
        assert list(y) == [found.of(cell(T)).drawn["block"].estimate for T in x]


def test_curves_are_over_common_prompts():
    """Planted: the prompts that other cells lack are the easy ones, and would lift the points at T = 1, m = 1."""
    whole = evidence()
    easy = (replace(m, rows=tuple(replace(row, blocks=(9,) * 40) for row in m.rows)) for m in whole.pieces)
    late = [m for m in easy if m.piece.first >= 32 and m.piece.cell in CORE]
    lacking = ClaimEvidence([*(m for m in whole.pieces if m.piece.first < 32), *late])
    assert lacking.one(plain(1.0)).estimate > 5
    half = ClaimEvidence(m for m in whole.pieces if m.piece.first < 32)
    drawn = result(lacking).of(plain(1.0)).drawn["block"]
    assert drawn == half.one(plain(1.0)) and drawn.clusters == 32


def test_without_matplotlib_it_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"matplotlib, which is missing: pip install 'rheocheck\[bench\]'"):
        plots.require_matplotlib()
