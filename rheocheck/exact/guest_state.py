"""What a guest can remember from call to call: its globals, closure, defaults and attributes, and generators.

A number that changed, a list that grew or a generator that moved is state: the next call may answer otherwise. A
dictionary may get new keys, since a cache of answers is no fault; whether it changes answers, calling again shows.
"""

import ctypes
import functools
import io
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rheocheck.exact.doors import OURS, is_installed, is_library

MOST_PLACES = 400  # of one guest: further ones are not watched
MOST_ITEMS = 512  # of one list or dictionary, likewise
DEEPEST = 5
GROWTH, LENGTH = " grew to", " has length"
SCALARS = (int, float, str, bytes, bool, type(None))
MOST_BYTES = 65_536  # of one array, likewise
MT19937_BYTES = 2500  # 624 words and the position in them
Numbers = dict[Any, Any]  # {name inside the place: number}
Place = tuple[str, Callable[[], Any]]  # (name, reads Numbers, or for a generator its whole state)


@dataclass
class Memory:
    """The places where a guest may keep something, found once; `now` reads them.

    iterator  the name of an iterator that the guest keeps, which is a state whatever it is: a call moves it on
    """

    iterator: str | None = None
    places: list[Place] = field(default_factory=list)
    _seen: dict[Any, Any] = field(default_factory=dict, repr=False)  # holding what was seen keeps its id

    @classmethod
    def of(cls, guest: Any) -> "Memory":
        """What `guest` can reach that is not a library's."""
        memory = cls()
        memory._reach("", guest, DEEPEST)
        memory.places.append(("numpy.random", numpy_position))
        return memory

    def now(self) -> list[Any]:
        """What every place holds."""
        return [read() for _, read in self.places]

    def changed(self, before: list[Any], after: list[Any], *, again: bool = False) -> str | None:
        """What changed, in words; None when nothing did. Asked `again`, no cache has a reason to grow either."""
        for (name, _), old, new in zip(self.places, before, after, strict=True):
            if old == new:
                continue
            if not isinstance(old, dict):
                return f"a draw of {name}"
            for key, value in old.items():
                if key in new and (again or key != GROWTH) and not _same(new[key], value):
                    shown = f"{name}[{key!r}]" if isinstance(key, int) else f"{name}{key}"
                    return f"a state that it keeps ({shown}: {value!r:.30}, then {new[key]!r:.30})"
        return None

    def _reach(self, name: str, thing: Any, deep: int) -> None:
        """Add every place that `thing` leads to."""
        if id(thing) in self._seen or deep < 0 or len(self.places) >= MOST_PLACES or type(thing) in SCALARS:
            return
        self._seen[id(thing)] = thing
        if isinstance(thing, Iterator) and not isinstance(thing, io.IOBase):
            self.iterator = self.iterator or name or type(thing).__name__
        self.places += _places(name, thing)
        for label, part in _parts(name, thing):
            self._reach(label, part, deep - 1)


def numpy_position() -> Any:
    """The state of NumPy's global generator, read where it lies; None when NumPy draws nothing here."""
    module = sys.modules.get("numpy.random.mtrand")
    if module is None:
        return None
    bits = module._rand._bit_generator
    if type(bits).__name__ != "MT19937":
        return repr(bits.state)
    return ctypes.string_at(bits.ctypes.state_address, MT19937_BYTES)


def _places(name: str, thing: Any) -> Iterator[Place]:
    """What of a thing can change by itself."""
    if isinstance(thing, dict):
        yield name, partial(_numbers, thing)
    elif isinstance(thing, list | deque | bytearray | set):
        yield name, partial(_length, thing)
    elif isinstance(thing, random.Random) and not isinstance(thing, random.SystemRandom):
        yield f"{name}, a random.Random", thing.getstate
    elif _is_numpy_generator(thing):
        bits = getattr(thing, "bit_generator", None) or getattr(thing, "_bit_generator", thing)
        yield f"{name}, a NumPy generator", lambda: repr(bits.state)
    elif isinstance(thing, types.FunctionType) and _is_users(thing.__code__.co_filename):
        for variable, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            yield variable, partial(_cell, cell)
        for variable in _global_names(thing):
            yield variable, partial(_global, thing.__globals__, variable)
        for module, names in _modules(thing):
            yield f"{module.__name__}.", partial(_numbers, vars(module), names)
    elif hasattr(thing, "__array_interface__") and getattr(thing, "nbytes", MOST_BYTES) < MOST_BYTES:
        yield name, lambda: {" in its entries": thing.tobytes()}
    elif type(thing).__name__ == "Tensor" and hasattr(thing, "_version"):
        yield name, lambda: {", changes in place": thing._version}
    elif isinstance(thing, type):
        if _is_users_class(thing):
            yield f"{thing.__name__}.", lambda: _numbers(dict(vars(thing)))
    elif _is_users_class(type(thing)) and not isinstance(thing, types.ModuleType):
        label = f"{name or type(thing).__name__}."
        yield label, lambda: _numbers({**getattr(thing, "__dict__", {}), **_slots(thing)})


