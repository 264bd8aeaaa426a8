"""The catalogue of toy pairs is complete, says what each pair is for, and stays light."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import toy_models
from rheocheck.core import Pair, Shape
from rheocheck.formats import load_pair
from toy_models import NAMES

FOLDER = Path(toy_models.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py"))


def first_line(name: str) -> str:
    return (import_module(f"toy_models.{name}").__doc__ or "").splitlines()[0]


def test_names_are_the_files() -> None:
    assert sorted(NAMES) == [name for name in FILES if name not in ("__init__", "random_family")]
    assert len(set(NAMES)) == len(NAMES) >= 12


def test_the_package_docstring_repeats_every_first_sentence() -> None:
    listed = re.findall(r"^(\w+) {2,}(.+)$", toy_models.__doc__, flags=re.MULTILINE)
    assert listed == [(name, first_line(name)) for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_and_a_shape(name: str) -> None:
    module = import_module(f"toy_models.{name}")
    assert isinstance(module.pair, Pair) and isinstance(module.shape, Shape)
    assert load_pair(f"toy_models.{name}:pair") is module.pair


@pytest.mark.parametrize("name", FILES)
def test_the_first_sentence_is_the_first_line(name: str) -> None:
    line = toy_models.__doc__.splitlines()[0] if name == "__init__" else first_line(name)
    assert re.fullmatch(r"[A-Z].{40,}\.", line)


def test_first_sentences_are_distinct() -> None:
    assert len({first_line(name) for name in NAMES}) == len(NAMES)


def test_pairs_are_distinct() -> None:
    pairs = [load_pair(f"toy_models.{name}:pair") for name in NAMES]
    assert all(a != b for i, a in enumerate(pairs) for b in pairs[:i])


@pytest.mark.parametrize("name", FILES)
def test_imports_the_core_and_the_standard_library_only(name: str) -> None:
    for module in imported(FOLDER / f"{name}.py"):
        assert module == "rheocheck.core" or module.split(".")[0] in sys.stdlib_module_names, module


def imported(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            found.append("." * node.level + (node.module or ""))
    return found


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import toy_models; print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=FOLDER.parent)
    assert run.stdout.split() == ["toy_models"]
