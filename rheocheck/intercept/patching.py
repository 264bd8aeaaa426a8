"""Names replaced for the length of a run, wherever they have been imported to."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, names: Mapping[str, Any]) -> Iterator[None]:
    """Attributes of a module or class replaced."""
    missing = object()
    before = {name: vars(owner).get(name, missing) for name in names}
    try:
        for name, value in names.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


@contextmanager
def rebound(pairs: list[tuple[Any, Any]]) -> Iterator[None]:
    """Objects (functions, above all) replaced in every module that holds them: `from random import random` included."""
    new = {id(old): value for old, value in pairs}
    kinds = {type(old) for old, _ in pairs} | {type(value) for _, value in pairs}  # quicker to ask than id
    found = []
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict) and not getattr(module, "__name__", "").startswith("rheocheck.intercept"):
            found += [
                (names, name, value) for name, value in list(names.items()) if type(value) in kinds and id(value) in new
            ]
    try:
        for names, name, value in found:
            names[name] = new[id(value)]
        yield
    finally:
        for names, name, value in found:
            names[name] = value
        old = {id(value): before for before, value in pairs}
        for module in list(sys.modules.values()):  # what was imported meanwhile holds the replacements
            names = getattr(module, "__dict__", None)
            if isinstance(names, dict) and not getattr(module, "__name__", "").startswith("rheocheck.intercept"):
                for name, value in list(names.items()):
                    if type(value) in kinds and id(value) in old:
                        names[name] = old[id(value)]
