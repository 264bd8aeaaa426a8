"""The table of CLAIMS.md: its rows are what the command counts, and a count is what `verify` says, pair by pair."""

import re
from pathlib import Path

import pytest

from rheocheck.core import BUILDERS, VERIFIERS, Shape
from rheocheck.exact import verify
from tests.exact.claims_on_random_pairs import FAMILIES, PAIRS, counted, random_pair

TABLE = (Path(__file__).parent / "CLAIMS.md").read_text()
ROWS = {name.strip(): cells for name, cells in re.findall(r"^\| ([^|]+)\|(.+)\|$", TABLE, re.MULTILINE)}
SEEDS = 3


def length(pair, builder, verifier, m):
    shape = Shape(leads=m, branching=4, depth=3, nodes=8)
    return verify(pair, BUILDERS[builder], VERIFIERS[verifier], shape).expected_length


@pytest.mark.distribution
def test_counts_are_those_of_verify():
    held, medians = counted(*FAMILIES["flat (1, 1)"], SEEDS)
    pairs = [random_pair(seed, *FAMILIES["flat (1, 1)"]) for seed in range(SEEDS)]
    lengths = [[length(pair, "rheo", "rheo", m) for m in range(5)] for pair in pairs]
    top = [length(pair, "top_k", "recursive", 1) for pair in pairs]
    recursive = [length(pair, "rheo", "recursive", 1) for pair in pairs]
    assert held["rheo + rheo: m = 1 is the best of 0..4"] == sum(max(row) == row[1] for row in lengths)
    assert held["length: top_k < rheo + recursive"] == sum(a < b for a, b in zip(top, recursive, strict=True))
    assert held["length: rheo + recursive < rheo + rheo"] == sum(
        a < row[1] for a, row in zip(recursive, lengths, strict=True)
    )
    assert medians == [float(sorted(column)[1]) for column in zip(*lengths, strict=True)]
    assert set(held) | {"median length of rheo + rheo at m = 0..4"} <= set(ROWS)
    assert len(ROWS) == len(held) + 3  # and the head, the rule below it, the medians


def test_the_columns_are_the_families():
    assert [cell.strip() for cell in ROWS[f"of {PAIRS} pairs each, at m = 1 unless said"].split("|")] == list(FAMILIES)


def test_pairs_of_a_seed_stay_as_they_are():
    """The figures of the table are of these pairs."""
    assert random_pair(0, 1.0, 1.0) == random_pair(0, 1.0, 1.0) != random_pair(1, 1.0, 1.0)
    row = random_pair(0, 1.0, 1.0).p(())
    assert [round(float(x), 4) for x in row] == [0.3433, 0.2543, 0.1034, 0.0693, 0.1263, 0.1034]
