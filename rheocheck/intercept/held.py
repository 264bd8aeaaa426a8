"""Functions replaced where no name of a module leads: in attributes, cells, lists, partials and default arguments."""

import functools
import gc
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def held(pairs: list[tuple[Any, Any]]) -> Iterator[None]:
    """Objects replaced in everything that holds them, but for modules: those are `rebound`."""
    new = {id(old): value for old, value in pairs}
    tuples: list[Any] = []
    undo: list[Callable[[], Any]] = []  # partials and plain arguments: a closure would hold the objects in a cell
    for holder in gc.get_referrers(*(old for old, _ in pairs)):
        if isinstance(holder, types.CellType):
            _set(undo, partial(setattr, holder, "cell_contents"), holder.cell_contents, new)
        elif isinstance(holder, list):
            if holder is not pairs:
                for i, value in enumerate(holder):
                    _set(undo, partial(holder.__setitem__, i), value, new)
        elif isinstance(holder, dict):
            if "__name__" not in holder:  # a module's names
                for key, value in list(holder.items()):
                    _set(undo, partial(holder.__setitem__, key), value, new)
        elif isinstance(holder, tuple):
            tuples.append(holder)
        elif isinstance(holder, functools.partial) and id(holder.func) in new:
            state = (holder.func, holder.args, holder.keywords, vars(holder))
            holder.__setstate__((new[id(holder.func)], *state[1:]))  # type: ignore[attr-defined]
            undo.append(partial(holder.__setstate__, state))  # type: ignore[attr-defined]
    for function in gc.get_referrers(*tuples) if tuples else ():
        if isinstance(function, types.FunctionType) and any(function.__defaults__ is one for one in tuples):
            before = function.__defaults__ or ()
            function.__defaults__ = tuple(new.get(id(value), value) for value in before)
            undo.append(partial(setattr, function, "__defaults__", before))
    try:
        yield
    finally:
        for step in undo:
            step()


def _set(undo: list[Callable[[], Any]], put: Callable[[Any], Any], value: Any, new: dict[int, Any]) -> None:
    if id(value) in new:
        put(new[id(value)])
        undo.append(partial(put, value))
