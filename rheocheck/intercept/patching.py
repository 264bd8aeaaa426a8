"""Names replaced for the length of a run, wherever they have been imported to."""

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
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


REPLACED = (  # modules whose functions are replaced; to be asked for in one scan
    *("_thread", "builtins", "datetime", "math", "os", "random", "resource", "secrets", "time", "timeit", "uuid"),
    *("numpy.random", "torch", "torch.cuda", "torch.random", "jax.numpy", "jax.random"),
)
Held = tuple[dict[str, Any], str]  # a module's names, and the one that holds an object
_scans: list["Scan"] = []  # the one that is shared, if one is


class Scan:
    """Which names of modules hold an object: asked once, and kept up to date while objects are replaced."""

    def __init__(self) -> None:
        self._holders: dict[int, list[Held]] = {}
        self._before: dict[int, tuple[Any, Any]] = {}  # of each replacement, by id: itself and what it stands for
        self.alive: dict[frozenset[type], tuple[Any, ...]] = {}

    def ask(self, objects: Iterable[Any]) -> None:
        """Ask the modules for objects that they were not asked for yet."""
        unknown: dict[int, list[Held]] = {id(one): [] for one in objects if id(one) not in self._holders}
        if not unknown:
            return
        for names in _modules():
            for name, value in list(names.items()):
                if id(value) in unknown:
                    unknown[id(value)].append((names, name))
        self._holders |= unknown

    def replace(self, old: Any, new: Any) -> list[Held]:
        """Put one object where another is, and say where that was."""
        held = [(names, name) for names, name in self._holders[id(old)] if names.get(name) is old]
        for names, name in held:
            names[name] = new
        self._holders[id(old)] = []
        self._holders.setdefault(id(new), []).extend(held)
        self._before[id(new)] = new, old
        return held

    def put_back(self, old: Any, held: list[Held]) -> None:
        """Undo a replacement; the object can be replaced again."""
        for names, name in held:
            names[name] = old
        self._holders[id(old)].extend(held)

    def restore(self) -> None:
        """Take every replacement out of modules again: what was imported meanwhile holds them."""
        for names in _modules():
            for name, value in list(names.items()):
                if id(value) in self._before:
                    while id(value) in self._before:
                        value = self._before[id(value)][1]
                    names[name] = value


@contextmanager
def one_scan(modules: Iterable[str] = ()) -> Iterator[None]:
    """All that is `rebound` within asks the modules once, as they are many, above all for what is of some of them."""
    known = [sys.modules[name] for name in modules if name in sys.modules]
    scan = Scan()
    scan.ask(one for module in known for one in vars(module).values())
    _scans.append(scan)
    try:
        yield
    finally:
        _scans.pop().restore()


@contextmanager
def rebound(pairs: list[tuple[Any, Any]]) -> Iterator[None]:
    """Objects (functions, above all) replaced in every module that holds them: `from random import random` included."""
    with nullcontext() if _scans else one_scan():
        _scans[-1].ask(old for old, _ in pairs)
        found = [(old, _scans[-1].replace(old, new)) for old, new in pairs]
        try:
            yield
        finally:
            for old, held in found:
                _scans[-1].put_back(old, held)


def alive(kinds: frozenset[type]) -> tuple[Any, ...]:
    """All objects of these types, looked for once in a scan: there are millions of others."""
    known = _scans[-1].alive if _scans else {}
    if kinds not in known:
        known[kinds] = tuple(one for one in gc.get_objects() if type(one) in kinds)
    return known[kinds]


def _modules() -> Iterator[dict[str, Any]]:
    """The names of every module but our own."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if isinstance(names, dict) and not getattr(module, "__name__", "").startswith("rheocheck.intercept"):
            yield names
