"""Numbers that come from outside: a clock's, the system's, the hash of a string. They may not decide what is emitted.

A reading goes where it does no harm: into sums and differences, into print and logs, and into a seed, where it is
fresh noise. What is computed from it is a reading again. A comparison, a conversion or an index is a decision by
what no run repeats, and is refused by the name of the door that the number came through.
"""

import datetime
import dis
import functools
import json
import os
import sys
import sysconfig
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any, NoReturn

from rheocheck.intercept.errors import OURS, not_understood
from rheocheck.intercept.noise import Noise

STANDARD = sysconfig.get_path("stdlib") + os.sep
# They time themselves, and nothing that they hand out depends on it.
TIMED = (
    "torch",
    "numpy",
    "jax",
    "jaxlib",
    "scipy",
    "triton",
    "tqdm",
    "rich",
    "pytest",
    "_pytest",
    "pluggy",
    "coverage",
    "hypothesis",
    "flashspec",  # its bandit learns from times which draft length is quick: plain runs stand behind it
)
RUNNERS = frozenset(
    os.path.join(STANDARD, *path) for path in (("threading.py",), ("concurrent", "futures", "thread.py"))
)
HASH = "the hash of a string or an object"  # the same all through a process: as a key of a dict it decides nothing


@functools.cache
def is_library(filename: str) -> bool:
    """Whether a file is the standard library's, ours, or of a library that only times itself."""
    if filename.startswith(("<frozen ", OURS)):
        return True
    if "site-packages" in filename:
        return filename.split("site-packages" + os.sep)[-1].split(os.sep)[0] in TIMED
    return filename.startswith(STANDARD)


def library_asks(frame: FrameType) -> bool:
    """Whether a frame is of the standard library or of one that only times itself, and hands on no result of ours."""
    code = frame.f_code
    return is_library(code.co_filename) and not (code.co_name == "run" and code.co_filename in RUNNERS)


def plain(value: Any) -> Any:
    """A value without the marks of readings, inside lists and tuples too: for a seed, which may be anything."""
    if isinstance(value, Reading):
        return value._value
    if isinstance(value, Told):
        return str.__str__(value)
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def seedable(seeder: Callable[..., Any]) -> Callable[..., Any]:
    """A function that seeds, which takes readings too."""

    @functools.wraps(seeder)
    def seeded(*args: Any, **kwargs: Any) -> Any:
        return seeder(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()})

    return seeded


def stand_in(kind: Any, members: dict[str, Any]) -> Any:
    """A subclass that stands in for its base: whatever is of the base is of it."""
    checks = {
        "__instancecheck__": lambda cls, instance: isinstance(instance, kind),
        "__subclasscheck__": lambda cls, subclass: issubclass(subclass, kind),
    }
    meta = type(kind)
    members = {"__module__": kind.__module__, **members}
    return type(meta.__name__, (meta,), checks)(kind.__name__, (kind,), members)


def marked(value: Any, door: str) -> Any:
    """A value known to come through a door."""
    if isinstance(value, str):
        return Told.of(value, door)
    return value if value is None or value is NotImplemented else Reading(value, door)


def decides(door: str, how: str) -> NoReturn:
    """Refuse a decision on what came through a door."""
    raise not_understood(f"{door} {how}", "decide by a random number of the subject's seed; clocks are for logs")


class Reading:
    """A value from outside (number, time, bytes ..): it is added, formatted and seeds; it decides nothing."""

    __slots__ = ("_door", "_value")
    __array_ufunc__ = None  # NumPy's own numbers leave arithmetic to this class

    def __init__(self, value: Any, door: str = "a clock") -> None:
        self._value, self._door = value, door

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._value, name)
        if not callable(found):
            return marked(found, self._door)
        return lambda *args, **kwargs: marked(
            found(*map(plain, args), **{key: plain(x) for key, x in kwargs.items()}), self._door
        )

    def __getitem__(self, index: Any) -> Any:
        return marked(self._value[plain(index)], self._door)

    def __round__(self, digits: int | None = None) -> Any:
        return marked(round(self._value, digits), self._door)

    def __format__(self, spec: str) -> str:
        return Told.of(format(self._value, spec), self._door)

    def __str__(self) -> str:
        return Told.of(str(self._value), self._door)

    def __repr__(self) -> str:
        return Told.of(repr(self._value), self._door)

    def __hash__(self) -> int:
        return hash(self._value) if self._door == HASH else decides(self._door, "as a key")

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Reading) and self._door == other._door == HASH:
            return self._value == other._value
        return decides(self._door, "compared")

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __deepcopy__(self, memo: Any) -> "Reading":
        return self


