"""Functions replaced where no name of a module leads: in attributes, cells, lists, partials and default arguments."""

import functools
import gc
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rheocheck.intercept.readings import is_library


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
                kind = _class_of(holder)
                for key, value in list(holder.items()):
                    put = partial(holder.__setitem__, key) if kind is None else partial(setattr, kind, key)
                    _set(undo, put, value, new)
        elif isinstance(holder, tuple):
            tuples.append(holder)
        elif isinstance(holder, functools.partial) and id(holder.func) in new:
            state = (holder.func, holder.args, holder.keywords, vars(holder))
            holder.__setstate__((new[id(holder.func)], *state[1:]))  # type: ignore[attr-defined]
            undo.append(partial(holder.__setstate__, state))  # type: ignore[attr-defined]
    for function in _with_defaults(tuples):
        before = function.__defaults__ or ()
        function.__defaults__ = tuple(new.get(id(value), value) for value in before)
        undo.append(partial(setattr, function, "__defaults__", before))
    try:
        yield
    finally:
        for step in undo:
            step()


def _class_of(names: dict[Any, Any]) -> Any:
    """The class whose names a dict holds, or None."""
    own = names.get("__dict__", names.get("__weakref__"))
    kind = getattr(own, "__objclass__", None) if isinstance(own, types.GetSetDescriptorType) else None
    return kind if isinstance(kind, type) else None


def _set(undo: list[Callable[[], Any]], put: Callable[[Any], Any], value: Any, new: dict[int, Any]) -> None:
    if id(value) in new:
        put(new[id(value)])
        undo.append(partial(put, value))


_harmless: dict[int, Any] = {}  # tuples that are no defaults, or a library's own, by id: to look for once only


def _with_defaults(tuples: list[Any]) -> list[types.FunctionType]:
    """The functions outside of libraries that have one of the tuples as their default arguments."""
    unknown = {id(one): one for one in tuples if id(one) not in _harmless and not _fleeting(one)}
    holders = gc.get_referrers(*unknown.values()) if unknown else []
    functions = [
        holder
        for holder in holders
        if isinstance(holder, types.FunctionType)
        and id(holder.__defaults__) in unknown
        and not is_library(holder.__code__.co_filename)
    ]
    used = {id(function.__defaults__) for function in functions}
    _harmless.update({key: one for key, one in unknown.items() if key not in used})
    return functions


def _fleeting(one: Any) -> bool:
    """Whether a tuple is one of our own pairs (a function, what stands in for it), gone after the audit."""
    if len(one) != 2:
        return False
    return any(str(module).startswith("rheocheck.") for module in (type(one[1]).__module__, _module_of(one[1])))


def _module_of(value: Any) -> Any:
    return value.__module__ if isinstance(value, types.FunctionType) else None
