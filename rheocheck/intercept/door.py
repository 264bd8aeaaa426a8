"""A door by which entropy enters a process: its name, its advice, and the guard before it."""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from rheocheck.intercept import search
from rheocheck.intercept.errors import importing, not_understood
from rheocheck.intercept.readings import library_asks

SEED = "draw from random, NumPy or torch, seeded with the call's `seed` or not at all"
INSIDE = "compute it in the call's own process, or audit by sampling"
CLOCK = "leave the clock to logs, or audit by sampling"
URANDOM = os.urandom


@dataclass(frozen=True)
class Door:
    """A way in: its name, and what to do instead."""

    name: str
    advice: str

    def refuse(self) -> Any:
        """Refuse what comes through it."""
        raise not_understood(self.name, self.advice)


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


def named(name: str) -> Any:
    """The function of a name such as time.time, or None where a system has none."""
    module, function = name.split(".")
    try:
        return getattr(importlib.import_module(module), function, None)
    except ImportError:  # not on this system
        return None
