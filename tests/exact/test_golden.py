"""All 630 rows of the golden table, from an independent enumerator, as equal Fractions."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from rheocheck.cli.verify import verify as verify_command
from rheocheck.core import BUILDERS, VERIFIERS, Shape
from rheocheck.exact import Walk, forest_of, total_variation, verify
from rheocheck.exact.numbers import fastest
from rheocheck.exact.variation import first_token_variation
from rheocheck.formats import read_pair

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = json.loads((GOLDEN / "exact.json").read_text())
PAIRS = sorted({row["pair"] for row in ROWS})


def shape_of(row):
    return Shape(
        leads=row["m"],
        branching=row["branching"],
        depth=row["depth"],
        nodes=row["budget"],
        frontier=row["frontier"],
    )


def measured(pair, row):
    """The law's figures alone: no audit of claims, no optimum."""
    forest = forest_of(pair, BUILDERS[row["builder"]], (), shape_of(row))
    emission = Walk(pair, forest, VERIFIERS[row["verifier"]]).emission(())
    return (
        total_variation(pair, (), emission.stops),
        first_token_variation(pair, (), emission.emitted_at(())),
        emission.expected_length,
    )


@pytest.mark.distribution
@pytest.mark.parametrize("number", [Fraction, fastest()], ids=["Fraction", "fastest"])
@pytest.mark.parametrize("name", PAIRS)
def test_rows(name, number):
    pair = read_pair(GOLDEN / f"{name}.json").converted(number)
    for row in (row for row in ROWS if row["pair"] == name):
        wanted = tuple(Fraction(row[key]) for key in ("tv", "first_token_tv", "expected_length"))
        assert measured(pair, row) == wanted, row


def test_there_are_630():
    assert len(ROWS) == 630


@pytest.mark.distribution
@pytest.mark.parametrize("row", ROWS[::14], ids=lambda row: "-".join(map(str, list(row.values())[:5])))
def test_verify_agrees(row):
    result = verify(
        read_pair(GOLDEN / f"{row['pair']}.json"), BUILDERS[row["builder"]], VERIFIERS[row["verifier"]], shape_of(row)
    )
    assert result.method == "exact"
    assert result.total_variation == result.lower == result.upper == Fraction(row["tv"])
    assert result.verdict == ("lossless" if row["tv"] == "0" else "biased")
    assert (result.witness is None) == (row["tv"] == "0")


@pytest.mark.distribution
@pytest.mark.parametrize("row", ROWS[7::45], ids=lambda row: "-".join(map(str, list(row.values())[:5])))
def test_command_line_agrees(row):
    arguments = [str(GOLDEN / f"{row['pair']}.json"), "--builder", row["builder"], "--verifier", row["verifier"]]
    sizes = ["-m", row["m"], "-K", row["branching"], "-D", row["depth"], "-N", row["budget"], "-F", row["frontier"]]
    result = CliRunner().invoke(verify_command, [*arguments, *map(str, sizes), "--json"], standalone_mode=False)
    answer = json.loads(result.stdout)
    assert answer["total_variation"] == row["tv"]
    assert answer["first_token_total_variation"] == row["first_token_tv"]
    assert answer["expected_length"] == row["expected_length"]
    assert result.return_value == (0 if row["tv"] == "0" else 1)