def _computed(name: str) -> Callable[..., Any]:
    """An operator of numbers, whose result is a reading."""

    def operator(self: Reading, *others: Any) -> Any:
        for other in others:
            if not isinstance(other, COUNTED):
                decides(self._door, f"put together with a {type(other).__name__}")
        values = [plain(other) for other in others]
        result = getattr(self._value, name)(*values) if hasattr(self._value, name) else NotImplemented
        if result is NotImplemented and isinstance(self._value, int) and values:  # int with float: as a float
            result = getattr(float(self._value), name, lambda *_: NotImplemented)(*values)
        return marked(result, self._door)

    return operator


def _formats(frame: FrameType) -> bool:
    """Whether a frame is at an operator: there, "%.2f" % reading is all that asks for a plain number."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("BINARY_")


def _converted(name: str, how: str) -> Callable[..., Any]:
    """A conversion: allowed to libraries that format or wait, a decision for anybody else."""

    def convert(self: Reading, *others: Any, **_: Any) -> Any:
        frame = sys._getframe(1)
        library = library_asks(frame) and not frame.f_code.co_filename.startswith(OURS)
        if library or (name in ("__int__", "__float__") and _formats(frame)):
            return getattr(self._value, name)(*others)
        return decides(self._door, how)

    return convert


def written(encoder: Any, value: Any) -> Any:
    """What a JSONEncoder writes for a value that it does not know: of a reading, the text that a log holds."""
    return plain(value) if isinstance(value, Reading) else ENCODED(encoder, value)


ENCODED = json.JSONEncoder.default
COUNTED = (int, float, complex, Fraction, Noise, Reading, datetime.date, datetime.timedelta)  # what readings go with
ARITHMETIC = "add sub mul truediv floordiv mod divmod pow lshift rshift and or xor".split()
for _name in (*ARITHMETIC, *(f"r{name}" for name in ARITHMETIC), *"neg pos abs invert floor ceil trunc".split()):
    setattr(Reading, f"__{_name}__", _computed(f"__{_name}__"))
for _name, _how in {
    "lt": "compared", "le": "compared", "gt": "compared", "ge": "compared", "bool": "as a condition",
    "int": "made a plain number", "float": "made a plain number", "complex": "made a plain number",
    "index": "as an index", "bytes": "made plain bytes", "iter": "taken apart", "len": "measured",
    "contains": "searched", "array": "put into an array", "setitem": "changed",
}.items():  # fmt: skip
    setattr(Reading, f"__{_name}__", _converted(f"__{_name}__", _how))


class Told(str):
    """A text about a reading: to be printed or logged, not to be looked into."""

    door: str

    @classmethod
    def of(cls, text: str, door: str) -> "Told":
        """The text of what came through a door."""
        told = str.__new__(cls, text)
        told.door = door
        return told

    def __str__(self) -> str:
        return self

    def __format__(self, spec: str) -> str:
        return Told.of(str.__format__(self, spec), self.door)

    def __add__(self, other: str) -> "Told":
        return Told.of(str.__add__(self, other), self.door)

    def __radd__(self, other: str) -> "Told":
        return Told.of(str.__add__(other, self), self.door)

    def __int__(self) -> int:
        return decides(self.door, "read back from a text")

    def __float__(self) -> float:
        return decides(self.door, "read back from a text")


def _looked_into(name: str) -> Callable[..., Any]:
    original = getattr(str, name)

    def method(self: Told, *args: Any, **kwargs: Any) -> Any:
        if library_asks(sys._getframe(1)):
            return original(self, *args, **kwargs)
        return decides(self.door, "read back from a text")

    return method


for _name in (
    *"__getitem__ __iter__ __contains__ __hash__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__".split(),
    *(name for name in vars(str) if not name.startswith("_") and name != "maketrans"),
):
    setattr(Told, _name, _looked_into(_name))
