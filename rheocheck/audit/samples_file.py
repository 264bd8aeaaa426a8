"""Recorded samples: a decoder's output, written down by whoever ran it.

    .npy     int array [n, L]: row i is draw i, its first L new tokens after the audited context
    .jsonl   one object a line, in order of generation: {"context": [0, 1], "tokens": [3, 2, 0, 1]}

Every draw must be there: a file without the draws that stopped early has a biased law.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.errors import InputError
from rheocheck.core.loading import is_import_string
from rheocheck.core.pair import Context

Ints = NDArray[np.int64]
SUFFIXES = (".npy", ".jsonl", ".parquet")


@dataclass(frozen=True)
class RecordedSamples:
    """Draws after one context, in order of generation; rows may have different lengths.

    rows   token ids, one array a draw
    where  how to name row i in an error, such as "line 7"
    """

    path: str
    rows: list[Ints] = field(repr=False)
    where: list[str] = field(repr=False)

    def prefixes(self, tokens: int, vocab_size: int | None) -> Ints:
        """The first `tokens` ids of every draw, [n, tokens]; refuses a short draw, an id outside 0..V-1."""
        short = next((i for i, row in enumerate(self.rows) if len(row) < tokens), None)
        if short is not None:
            raise InputError(
                f"{self.path}, {self.where[short]}: a draw must have at least {tokens} tokens, "
                f"got {len(self.rows[short])}: record longer draws, or lower --tokens"
            )
        words = np.stack([row[:tokens] for row in self.rows])
        outside = (words < 0) | (words >= (2**62 if vocab_size is None else vocab_size))
        if outside.any():
            row, column = np.argwhere(outside)[0]
            top = "" if vocab_size is None else f"..{vocab_size - 1}"
            raise InputError(
                f"{self.path}, {self.where[row]}: token ids must be in 0{top}, got {words[row, column]}: "
                "does the target use the same vocabulary?"
            )
        return words


def is_samples_file(spec: str) -> bool:
    """Whether a command line names a file rather than an import string."""
    return Path(spec).suffix in SUFFIXES and not is_import_string(spec) or Path(spec).is_file()


def read_samples(path: str, context: Context) -> RecordedSamples:
    """The draws after `context` in a samples file. Raises InputError, with the line, on a bad record."""
    if Path(path).suffix == ".parquet":
        raise InputError(
            f"a samples file must be .npy or .jsonl, got {path!r}: .parquet is not supported yet; "
            "write one JSON object a line"
        )
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"a samples file must end in .npy or .jsonl, got {path!r}: rename or convert it")
    try:
        samples = _read_npy(path) if Path(path).suffix == ".npy" else _read_jsonl(path, context)
    except OSError as error:
        raise InputError(f"samples file {path!r} must be readable: {error.strerror or error}: check the path") from None
    if not samples.rows:
        raise InputError(f"samples file {path!r} must hold at least one draw, got none: is the right file named?")
    return samples


def _read_npy(path: str) -> RecordedSamples:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(f"{path} must be a whole .npy file, it could not be read ({error}): write it again") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu":
        came = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError(f"{path} must hold integers of shape [draws, tokens], got {came}: save array.astype(int)")
    return RecordedSamples(path, list(array.astype(np.int64)), [f"row {i}" for i in range(len(array))])


def _read_jsonl(path: str, context: Context) -> RecordedSamples:
    rows, where, others = [], [], Counter[Context]()
    with open(path, encoding="utf-8") as lines:
        numbered = enumerate(_decoded(lines, path), start=1)
        for number, line in numbered:
            if not line.strip():
                continue
            record = _record(line, f"{path}, line {number}")
            if record[0] == context:
                rows.append(record[1])
                where.append(f"line {number}")
            else:
                others[record[0]] += 1
    if not rows and others:
        found = ", ".join(f'"{" ".join(map(str, c))}" ({n})' for c, n in others.most_common(5))
        raise InputError(
            f'{path} must hold draws after the audited context "{" ".join(map(str, context))}", '
            f"it has these contexts: {found}: choose one with --context"
        )
    return RecordedSamples(path, rows, where)


def _decoded(lines: Any, path: str) -> Any:
    try:
        yield from lines
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be JSON lines in UTF-8, got {error.reason}: write it as UTF-8") from None


def _record(line: str, where: str) -> tuple[Context, Ints]:
    """The context and the tokens of one line; a line without a context was drawn from the start."""
    try:
        data = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(
            f"{where}: must be one JSON object, got {line.strip()[:60]!r} ({error}): is it cut off?"
        ) from None
    if not isinstance(data, dict) or "tokens" not in data:
        raise InputError(f'{where}: must be an object with the key "tokens", got {line.strip()[:60]!r}: add the key')
    ids = {"context": data.get("context", []), "tokens": data["tokens"]}
    for name, value in ids.items():
        if not isinstance(value, list) or not all(type(x) is int and 0 <= x < 2**62 for x in value):
            raise InputError(f"{where}: {name} must be a list of token ids, got {str(value)[:60]}: write integers >= 0")
    return tuple(ids["context"]), np.array(ids["tokens"], dtype=np.int64)
