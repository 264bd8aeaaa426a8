"""Pair files: JSON, read exactly.

    {"vocab_size": 2, "draft": {"": ["1/2", "1/2"]}, "target": {"": ["1/4", "3/4"], "1": [1, 0]}}

Keys are contexts, space-separated token ids, "" the start. Entries are rational strings, integers or decimals;
no float stands in between.
"""

import json
import os
from pathlib import Path
from typing import Any

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair, spaced
from rheocheck.formats.loading import is_import_string, load_attribute


def load_pair(spec: str) -> Pair:
    """The pair that a command line names: a JSON file, or "module:attr" giving a Pair or a zero-argument callable."""
    if is_import_string(spec) and not os.path.exists(spec):
        value = load_attribute(spec, "pair")
        if not isinstance(value, Pair) and callable(value):
            try:
                value = value()
            except (Exception, SystemExit) as error:  # the user's function: one clear line instead of a traceback
                raise InputError(f"pair {spec!r}: calling it failed with {type(error).__name__}: {error}") from error
        if not isinstance(value, Pair):
            raise InputError(f"pair {spec!r} must be a Pair or a function returning one, got {type(value).__name__}")
        return value
    return read_pair(spec)


def read_pair(path: str | Path) -> Pair:
    """The pair in a JSON file. Raises InputError, in one line, on anything the format does not allow."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"pair file {str(path)!r} must be readable: {error.strerror or error}; check the path"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"pair file {str(path)!r} must be JSON in UTF-8; convert it") from None
    try:
        return pair_from_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def pair_from_json(text: str) -> Pair:
    """The pair in a JSON text; decimals are read exactly, never through a float."""
    try:
        data = json.loads(text, parse_float=str, parse_int=str, parse_constant=_refuse, object_pairs_hook=_no_repeats)
    except json.JSONDecodeError as error:
        raise InputError(f"a pair must be JSON: {error}") from None
    except RecursionError:
        raise InputError("a pair must be JSON of the documented form; this nests too deeply") from None
    if not isinstance(data, dict):
        raise InputError(f"a pair must be a JSON object, got {type(data).__name__}; see the README")
    missing = {"vocab_size", "draft", "target"} - data.keys()
    if missing:
        raise InputError(f"a pair must have the keys vocab_size, draft, target; missing: {', '.join(sorted(missing))}")
    size = data["vocab_size"]
    if not isinstance(size, str) or not size.isascii() or not size.isdigit():
        raise InputError(f"vocab_size must be a positive integer, got {size!r:.40}; count the tokens")
    for name in ("draft", "target"):
        if not isinstance(data[name], dict):
            raise InputError(f"{name} must be an object {{context: row}}, got {type(data[name]).__name__}")
    if len(size) > 9:
        raise InputError(f"vocab_size must be at most 999999999, got {size:.20}...")
    return Pair(int(size), *(_table(name, data[name]) for name in ("draft", "target")))


def pair_to_json(pair: Pair) -> str:
    """The pair as the text of a pair file."""
    tables = {
        name: {spaced(s): [str(x) for x in row] for s, row in model.items()}
        for name, model in (("draft", pair.draft), ("target", pair.target))
    }
    return json.dumps({"vocab_size": pair.vocab_size, **tables}, indent=1)


def parse_context(text: str) -> Context:
    """The context that space-separated token ids write; "" is the start."""
    parts = text.split()
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise InputError(f'a context must be token ids separated by spaces, such as "0 1", got {text!r:.60}')
    return tuple(map(int, parts))


def _table(name: str, rows: dict[str, Any]) -> dict[Context, Any]:
    table: dict[Context, Any] = {}
    for key, row in rows.items():
        try:
            context = parse_context(key)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        if context in table:
            raise InputError(f"{name}: a context must stand once, got {key!r} twice; merge the rows")
        table[context] = row
    return table


def _refuse(constant: str) -> Any:
    raise InputError(f"a probability must be a finite number, got {constant}")


def _no_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) < len(items):
        seen: set[str] = set()
        twice = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"a key must stand once in its object, got {twice!r} twice; remove one")
    return found
