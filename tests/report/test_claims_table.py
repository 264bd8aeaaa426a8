"""The report of a run says what the run found, and what the paper says."""

import dataclasses

import pytest

from rheocheck.bench.claims import Figure
from rheocheck.bench.settings import QUICK
from rheocheck.report.claims_table import claims_table, claims_text, figure_text
from tests.bench.synthetic import evidence, mean_block, result


@pytest.fixture(scope="module")
def found():
    return result()


def test_a_row_a_claim(found):
    head, line, *rows = claims_table(found).splitlines()
    assert head == "| question | the paper (arXiv 2609.21827) | found here | verdict |"
    assert line == "| --- | --- | --- | --- |" and len(rows) == len(found.claims)
    assert all(row.count(" | ") == 3 for row in rows)
    first = found.claims[0]
    low, high = first.figures[2].low, first.figures[2].high
    assert "| yes, by +0.14 to +0.22 tokens |" in rows[0]
    assert f"| agrees: 99 % interval {low:+.3f} .. {high:+.3f}; the estimate is above the paper's range |" in rows[0]


def test_a_reversal_is_told():
    turned = result(evidence(lambda cell: 6.0 - mean_block(cell)))
    assert "| differs: 99 % interval -" in claims_table(turned)


def test_figures_in_words():
    assert figure_text(Figure("top-K", "tokens", 2.5)) == "top-K 2.500 tokens"
    assert figure_text(Figure("gain", "tokens more", 0.15, 0.1, 0.2, 0.01)) == "gain +0.150 tokens (+0.100 .. +0.200)"
    assert figure_text(Figure("step", "share more", -0.02, -0.03, 0.01, 0.01)) == "step -2.0 % (-3.0 % .. +1.0 %)"


def test_everything_is_in_the_report(found):
    text = claims_text(found)
    for title in ("Claims", "Methods", "Acceptance by level at T = 1", "Top-128 coverage on held-out text", "Time"):
        assert f"\n## {title}\n" in text
    for part in (
        "target 2.00 M",
        "drafter 3.50",
        "a machine",
        "torch 2.0",
        "reconstruction of RheoVerification",
        "seed 0",
    ):
        assert part in text
    cell = found.cells[0]
    block = cell.metrics["block"]
    row = f"| 1 | top_k + recursive | 64 | 2,560 | {block.estimate:.3f} ({block.low:.3f} .. {block.high:.3f}) |"
    assert row in text
    assert "too small" not in text.lower()


def test_a_quick_run_says_that_it_is_too_small():
    text = claims_text(result(settings=dataclasses.replace(QUICK)))
    assert "**Too small to conclude" in text and "| agrees" not in text and "| differs" not in text
