"""Docstrings, and the split that no other text can move."""

import sysconfig
from pathlib import Path

import pytest

from rheocheck.bench.text import HELD_OUT, LEAST, NOT_OURS, _sources, docstrings, split, standard_library
from rheocheck.core.errors import InputError

LONG = "Long enough to be kept, since it goes on for a while"
SOURCE = f'''
"""{LONG}, of a module."""
class A:
    """{LONG}, of a class."""
    async def f(self):
        """{LONG}, of a method,

        dedented."""
    def g(self):
        """Short."""
        "{LONG}, but no docstring."
'''


def test_docstrings_of_everything_that_has_one():
    assert list(docstrings(SOURCE)) == [
        f"{LONG}, of a module.", f"{LONG}, of a class.", f"{LONG}, of a method,\n\ndedented.",
    ]  # fmt: skip
    assert all(len(text) >= LEAST for text in docstrings(SOURCE))


def test_a_text_stays_on_its_side():
    texts = {f"text number {i}" for i in range(500)}
    whole, less = split(texts), split(set(sorted(texts)[::2]))
    assert set(less.held_out) <= set(whole.held_out) and set(less.training) <= set(whole.training)
    assert not set(whole.held_out) & set(whole.training)
    assert abs(len(whole.held_out) - 500 / HELD_OUT) < 6 * (500 / HELD_OUT) ** 0.5
    assert whole.digest != less.digest and whole == split(texts)


def test_the_standard_library_without_tests_and_packages():
    found = standard_library(20)
    assert found == standard_library(20)
    assert len(found.training) > 100 and len(found.held_out) > 5
    root = Path(sysconfig.get_path("stdlib"))
    paths = [path.relative_to(root) for path in _sources()]
    assert Path("json/decoder.py") in paths and not any(NOT_OURS & set(path.parts) for path in paths)
    assert any((root / name).is_dir() for name in NOT_OURS)  # there is something to leave out


def test_texts_on_one_side_only_are_refused():
    with pytest.raises(InputError, match="there must be texts on both sides, got 0 to train on and 0 held out"):
        split(set())
