"""Users' type checkers see real types: `mypy --strict` on a file that uses the package, wrong use included."""

import ast
import subprocess
import sys
from pathlib import Path

import rheocheck

ROOT = Path(__file__).parents[1]
USER = """
from fractions import Fraction

from rheocheck import Pair, Shape, load_pair, verify
from rheocheck.core.builders import rheo

pair: Pair = load_pair("toy_models.survival_bias:pair")
found = verify(pair, rheo, shape=Shape(leads=1))
variation: Fraction | None = found.total_variation
reveal_type(found.verdict)
reveal_type(pair.states.words)
"""
WRONG = USER + "number: int = found.verdict\n"


def strict(tmp_path, text):
    """What `mypy --strict` prints about a user's file."""
    file = tmp_path / "user.py"
    file.write_text(text)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", tmp_path / "cache"]
    done = subprocess.run([*mypy, file], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout


def test_a_users_file_is_checked_with_real_types(tmp_path):
    printed = strict(tmp_path, USER)
    assert 'Revealed type is "str"' in printed or 'Revealed type is "builtins.str"' in printed, printed
    assert "tuple[tuple[int, ...], ...]" in printed.replace("builtins.", ""), printed
    assert "error" not in printed, printed


def test_wrong_use_is_an_error(tmp_path):
    printed = strict(tmp_path, WRONG)
    assert 'Incompatible types in assignment (expression has type "str", variable has type "int")' in printed, printed


def test_the_package_says_that_it_is_typed():
    assert (Path(rheocheck.__file__).parent / "py.typed").exists()


def test_lazy_names_are_those_that_type_checkers_see():
    assert sorted(rheocheck._HOME_OF) == rheocheck.__all__
    tree = ast.parse(Path(rheocheck.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names if node.module.startswith("rheocheck.")}
    assert seen == rheocheck._HOME_OF
