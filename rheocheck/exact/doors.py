"""Doors by which chance enters unasked: what a rule, a builder or a verifier calls while it runs.

    with no_door(file of the guest): ...    # InputError at the call, with its file and line

Every call of a C function is looked at (`sys.setprofile`), so a `random` that was imported long ago under another
name is seen as well. What cannot be seen so, draws of NumPy, moves a generator: see guest_state.
"""

import _random
import functools
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rheocheck.core.errors import InputError

OURS = str(Path(__file__).parents[1])
LIBRARY = str(Path(os.__file__).parent)
GUESTS = str(Path(__file__).with_name("guests.py"))  # its frame called the guest
IMPORTING = "<frozen importlib"

ENTROPY = {  # names of functions, by module
    "posix": (
        "urandom",
        "getrandom",
        "fork",
        "forkpty",
        "system",
        "posix_spawn",
        "posix_spawnp",
        "putenv",
        "getloadavg",
    ),
    "nt": ("urandom",),
    "sys": ("getallocatedblocks", "getrefcount"),
    "gc": ("get_count", "get_stats", "get_objects"),
    "_uuid": ("generate_time_safe", "UuidCreate"),
    "_thread": ("start_new_thread", "start_joinable_thread"),
    "_posixsubprocess": ("fork_exec",),
    "_ssl": ("RAND_bytes",),
}
CLOCKS = {
    getattr(time, name)
    for name in (
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
        "process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "clock_gettime_ns", "localtime", "gmtime",
        "ctime", "asctime",
    )
    if hasattr(time, name)
} | {os.times}  # fmt: skip
DATES = {"now", "utcnow", "today"}
MEMORY = (id, hash)  # differ from call to call, or from process to process
OF_RANDOM = {"random", "getrandbits", "seed", "setstate"}  # what every draw of a random.Random ends in
TORCH_DRAWS = {
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "multinomial", "bernoulli",
    "bernoulli_", "binomial", "normal", "normal_", "poisson", "uniform_", "random_", "exponential_", "geometric_",
    "cauchy_", "log_normal_", "dropout", "dropout_", "alpha_dropout", "feature_dropout", "rrelu", "manual_seed", "seed",
}  # fmt: skip


# The names of all of these: most calls are none of them, and are told so at once.
SUSPECTS = frozenset(
    {*OF_RANDOM, *DATES, *TORCH_DRAWS, "put", "id", "hash"}
    | {name for names in ENTROPY.values() for name in names}
    | {clock.__name__ for clock in CLOCKS}
)


@contextmanager
def no_door(home: str) -> Iterator[None]:
    """Raise InputError at the first call that lets chance in, and again at the end if the guest swallowed it.

    home  the guest's own file, which may lie where libraries do
    """
    found: list[InputError] = []

    def look(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in SUSPECTS:
            what = _let_in(function, frame, home)
            where = what and user_line(frame)
            if where:
                found.append(refusal(f"{what} at {where}"))
                raise found[0]

    before = sys.getprofile()
    _watch_files()
    _OPENED.append(found)
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)
        _OPENED.pop()
        if found:
            raise found[0]


_OPENED: list[list[InputError]] = []  # what to tell of a device that is opened, innermost guest last


@functools.cache
def _watch_files() -> None:
    """From now on, see which devices are opened while a guest runs: no call shows its arguments."""

    def opened(event: str, arguments: Any) -> None:
        device = _device(arguments[0]) if event == "open" and _OPENED else None
        if device is not None:
            where = user_line(sys._getframe(1))
            if where:
                _OPENED[-1].append(refusal(f"{device}, entropy of the system, at {where}"))
                raise _OPENED[-1][0]

    sys.addaudithook(opened)


def _device(path: Any) -> str | None:
    """The device or the figures of the kernel that a path of any spelling leads to, or None."""
    if not isinstance(path, str | bytes | os.PathLike):
        return None  # a descriptor: its own opening was seen
    real = os.path.realpath(os.fsdecode(path))
    return real if real.startswith(("/dev/", "/proc/")) else None


def refusal(what: str) -> InputError:
    """The error for a guest that is no function of its arguments and its chance."""
    return InputError(f"must depend on its chance alone, got {what}; draw with chance.choose and chance.flip")


def user_line(frame: FrameType | None) -> str | None:
    """file:line of the innermost frame that is nobody's library; None where a module is being imported."""
    innermost = frame
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(IMPORTING):
            return None
        if file == GUESTS:
            break
        if not is_library(file) and not is_installed(file):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return f"{innermost.f_code.co_filename}:{innermost.f_lineno}" if innermost else None


def is_library(file: str) -> bool:
    """Whether a file is the standard library's or ours."""
    return file.startswith((OURS, "<frozen")) or (file.startswith(LIBRARY) and not is_installed(file))


def is_installed(file: str) -> bool:
    """Whether a file is a third party's."""
    return f"-packages{os.sep}" in file


def _let_in(function: Any, frame: FrameType, home: str) -> str | None:
    """What comes in by this call, or None."""
    owner, name = getattr(function, "__self__", None), function.__name__
    if isinstance(owner, _random.Random):
        kind = "random" if owner is getattr(random, "_inst", None) else f"random.{type(owner).__name__}"
        return f"a draw of {kind} ({name})"
    if name in ENTROPY.get(getattr(owner, "__name__", ""), ()):
        return f"{name}, entropy of the system"
    if name == "put" and type(owner).__name__ == "SimpleQueue":
        return "work handed to another thread"
    if name in TORCH_DRAWS and _is_torch(function, owner):
        return f"a draw of torch ({name})"
    file = frame.f_code.co_filename
    if is_library(file) or (is_installed(file) and file != home):
        return None  # what a library times or hashes for itself is no answer of the guest
    if function in CLOCKS or (name in DATES and _is_date(owner)):
        return f"the clock ({name})"
    if any(function is place for place in MEMORY) and frame.f_code.co_name != "__hash__":
        return f"{name}(), which differs between calls or processes"
    return None


def _is_torch(function: Any, owner: Any) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return isinstance(owner, torch.Tensor | torch.Generator) or getattr(torch, function.__name__, None) is function


def _is_date(owner: Any) -> bool:
    return isinstance(owner, type) and owner.__module__ == "datetime"
