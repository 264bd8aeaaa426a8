"""The text that the models learn: every docstring of Python's standard library, and the topics of `help()`.

It is on every machine that has Python, needs no download, and differs a little between Python's versions: the digest
says which text it was. A text is held out by its own hash, so that no other text moves it to the other side.
"""

import ast
import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from rheocheck.core.errors import InputError

NOT_OURS = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}
HELD_OUT = 10  # one text in so many
LEAST = 40  # characters; shorter ones say little


@dataclass(frozen=True)
class Texts:
    """Distinct texts, in the order of their hashes."""

    training: tuple[str, ...]
    held_out: tuple[str, ...]
    digest: str

    def __repr__(self) -> str:
        return f"Texts({len(self.training)} to train on, {len(self.held_out)} held out, {self.digest[:12]})"


def standard_library(files: int | None = None) -> Texts:
    """The texts of the first `files` source files (all, and the topics of `help()`, when None)."""
    sources = sorted(_sources())
    found = {
        text for path in sources[:files] for text in docstrings(path.read_text(encoding="utf-8", errors="replace"))
    }
    if files is None:
        topics: dict[str, str] = import_module("pydoc_data.topics").topics
        found.update(topics.values())
    return split(found)


def docstrings(source: str) -> Iterator[str]:
    """The docstrings of a module, of its classes and of its functions, as `help()` would show them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text and len(text) >= LEAST:
                yield text


def split(texts: set[str]) -> Texts:
    """Training and held-out texts, by the hash of each."""
    hashed = sorted((sha256(text.encode()).hexdigest(), text) for text in texts)
    sides: tuple[list[str], list[str]] = ([], [])
    for digest, text in hashed:
        sides[int(digest, 16) % HELD_OUT == 0].append(text)
    whole = sha256("".join(digest for digest, _ in hashed).encode()).hexdigest()
    if not all(sides):
        raise InputError(
            f"there must be texts on both sides, got {len(sides[0])} to train on and {len(sides[1])} held out; "
            "take a Python with the sources of its standard library"
        )
    return Texts(tuple(sides[0]), tuple(sides[1]), whole)


def _sources() -> Iterator[Path]:
    for folder, below, files in os.walk(sysconfig.get_path("stdlib")):
        below[:] = sorted(set(below) - NOT_OURS)  # not entered: packages may be many
        yield from (Path(folder, name) for name in files if name.endswith(".py"))
