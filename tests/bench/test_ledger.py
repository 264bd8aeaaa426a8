"""A run that was cut goes on; a line of another run does not count; a damaged file is said to be one."""

import pytest

from rheocheck.bench.ledger import Ledger
from rheocheck.core.errors import InputError
from tests.bench.synthetic import evidence

PIECES = evidence().pieces[:3]


def never(piece):
    raise AssertionError(f"{piece} was there already")


@pytest.fixture
def path(tmp_path):
    ledger = Ledger(tmp_path / "cells.jsonl", "this")
    for found in PIECES:
        assert ledger.remembered(found.piece, lambda piece, found=found: found) == found
    return tmp_path / "cells.jsonl"


def test_nothing_is_measured_twice(path):
    again = Ledger(path, "this")
    assert [again.remembered(found.piece, never) for found in PIECES] == list(PIECES)
    assert evidence().pieces[3].piece not in again


def test_a_line_that_was_cut_is_measured_anew(path):
    text = path.read_text()
    path.write_text(text[:-40])
    again = Ledger(path, "this")
    assert [found.piece in again for found in PIECES] == [True, True, False]
    again.remembered(PIECES[2].piece, lambda piece: PIECES[2])
    assert path.read_text() == text


def test_another_run_begins_anew(path):
    assert PIECES[0].piece not in Ledger(path, "another")
    assert PIECES[0].piece in Ledger(path, "this")


ROWS = b'{"run": "this", "piece": {"cell": {"temperature": 1, "builder": "top_k", "leads": 0, "verifier": "rheo"}, '
ROWS += b'"first": 0, "rows": 1}, "rows": [[1]]}'


@pytest.mark.parametrize("line", [b"{}", b"nothing", b'{"run": "this"}', b"\xff\xfe", ROWS])
def test_a_damaged_file_is_one_line(path, line):
    path.write_bytes(line + b"\n" + path.read_bytes())
    with pytest.raises(InputError, match="must hold a finished piece a line, line 1 is none.*start over with --fresh"):
        Ledger(path, "this")
