"""Where random numbers come from: one file a library, followed while a subject runs if that library is imported.

    SOURCES   the libraries, in the order in which they are taken over; each has a file of its name here
    imported  those that are imported now

To add one, write a file here with a `SOURCE` and put the library's name into SOURCES.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol

SOURCES = ("random", "numpy", "torch", "jax")


class Source(Protocol):
    """What interception does with one library, such as `random`: `random.random()` hands out noise of the run.

    A draw that it does not know must be refused (`errors.not_understood`), never left alone: an unseen draw makes the
    enumerated law a law of something else.
    """

    def stand_ins(self) -> list[tuple[Any, Any]]:
        """Give pairs (function or class, what stands in for it) of its doors: what seeds, or reads entropy."""

    def followed(self, streams: Any) -> list[AbstractContextManager[Any]]:
        """Give the contexts within which its draws come from `streams` (a `Streams`), to be entered in order."""


def imported() -> tuple[str, ...]:
    """The libraries of SOURCES that are imported."""
    return tuple(library for library in SOURCES if library in sys.modules)


def sources() -> Iterator[Source]:
    """The sources of the libraries that are imported."""
    for library in imported():
        source: Source = import_module(f"{__name__}.{library}").SOURCE
        yield source
