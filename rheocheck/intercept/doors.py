"""The doors by which entropy enters a process, and how each of them is guarded while a subject runs.

    refused   the operating system's bytes, names made of them, children and older pools of processes, the network
    marked    clocks and the hash of a string: `readings` that may be printed and seed, and decide nothing
    followed  `random.SystemRandom` and `secrets` (on_random), threads (doors_threads)
    kept      raw words of NumPy's bit generators and seed sequences (doors_numpy), torch.Generator (doors_torch)

A door is guarded only while a subject runs, and never for what a module draws while it is imported. Functions are
replaced wherever they are held: by modules, attributes, cells and defaults. What opens a file or starts a process is
heard by Python's audit hook, whatever the name that it was called by. Not guarded: the order of a set of strings, and
addresses (`id`); plain runs stand behind those.
"""

import asyncio
import builtins
import datetime
import importlib
import numbers
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from rheocheck.intercept import search
from rheocheck.intercept.errors import importing, not_understood
from rheocheck.intercept.held import held
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.readings import HASH, Reading, library_asks, marked, plain, stand_in

SEED = "draw from random, NumPy or torch, seeded with the call's `seed` or not at all"
INSIDE = "compute it in the call's own process, or audit by sampling"
CLOCK = "leave the clock to logs, or audit by sampling"
DEVICES = frozenset(("/dev/random", "/dev/urandom", "/dev/hwrng", "/proc/sys/kernel/random/uuid", "/proc/uptime"))


@dataclass(frozen=True)
class Door:
    """A way in: its name, and what to do instead."""

    name: str
    advice: str

    def refuse(self) -> Any:
        """Refuse what comes through it."""
        raise not_understood(self.name, self.advice)


BYTES = {name: SEED for name in ("os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4")}
REFUSED = BYTES | {name: CLOCK for name in ("timeit.timeit", "timeit.repeat", "os.times", "resource.getrusage")}
OF_A_TIME = ("time.localtime", "time.gmtime", "time.ctime", "time.asctime", "time.strftime")
CLOCKS = (
    *(
        f"time.{name}{ns}"
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
        for ns in ("", "_ns")
    ),
    *("time.clock_gettime", "time.clock_gettime_ns"),
    *OF_A_TIME,
)
HEARD = {  # events of Python's audit hook: docs.python.org/3/library/audit_events.html
    "subprocess.Popen": Door("a subprocess", INSIDE),
    "os.posix_spawn": Door("os.posix_spawn", INSIDE),
    "os.fork": Door("os.fork", INSIDE),
    "os.forkpty": Door("os.forkpty", INSIDE),
    "os.system": Door("os.system", INSIDE),
    "os.exec": Door("os.exec", INSIDE),
    "pty.spawn": Door("pty.spawn", INSIDE),
    "socket.connect": Door("a network connection", INSIDE),
    "socket.sendto": Door("a network message", INSIDE),
    "socket.sendmsg": Door("a network message", INSIDE),
    "socket.getaddrinfo": Door("a network name", INSIDE),
    "ctypes.dlopen": Door("a library opened by ctypes", SEED),
    "ctypes.dlsym": Door("a C function called by ctypes", SEED),
}


URANDOM = os.urandom
LOOP_TIME = asyncio.BaseEventLoop.time


def open_to(frame: FrameType) -> bool:
    """Whether a door is open: to libraries that only time themselves, and while a module is imported."""
    return library_asks(frame) or importing()


class Guard:
    """A function that stands in for another while a subject runs; no descriptor, as functions in C are none."""

    __slots__ = ("__wrapped__", "_answer")

    def __init__(self, original: Callable[..., Any], answer: Callable[..., Any]) -> None:
        self.__wrapped__, self._answer = original, answer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not search._active:
            return self.__wrapped__(*args, **kwargs)
        return self._answer(sys._getframe(1), self.__wrapped__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


@contextmanager
def entropy_doors(of_libraries: list[tuple[Any, Any]]) -> Iterator[None]:
    """Every door guarded: those of the standard library, and pairs (function, what stands in for it) of others.

    To be entered before what follows `random` and its like, which replaces what it finds then.
    """
    _listen()
    pairs = [(_found(name), _refusing(name, advice)) for name, advice in REFUSED.items() if _found(name)]
    pairs += [(_found(name), _marking(name)) for name in CLOCKS if _found(name)]
    pairs += [(builtins.hash, Guard(builtins.hash, _hash)), (time.sleep, Guard(time.sleep, _unmarked))]
    _open_devices()
    with ExitStack() as stack:
        stack.enter_context(held(pairs))
        stack.enter_context(rebound([*pairs, *_dates(), *of_libraries]))
        for owner, methods in _receivers():
            stack.enter_context(replaced(owner, methods))
        stack.enter_context(replaced(asyncio.BaseEventLoop, {"time": _loop_time}))
        yield


def _loop_time(loop: Any) -> Any:
    """The clock of an event loop, which asks for it itself all the time."""
    value = LOOP_TIME(loop)
    return value if not search._active or open_to(sys._getframe(1)) else marked(value, "the time of an event loop")


def _found(name: str) -> Any:
    module, function = name.split(".")
    try:
        return getattr(importlib.import_module(module), function, None)
    except ImportError:  # not on this system
        return None


def _refusing(name: str, advice: str) -> Guard:
    def answer(frame: FrameType, original: Any, *args: Any, **kwargs: Any) -> Any:
        if importing() or (name not in BYTES and library_asks(frame)):
            return original(*args, **kwargs)
        return Door(name, advice).refuse()

    return Guard(_found(name), answer)


def _marking(name: str) -> Guard:
    def answer(frame: FrameType, original: Any, *args: Any) -> Any:
        value = original(*map(plain, args))
        given = len(args) == (2 if name == "time.strftime" else 1) and name in OF_A_TIME  # of a time that came with it
        return value if given or open_to(frame) else marked(value, name)

    return Guard(_found(name), answer)


def _unmarked(frame: FrameType, original: Any, *args: Any) -> Any:
    return original(*map(plain, args))


def _hash(frame: FrameType, original: Any, value: Any) -> Any:
    """The hash of a string or an object is another one in every process; that of numbers is not."""
    if _of_numbers(value) or frame.f_code.co_name == "__hash__" or library_asks(frame):
        return original(value)
    if isinstance(value, Reading):
        return Reading(original(value), HASH)
    return marked(original(value), HASH)


def _of_numbers(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_of_numbers, value))
    return isinstance(value, numbers.Number | None)


