"""Recorded samples: a decoder's output, written down by whoever ran it, in order of generation.

    .npy      int array [n, L]: row i is draw i, its first L new tokens after the audited context
    .jsonl    one object a line:
              {"context": [0, 1], "tokens": [3, 2, 0, 1], "row": 0, "call": 7, "blocks": [[2, 3], [0, 1]]}
    .parquet  the same keys as columns (extra `parquet`)

    tokens    the new tokens, at least as many as are audited; fewer only if the last one ends the text (`--eos`)
    context   what they continue; left out: nothing
    row, call optional, both or neither: which row of which call a draw was, in increasing order. Rows of one batch that
              share random numbers, and calls that repeat a seed, are then looked for where they would be. Left out:
              every draw was a call of its own
    blocks    optional: the decode log, [accepted, emitted] for every block of the draw, the first one starting at
              token 0. The number of drafts of a full block must be said beside it (`depth`): read off the log, the
              largest number accepted would make a correct decoder look biased whose full blocks were never accepted

Every draw must be there: a file without the draws that stopped early has a biased law. So nothing is left out: a record
that cannot be used, or that continues another context, is an error that names its line.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.core.pair import Context
from rheocheck.formats.loading import is_import_string
from rheocheck.intercept.words import MAX_ID, cut, filled

Ints = NDArray[np.int64]
Record = tuple[int, dict[str, Any]]  # (line or row number, the keys)
SUFFIXES = (".npy", ".jsonl", ".parquet")
MAX_NUMBER = 2**31  # of rows and calls
CHUNK = 2**14  # records of a .parquet file held as Python objects at once


@dataclass(frozen=True)
class RecordedSamples:
    """Draws after one context, in order of generation; they may have different lengths.

    tokens       token ids, one array a draw
    unit, lines  how to name draw i in an error: "line", 7
    rows, calls  [n] which row of which call a draw was, or None
    blocks       [accepted, emitted] of the blocks of every draw, [n][blocks, 2], or None
    """

    path: str
    tokens: list[Ints] = field(repr=False)
    unit: str
    lines: list[int] = field(repr=False)
    rows: Ints | None = field(repr=False, default=None)
    calls: Ints | None = field(repr=False, default=None)
    blocks: list[Ints] | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return len(self.tokens)

    def where(self, draw: int) -> str:
        """A draw's place in the file, for errors."""
        return f"{self.path}, {self.unit} {self.lines[draw]}"

    def prefixes(self, tokens: int, eos: int | None = None) -> Ints:
        """The first `tokens` ids of every draw, [n, tokens]; shorter draws are filled up (`intercept.words`)."""
        return filled(self.tokens, tokens, eos)

    def log(self, tokens: int, depth: int) -> Ints:
        """The decode log [n, blocks, 2] of blocks of at most `depth` drafts, filled up with emitted = 0."""
        if self.blocks is None:
            raise InputError(f"--depth must go with a decode log, got none in {self.path}: record blocks, or drop it")
        log = np.zeros((len(self.blocks), max(map(len, self.blocks)), 2), dtype=np.int64)
        for draw, blocks in enumerate(self.blocks):
            accepted, emitted = blocks[:, 0], blocks[:, 1]
            bad = (accepted > depth) | (emitted > accepted + 1) | (emitted < 1)
            if bad.any():
                raise InputError(
                    f"{self.where(draw)}: a block must have 0..{depth} accepted drafts and emit 1 to accepted + 1 "
                    f"tokens, got {blocks[bad][0].tolist()}: check --depth, the drafts of a full block"
                )
            if emitted.sum() < tokens:
                raise InputError(
                    f"{self.where(draw)}: blocks must emit the audited {tokens} tokens, got {emitted.sum()} tokens in "
                    f"{len(blocks)} blocks: log every block"
                )
            log[draw, : len(blocks)] = blocks
        return log


def is_samples_file(spec: str) -> bool:
    """Whether a command line names a file rather than an import string."""
    return Path(spec).suffix in SUFFIXES and not is_import_string(spec) or Path(spec).is_file()


