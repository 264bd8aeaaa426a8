"""The table of exact curves says what the sweep says; a biased point is flagged in text and picture."""

from dataclasses import replace
from fractions import Fraction

import pytest

from rheocheck.core import Shape
from rheocheck.exact import Acceptance, Curve, LeftOut, Point, Sweep
from rheocheck.report.curves_plot import curves_figure
from rheocheck.report.curves_text import curves_text, figure

POINT = Point(
    value=0,
    expected_length=Fraction(3, 2),
    ceiling=Fraction(7, 4),
    acceptance=Acceptance(Fraction(1, 2), Fraction(1, 3)),
    optimal_acceptance=Acceptance(Fraction(3, 4), Fraction(2, 3)),
    levels=(Fraction(1, 2), None),
    total_variation=Fraction(0),
    probe_survival=Fraction(1),
    probe_acceptance=Fraction(1, 10**6),
    classes=3,
    seconds=0.1,
)
LONGER = replace(POINT, value=1, expected_length=Fraction(5, 2), ceiling=None, optimal_acceptance=None)
WRONG = replace(LONGER, value=1, expected_length=Fraction(3), total_variation=Fraction(1, 8))
BARE = replace(POINT, probe_survival=None, probe_acceptance=None)
FOUND = Sweep(
    "m", (0, 1, 2), Shape(branching=3, depth=2, nodes=5),
    (
        Curve("fixed", (BARE, replace(BARE, value=1), replace(BARE, value=2))),
        Curve("drawn", (POINT, LONGER), (LeftOut(2, "max_classes", Fraction(1, 3)),)),
        Curve("control", (POINT, WRONG)),
    ),
)  # fmt: skip


def test_the_table():
    assert curves_text(FOUND, subject="my:pair").splitlines() == [
        "exact curves over m on my:pair (K=3 D=2 N=5 F=3)",
        "method   m  length  ceiling  acceptance by layer  root, possible  probe kept  accepted      TV",
        "fixed    0  1.5000   1.7500  0.5000 -                     0.7500           -         -       0",
        "fixed    1  1.5000   1.7500  0.5000 -                     0.7500           -         -       0",
        "fixed    2  1.5000   1.7500  0.5000 -                     0.7500           -         -       0",
        "drawn    0  1.5000   1.7500  0.5000 -                     0.7500      1.0000     1e-06       0",
        "drawn    1  2.5000        -  0.5000 -                          -      1.0000     1e-06       0  best",
        "drawn    2       -        -  -                                 -           -         -       -  left out",
        "control  0  1.5000   1.7500  0.5000 -                     0.7500      1.0000     1e-06       0",
        "control  1  3.0000        -  0.5000 -                          -      1.0000     1e-06  0.1250  BIASED",
        "left out: drawn at m = 2 (--max-classes; 33.3% of the probability covered)",
        "fixed: 1.5000 tokens at every m",
        "m = 1, of those computed, is best for drawn: 2.5000 tokens, +1.0000 over fixed",
        "control is BIASED at m = 1 (TV up to 0.1250): its length there is no gain",
    ]


@pytest.mark.parametrize("base", [Curve("control", (WRONG, POINT)), Curve("gap", (POINT,))])
def test_nothing_is_gained_over_a_biased_curve_or_none(base):
    found = Sweep("m", (1, 0), Shape(), (base, Curve("drawn", (LONGER, POINT))))
    assert curves_text(found, subject="my:pair").splitlines()[-1] == "m = 1 is best for drawn: 2.5000 tokens"


def test_a_curve_with_gaps_speaks_of_what_was_computed():
    level = replace(FOUND.curves[0], left_out=FOUND.curves[1].left_out)
    text = curves_text(Sweep("m", (0, 1, 2), Shape(), (level,)), subject="my:pair")
    assert text.endswith("\nfixed: 1.5000 tokens at every m that was computed")


def test_rows_come_in_the_order_of_the_values_and_deep_layers_are_cut():
    deep = replace(LONGER, levels=(Fraction(1, 2),) * 5)
    found = Sweep("m", (2, 0, 1), Shape(), (Curve("drawn", (POINT, deep), FOUND.curves[1].left_out),))
    rows = curves_text(found, subject="my:pair").splitlines()[2:5]
    assert [row.split()[1] for row in rows] == ["2", "0", "1"]
    assert "  0.5000 0.5000 0.5000 0.5000 ...  " in rows[2]


def test_no_figure_is_rounded_to_zero():
    assert [figure(x) for x in (None, Fraction(0), Fraction(1, 10**400))] == ["-", "0", "<1e-300"]
    assert [figure(Fraction(1, x)) for x in (10**9, 10_001, 10_000)] == ["1e-09", "0.0001", "0.0001"]


def test_one_temperature_has_no_ends():
    found = Sweep("T", (1,), Shape(), (Curve("drawn", (LONGER,)),))
    assert curves_text(found, subject="my:pair").splitlines()[-1] == "T = 1 is longest for drawn: 2.5000 tokens"


def test_a_temperature_is_not_chosen_for_its_length():
    found = Sweep("T", (0, 1), Shape(), (Curve("drawn", (POINT, LONGER)),))
    assert curves_text(found, subject="my:pair").splitlines()[-2:] == [
        "T = 1 is longest for drawn: 2.5000 tokens",
        "  its acceptance at the root: 0.5000 at T = 0, 0.5000 at T = 1",
    ]


def markers(panel):
    """{marker: where it stands}, of stars and crosses."""
    return {line.get_marker(): list(line.get_xdata()) for line in panel.lines if line.get_marker() in ("*", "x")}


def test_the_picture_marks_the_best_and_the_biased():
    lengths, roots, probes = curves_figure(FOUND, subject="my:pair").axes
    assert markers(lengths) == {"*": [1], "x": [1]}
    star = next(line for line in lengths.lines if line.get_marker() == "*")
    assert list(star.get_ydata()) == [2.5]  # drawn's, not the longer control's
    assert markers(roots) == {"x": [1]}
    names = [text.get_text() for text in lengths.get_legend().get_texts()]
    assert names == ["fixed", "drawn", "control (BIASED)"]
    assert "fixed: kept" not in [text.get_text() for text in probes.get_legend().get_texts()]


def test_the_picture_draws_what_is_possible_dotted_in_the_order_of_the_values():
    curve = Curve("drawn", (LONGER, POINT))
    lengths, roots, _ = curves_figure(Sweep("m", (1, 0), Shape(), (curve,)), subject="my:pair").axes
    drawn = {
        (panel, line.get_linestyle()): [str(x) for x in (*line.get_xdata(), *line.get_ydata())]
        for panel, axes in (("length", lengths), ("root", roots))
        for line in axes.lines
        if line.get_marker() != "*"
    }
    assert drawn == {
        ("length", "-"): ["0", "1", "1.5", "2.5"],
        ("length", ":"): ["0", "1", "1.75", "nan"],
        ("root", "-"): ["0", "1", "0.5", "0.5"],
        ("root", ":"): ["0", "1", "0.75", "nan"],
    }


def test_without_a_probe_there_is_no_panel_of_it():
    assert len(curves_figure(replace(FOUND, curves=FOUND.curves[:1]), subject="my:pair").axes) == 2