def _parts(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing holds and may change, by name."""
    if isinstance(thing, types.FunctionType):
        if _is_users(thing.__code__.co_filename):
            yield from _of_function(thing)
    elif isinstance(thing, types.MethodType):
        yield from ((name, part) for part in (thing.__self__, thing.__func__))
    elif isinstance(thing, types.BuiltinMethodType):
        yield name, thing.__self__
    elif isinstance(thing, functools.partial):
        yield from ((name, part) for part in (thing.func, *thing.args, *thing.keywords.values()))
    elif isinstance(thing, dict):
        yield from ((name, part) for part in list(thing.values())[:MOST_ITEMS])
    elif isinstance(thing, list | deque | tuple):
        yield from ((name, part) for part in list(thing)[:MOST_ITEMS])
    elif isinstance(thing, type):
        if _is_users_class(thing):
            yield from ((f"{thing.__name__}.{key}", part) for key, part in list(vars(thing).items()))
    elif hasattr(thing, "__wrapped__"):
        yield name, thing.__wrapped__
    elif _is_users_class(type(thing)) and not isinstance(thing, types.ModuleType):
        label = name or type(thing).__name__
        held = {**getattr(thing, "__dict__", {}), **_slots(thing)}
        yield from ((f"{label}.{key}", part) for key, part in held.items())
        yield type(thing).__name__, type(thing)


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    defaults = function.__defaults__ or ()
    arguments = code.co_varnames[: code.co_argcount]
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
    yield f"{function.__name__}.", function.__dict__
    for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield from ((variable, content) for content in _cell(cell, whole=True).values())
    yield from ((variable, function.__globals__[variable]) for variable in _global_names(function))
    for module, names in _modules(function):
        if _is_users(getattr(module, "__file__", None) or OURS):
            held = {name: vars(module)[name] for name in sorted(names) if name in vars(module)}
            yield from ((f"{module.__name__}.{name}", part) for name, part in held.items())


def _modules(function: types.FunctionType) -> list[tuple[types.ModuleType, set[str]]]:
    """The modules that a function names, each with the names that it may mean by module.name."""
    names = _names(function.__code__)
    found = [function.__globals__.get(name) for name in sorted(names)]
    return [(module, names) for module in found if isinstance(module, types.ModuleType)]


def _slots(thing: Any) -> Numbers:
    names = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ()) if isinstance(name, str)]
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}


def _global_names(function: types.FunctionType) -> list[str]:
    return sorted(name for name in _names(function.__code__) if name in function.__globals__)


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def _numbers(namespace: dict[Any, Any], names: set[str] | None = None) -> Numbers:
    if names is not None:
        return {name: namespace[name] for name in names if type(namespace.get(name, names)) in SCALARS}
    numbers = {key: value for key, value in list(namespace.items())[:MOST_PLACES] if type(value) in SCALARS}
    return {**numbers, GROWTH: len(namespace)}


def _length(some: Any) -> Numbers:
    firsts = enumerate(list(some)[:MOST_ITEMS]) if not isinstance(some, set) else ()
    return {LENGTH: len(some), **{place: x for place, x in firsts if type(x) in SCALARS}}


def _cell(cell: types.CellType, whole: bool = False) -> Numbers:
    try:
        content = cell.cell_contents
    except ValueError:  # a variable without a value yet
        return {}
    return {"": content} if whole or type(content) in SCALARS else {}


def _global(namespace: dict[str, Any], name: str) -> Numbers:
    value = namespace.get(name)
    return {"": value} if type(value) in SCALARS else {}


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and (one == other or one != one)


def _is_users(file: str) -> bool:
    return not is_library(file) and not is_installed(file)


def _is_users_class(kind: type) -> bool:
    """Whether a class is the user's own, so that what it and its objects hold is worth a look."""
    if kind is types.SimpleNamespace:  # the library's, for the user to fill
        return True
    module = str(kind.__module__)
    file = getattr(sys.modules.get(module), "__file__", None)
    return module.partition(".")[0] not in sys.stdlib_module_names and (file is None or _is_users(file))


def _is_numpy_generator(thing: Any) -> bool:
    numpy = sys.modules.get("numpy.random")
    return numpy is not None and isinstance(thing, numpy.Generator | numpy.RandomState | numpy.BitGenerator)