def read_samples(path: str, context: Context) -> RecordedSamples:
    """The draws in a samples file, all after `context`. Raises InputError, with the line, on a bad record."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise InputError(f"a samples file must end in .npy, .jsonl or .parquet, got {path!r}: rename or convert it")
    try:
        if suffix == ".npy":
            samples = _read_npy(path)
        elif suffix == ".jsonl":
            samples = _collect(path, "line", _read_jsonl(path), context)
        else:
            samples = _collect(path, "row", _read_parquet(path), context)
    except OSError as error:
        raise InputError(f"samples file {path!r} must be readable: {error.strerror or error}: check the path") from None
    if not len(samples):
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
    return RecordedSamples(path, list(cut(array)), "row", list(range(len(array))))


def _read_jsonl(path: str) -> Iterator[Record]:
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(_decoded(lines, path), start=1):
            if not line.strip():
                continue
            where, shown = f"{path}, line {number}", line.strip()[:60]
            try:
                data = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{where}: must be one JSON object, got {shown!r} ({error}): is it cut off?") from None
            if not isinstance(data, dict) or "tokens" not in data:
                raise InputError(f'{where}: must be an object with the key "tokens", got {shown!r}: add the key')
            yield number, data


def _decoded(lines: Any, path: str) -> Any:
    try:
        yield from lines
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be JSON lines in UTF-8, got {error.reason}: write it as UTF-8") from None


def _read_parquet(path: str) -> Iterator[Record]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(
            f"reading {path!r} must have pyarrow, it is missing: pip install 'rheocheck[parquet]'"
        ) from None
    number = 0
    with open(path, "rb") as source:
        try:
            file = pyarrow.parquet.ParquetFile(source)
            names = file.schema_arrow.names
            if "tokens" not in names:
                raise InputError(
                    f'{path} must have the column "tokens", got {", ".join(names)[:60] or "none"}: add the column'
                )
            known = [name for name in ("tokens", "context", "row", "call", "blocks") if name in names]
            for batch in file.iter_batches(CHUNK, columns=known):
                for data in batch.to_pylist():
                    yield number, {name: value for name, value in data.items() if value is not None}
                    number += 1
        except (pyarrow.ArrowException, OSError) as error:
            text = " ".join(str(error).split())[:100]
            raise InputError(
                f"{path} must be a whole .parquet file, it could not be read ({text}): write it again"
            ) from None


def _collect(path: str, unit: str, records: Iterator[Record], context: Context) -> RecordedSamples:
    """All records, checked. What the first one has besides its tokens, all must have."""
    tokens, lines, blocks = [], [], []
    numbers: list[tuple[int, int]] = []
    extras: set[str] | None = None
    for number, data in records:
        where = f"{path}, {unit} {number}"
        if "tokens" not in data:
            raise InputError(f"{where}: tokens must be a list of token ids, got none: record every draw")
        after = tuple(_ids(data.get("context", []), "context", where).tolist())
        if after != context:
            raise InputError(
                f'{where}: every draw must continue the audited context "{_shown(context)}", got "{_shown(after)}": '
                "choose it with --context, one file for each context"
            )
        here = {"row", "call", "blocks"} & data.keys()
        if ("row" in here) != ("call" in here):
            raise InputError(f"{where}: row and call must come together, got {_keys(here)}: record both, or neither")
        if extras is None:
            extras = here
        elif here != extras:
            raise InputError(
                f"{where}: every draw must have the same keys, got {_keys(here)} where the first draw has "
                f"{_keys(extras)}: record them for every draw, or for none"
            )
        if "call" in here:
            numbers.append(_place(data, where, numbers[-1] if numbers else None))
        if "blocks" in here:
            blocks.append(_blocks(data["blocks"], where))
        tokens.append(_tokens(data["tokens"], where))
        lines.append(number)
    places = np.array(numbers, dtype=np.int64).reshape(-1, 2)
    return RecordedSamples(
        path, tokens, unit, lines,
        rows=places[:, 1] if numbers else None,
        calls=places[:, 0] if numbers else None,
        blocks=blocks or None,
    )  # fmt: skip


def _tokens(value: Any, where: str) -> Ints:
    """What was emitted, whatever it is: an id outside the vocabulary is for the verdict, not for the file."""
    if not isinstance(value, list) or not all(type(x) is int for x in value):
        raise InputError(f"{where}: tokens must be a list of token ids, got {str(value)[:60]}: write integers")
    return np.array([max(-MAX_ID, min(MAX_ID, x)) for x in value], dtype=np.int64)


def _ids(value: Any, name: str, where: str) -> Ints:
    if not isinstance(value, list) or not all(type(x) is int and 0 <= x < MAX_ID for x in value):
        raise InputError(f"{where}: {name} must be a list of token ids, got {str(value)[:60]}: write integers >= 0")
    return np.array(value, dtype=np.int64)


def _place(data: dict[str, Any], where: str, before: tuple[int, int] | None) -> tuple[int, int]:
    """(call, row) of a draw, after those of the draw before."""
    for key in ("call", "row"):
        if type(data[key]) is not int or not 0 <= data[key] < MAX_NUMBER:
            raise InputError(
                f"{where}: {key} must be an integer in 0..2^31 - 1, got {str(data[key])[:60]}: count from 0"
            )
    place: tuple[int, int] = (data["call"], data["row"])
    if before is not None and place <= before:
        raise InputError(
            f"{where}: draws must be in order of call, then row, each once, got call {place[0]} row {place[1]} after "
            f"call {before[0]} row {before[1]}: sort the file, or number calls on"
        )
    return place


def _blocks(value: Any, where: str) -> Ints:
    pairs = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(x) is int and 0 <= x < MAX_NUMBER for x in pair)
        for pair in value
    )
    if not pairs or not value:
        raise InputError(
            f"{where}: blocks must be a list of [accepted, emitted], got {str(value)[:60]}: write two integers a block"
        )
    return np.array(value, dtype=np.int64)


def _shown(context: Context) -> str:
    return " ".join(map(str, context))[:60]


def _keys(keys: set[str]) -> str:
    return ", ".join(sorted(keys)) or "none"
