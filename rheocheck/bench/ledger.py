"""Finished pieces in a file, one JSON line each, so that an interrupted run goes on where it stopped.

A line counts when it has the fingerprint of this run: other settings, other weights, another machine or other versions
of packages, and it is measured anew.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rheocheck.bench.cells import Cell
from rheocheck.bench.pieces import Measured, Piece, PieceRow
from rheocheck.core.errors import InputError


class Ledger:
    """The file of one run. `remembered` measures what is not there yet."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._known = {found.piece: found for found in _read(path, fingerprint)}

    def __contains__(self, piece: Piece) -> bool:
        return piece in self._known

    def remembered(self, piece: Piece, measure: Callable[[Piece], Measured]) -> Measured:
        """The measured piece, from the file or new."""
        if piece not in self._known:
            found = self._known[piece] = measure(piece)
            line = json.dumps({"run": self._fingerprint, **asdict(found)})
            with self._path.open("a") as file:
                file.write(line + "\n")
        return self._known[piece]


def _read(path: Path, fingerprint: str) -> list[Measured]:
    """The pieces of this run. A last line without its end was cut by an interruption: it is dropped from the file."""
    if not path.exists():
        return []
    text = path.read_text(errors="replace")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    found = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            entry = json.loads(line)
            if entry["run"] == fingerprint:
                found.append(_measured(entry))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} must hold a finished piece a line, line {number} is none ({error!r}); start over with --fresh"
            ) from error
    return found


def _measured(entry: dict[str, Any]) -> Measured:
    where = entry["piece"]
    piece = Piece(Cell(**where["cell"]), where["first"], where["rows"])
    values = [{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()} for row in entry["rows"]]
    rows = tuple(PieceRow(**row) for row in values)
    return Measured(piece, rows, entry["seconds"], entry["parts"])
