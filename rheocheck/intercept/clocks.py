"""Clocks: what they tell is a reading, to be printed, subtracted and seeded with, and to decide nothing.

Libraries that time themselves get plain numbers: `readings.library_asks`.
"""

import asyncio
import datetime
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rheocheck.intercept import search
from rheocheck.intercept.door import Guard, named, open_to
from rheocheck.intercept.patching import replaced
from rheocheck.intercept.readings import marked, plain, stand_in

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
LOOP_TIME = asyncio.BaseEventLoop.time


def clock_guards() -> list[tuple[Any, Any]]:
    """The functions of `time`, and what stands in for each."""
    guards = [(named(name), _marking(name)) for name in CLOCKS if named(name)]
    return [*guards, (time.sleep, Guard(time.sleep, _unmarked))]


@contextmanager
def event_loop_clock() -> Iterator[None]:
    """The clock of event loops, which the loops themselves ask all the time."""
    with replaced(asyncio.BaseEventLoop, {"time": _loop_time}):
        yield


def _loop_time(loop: Any) -> Any:
    value = LOOP_TIME(loop)
    return value if not search._active or open_to(sys._getframe(1)) else marked(value, "the time of an event loop")


def _marking(name: str) -> Guard:
    def answer(frame: FrameType, original: Any, *args: Any) -> Any:
        value = original(*map(plain, args))
        given = len(args) == (2 if name == "time.strftime" else 1) and name in OF_A_TIME  # of a time that came with it
        return value if given or open_to(frame) else marked(value, name)

    return Guard(named(name), answer)


def _unmarked(frame: FrameType, original: Any, *args: Any) -> Any:
    return original(*map(plain, args))


def date_classes() -> list[tuple[Any, Any]]:
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
