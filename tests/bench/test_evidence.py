"""Every figure is the ratio that its name says, counted by hand."""

import pytest

from rheocheck.bench.cells import plain, probed
from rheocheck.bench.evidence import METRICS, ClaimEvidence
from rheocheck.bench.pieces import Measured, Piece, PieceRow

ROWS = (
    PieceRow(0, (3, 1), (2, 1), (1, 1), (0.9, 0.4), expanded=3, survived=2, accepted=1),
    PieceRow(1, (2, 2, 1), (3, 2), (2, 0), (1.5, 0.3), expanded=5, survived=4, accepted=1),
)


def measured(cell, seconds, first=0, rows=ROWS):
    return Measured(Piece(cell, first, len(rows)), rows, seconds, {"draft": seconds / 2})


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        ("block", 9 / 5),
        ("acceptance", 4 / 8),
        ("root", 3 / 5),
        ("mass", 3.1 / 8),
        ("root mass", 2.4 / 5),
        ("probe survival", 6 / 8),
        ("probe acceptance", 2 / 6),
    ],
)
def test_a_metric_is_its_ratio(metric, by_hand):
    cell = probed(1.0)
    assert ClaimEvidence([measured(cell, 1.0)]).one(cell, metric).estimate == pytest.approx(by_hand)


def test_no_metric_is_left_out():
    assert len(METRICS) == 7


def test_speed_is_paired_by_round_and_above_1_when_faster():
    cell, base = probed(1.0), plain(1.0)
    rounds = [(2.0, 4.0, 0), (1.0, 8.0, 2)]
    evidence = ClaimEvidence(
        [measured(c, s, first) for fast, slow, first in rounds for c, s in ((cell, fast), (base, slow))]
    )
    middle, spread = evidence.speed_ratio(cell, base)
    assert middle == pytest.approx((2 * 8) ** 0.5)
    assert spread is not None and spread.low < middle < spread.high
    assert ClaimEvidence([measured(cell, 1.0), measured(base, 3.0)]).speed_ratio(cell, base) == (
        pytest.approx(3.0),
        None,
    )


def test_levels_and_milliseconds_a_cycle():
    cell = probed(1.0)
    evidence = ClaimEvidence([measured(cell, 2.0)])
    assert evidence.levels(cell) == [(5, 3), (3, 1)]
    assert evidence.parts(cell) == pytest.approx({"draft": 200.0, "whole": 400.0})
