"""Devices of random bytes, other processes and the network: refused while a subject runs.

What opens a file, starts a process or connects is heard by Python's audit hook, whatever name it was called by; what
was open before is refused where its data arrive.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

from rheocheck.intercept import search
from rheocheck.intercept.door import INSIDE, SEED, Door
from rheocheck.intercept.errors import importing
from rheocheck.intercept.patching import replaced
from rheocheck.intercept.readings import library_asks
from rheocheck.intercept.run import Run

DEVICES = frozenset(("/dev/random", "/dev/urandom", "/dev/hwrng", "/proc/sys/kernel/random/uuid", "/proc/uptime"))
DEVICE_NAMES = frozenset(map(os.path.basename, DEVICES))
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
NETWORK = Door("data from the network", INSIDE)
PROCESSES = Door("another process", INSIDE)
NAMES = Door("a random name of tempfile", "make files and processes before the audit")
OWN = frozenset(("_read_from_self", "_wait_for_updates"))  # how an event loop and a pool of threads wake themselves up
POOL = "apply apply_async map map_async starmap starmap_async imap imap_unordered".split()


@contextmanager
def outside_refused() -> Iterator[None]:
    """Everything outside the process refused."""
    _listen()
    _open_devices()
    with ExitStack() as stack:
        for owner, methods in _receivers():
            stack.enter_context(replaced(owner, methods))
        yield


_listening: list[bool] = []


def _listen() -> None:
    """Install the hook, which cannot be taken away again: once, and deaf while no subject runs."""
    if not _listening:
        sys.addaudithook(_heard)
        _listening.append(True)


def _heard(event: str, args: tuple[Any, ...], running: list[Run] = search._active) -> None:  # noqa: B006
    if not running:  # a default, since names of the module are gone when the interpreter ends and events go on
        return
    if event == "open":
        if _is_device(args[0]) and not importing():
            Door(os.fsdecode(args[0]), SEED).refuse()
    elif event in HEARD and not importing() and not (event.startswith("ctypes.") and _by_library()):
        HEARD[event].refuse()


def _is_device(path: Any) -> bool:
    """Whether a path is of a device; relative to what, `os.open(.., dir_fd=)` does not tell the hook."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    name = os.fsdecode(path)
    elsewhere = not os.path.isabs(name) and not os.path.exists(name)
    return os.path.realpath(name) in DEVICES or (elsewhere and os.path.basename(name) in DEVICE_NAMES)


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
        ("tempfile", "_RandomNameSequence", ["__next__"], NAMES),  # of files, and of what processes share
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