# -- dates -------------------------------------------------------------------------------------------------------------


def _dates() -> list[tuple[Any, Any]]:
    """The classes of dates, whose now() and today() are readings."""

    def now(name: str, original: Any) -> Any:
        def read(cls: type, *args: Any, **kwargs: Any) -> Any:
            value = original(*args, **kwargs)
            return value if not search._active or open_to(sys._getframe(1)) else marked(value, name)

        return classmethod(read)

    pairs = []
    for kind, names in ((datetime.datetime, ("now", "utcnow", "today")), (datetime.date, ("today",))):
        methods = {name: now(f"{kind.__name__}.{name}", getattr(kind, name)) for name in names}
        pairs.append((kind, stand_in(kind, methods)))
    return pairs


# -- what is heard by the audit hook -----------------------------------------------------------------------------------

_listening: list[bool] = []


def _listen() -> None:
    """Install the hook, which cannot be taken away again: once, and deaf while no subject runs."""
    if not _listening:
        sys.addaudithook(_heard)
        _listening.append(True)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if not search._active:
        return
    if event == "open":
        if _is_device(args[0]) and not importing():
            Door(os.fsdecode(args[0]), SEED).refuse()
    elif event in HEARD and not importing() and not (event.startswith("ctypes.") and _by_library()):
        HEARD[event].refuse()


def _is_device(path: Any) -> bool:
    return isinstance(path, str | bytes | os.PathLike) and os.path.realpath(os.fsdecode(path)) in DEVICES


def _by_library() -> bool:
    """Whether a library that we know asks, through ctypes' own attribute look-up."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.endswith(os.path.join("ctypes", "__init__.py")):
        frame = frame.f_back
    return frame is not None and library_asks(frame)


def _open_devices() -> None:
    """Refuse a device of random bytes that was opened before."""
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:  # no Linux
        return
    for number in descriptors:
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
        except OSError:  # the listing's own
            continue
        if path in DEVICES:
            Door(f"{path}, which was open before the audit,", f"close it; {SEED}").refuse()


# -- connections and children older than the audit ---------------------------------------------------------------------

NETWORK = Door("data from the network", INSIDE)
PROCESSES = Door("another process", INSIDE)
OWN = frozenset(("_read_from_self", "_wait_for_updates"))  # how an event loop and a pool of threads wake themselves up
POOL = "apply apply_async map map_async starmap starmap_async imap imap_unordered".split()


def _receivers() -> Iterator[tuple[Any, dict[str, Any]]]:
    """The methods by which data of other processes arrive, refused, where their modules are loaded."""
    for module, kind, names, door in (
        ("socket", "socket", "recv recv_into recvfrom recvfrom_into recvmsg".split(), NETWORK),
        ("ssl", "SSLSocket", ["read"], NETWORK),
        ("subprocess", "Popen", ["communicate"], PROCESSES),
        ("multiprocessing.process", "BaseProcess", ["start"], PROCESSES),
        ("multiprocessing.pool", "Pool", POOL, PROCESSES),
        ("multiprocessing.connection", "_ConnectionBase", ["recv", "recv_bytes"], PROCESSES),
        ("multiprocessing.queues", "Queue", ["get"], PROCESSES),
        ("multiprocessing.queues", "SimpleQueue", ["get"], PROCESSES),
        ("concurrent.futures.process", "ProcessPoolExecutor", ["submit"], PROCESSES),
    ):
        if module in sys.modules:
            owner = getattr(sys.modules[module], kind)
            yield owner, {name: _refused_in_a_run(getattr(owner, name), door) for name in names}


def _refused_in_a_run(original: Any, door: Door) -> Callable[..., Any]:
    def receive(self: Any, *args: Any, **kwargs: Any) -> Any:
        if search._active and type(self).__name__ != "ThreadPool" and not _wakes_itself() and not importing():
            door.refuse()
        return original(self, *args, **kwargs)

    return receive


def _wakes_itself() -> bool:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(3):
        if frame is not None and frame.f_code.co_name in OWN:
            return True
        frame = frame and frame.f_back
    return False
