"""The one error of interception: what was done with a random number, where, and what to try."""

import linecache
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.sources import SOURCES

OURS = os.path.dirname(__file__) + os.sep
CALLER = os.path.join(os.path.dirname(__file__), "enumeration.py")
HALVES = ("float16", "bfloat16")
LIBRARIES = (
    *(*SOURCES, "bisect", "contextlib", "functools"),
    *("concurrent", "datetime", "multiprocessing", "pathlib", "secrets", "socket", "subprocess", "threading", "uuid"),
)


_refused: list[NotUnderstood] = []


def refusal(message: str) -> NotUnderstood:
    """A NotUnderstood that the run cannot survive: a subject that catches it is refused all the same."""
    error = NotUnderstood(message)
    _refused.append(error)
    return error


@contextmanager
def refusals_kept() -> Iterator[None]:
    """Raise the first refusal made within, whatever became of it."""
    before = len(_refused)
    try:
        yield
    finally:
        made = _refused[before:]
        del _refused[before:]
        if made:
            raise made[0]


def not_understood(what: str, advice: str) -> NotUnderstood:
    """The error for an operation that cannot be followed exactly, with the line of the subject that does it."""
    return refusal(f"an exact audit must follow every use of a random number, got {what} at {line()}: {advice}")


def check_precision(dtype: object) -> None:
    """Refuse a single random number used with numbers of a half type: Python and the libraries round it to that type.

    A coin against a ratio of 0.9961 in bfloat16 then falls True with probability 0.9941.
    """
    name = str(dtype).removeprefix("torch.")
    if name in HALVES:
        raise not_understood(
            f"a random number that is rounded to {name}, as a number without dimensions is beside that type",
            "turn the other side into float32 before",
        )


def line() -> str:
    """The innermost line that is neither ours nor a numerical library's, as "file.py:12"."""
    return next(_lines(), "an unknown line")


def caller() -> str | None:
    """The line that called the function of `line()`; None where that is the subject itself."""
    lines = _lines()
    here = next(lines, None)
    return next((outer for outer in lines if outer != here), None)


def _lines() -> Iterator[str]:
    """The subject's lines, the innermost first, without those of numerical libraries."""
    for frame in _frames():
        if not _of_a_library(frame):
            yield f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def importing() -> bool:
    """Whether the subject is importing a module just now: what that draws is no choice of the decoder."""
    return any(frame.f_code.co_filename == "<frozen importlib._bootstrap>" for frame in _frames())


def crash(error: BaseException) -> tuple[bool, str]:
    """Whether an exception out of a subject's call is a fault of interception, and the line that it comes from.

    Stand-ins raise on purpose what the real samplers raise, by a `raise`; anything else within them is our own crash.
    """
    frames = [(f.tb_frame, f.tb_lineno) for f in _traceback(error)]
    own = [one for one in frames if one[0].f_code.co_filename != CALLER and not _foreign(one[0])]
    frame, number = (own or frames)[-1]
    file = frame.f_code.co_filename
    on_purpose = linecache.getline(file, number).strip().startswith("raise ") and not isinstance(error, AssertionError)
    ours = file.startswith(OURS) and file != CALLER and not on_purpose
    theirs = [one for one in own if not one[0].f_code.co_filename.startswith(OURS)]
    shown, at = (frame, number) if ours or not theirs else theirs[-1]
    return ours, f"{os.path.basename(shown.f_code.co_filename)}:{at}"


def _traceback(error: BaseException) -> Iterator[TracebackType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _of_a_library(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").split(".")[0] in LIBRARIES


def _foreign(frame: FrameType) -> bool:
    """Whether a frame is neither ours nor the subject's."""
    return _of_a_library(frame) or frame.f_globals.get("__name__", "").split(".")[0] in sys.stdlib_module_names


def _frames() -> Iterator[FrameType]:
    """The subject's frames, the innermost first: those between our own that answer it and our own that call it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename != CALLER:
        if not frame.f_code.co_filename.startswith(OURS):
            yield frame
        frame = frame.f_back
