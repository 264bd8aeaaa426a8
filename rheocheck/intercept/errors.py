"""The one error of interception: what was done with a random number, where, and what to try."""

import os
import sys
from types import FrameType

from rheocheck.core.errors import NotUnderstood

OURS = os.path.dirname(__file__) + os.sep
LIBRARIES = ("torch", "numpy", "jax", "random", "bisect", "contextlib", "functools")


def not_understood(what: str, advice: str) -> NotUnderstood:
    """The error for an operation that cannot be followed exactly, with the line of the subject that does it."""
    return NotUnderstood(f"an exact audit must follow every use of a random number, got {what} at {line()}: {advice}")


def line() -> str:
    """The innermost line that is neither ours nor a numerical library's, as "file.py:12"."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        ours = frame.f_code.co_filename.startswith(OURS)
        if not ours and module.split(".")[0] not in LIBRARIES:
            return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown line"
