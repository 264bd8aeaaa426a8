"""What is older than the audit and cannot be replaced by name: bit generators, and pipes to other processes."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from rheocheck.intercept import search
from rheocheck.intercept.doors_numpy import KINDS
from rheocheck.intercept.outside import PROCESSES
from rheocheck.intercept.patching import alive, replaced
from rheocheck.intercept.positions import numpy_position
from rheocheck.intercept.streams import Streams

OLDER = KINDS | {subprocess.Popen, np.random.Generator, np.random.RandomState}


@contextmanager
def older_sources(streams: Streams) -> Iterator[None]:
    """Older bit generators watched: drawn from by themselves, they have moved unseen. Older pipes shut."""
    found = alive(OLDER)
    with ExitStack() as stack:
        for one in found:
            if type(one) is subprocess.Popen:
                pipes = {name: _Shut(getattr(one, name)) for name in ("stdout", "stderr") if getattr(one, name, None)}
                stack.enter_context(replaced(one, pipes))
            elif type(one) in KINDS:
                streams.watch(id(one), f"a numpy {type(one).__name__}", partial(numpy_position, one))
        del found
        yield


class _Shut:
    """A pipe that is not read from while a subject runs."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe

    def __getattr__(self, name: str) -> Any:
        return PROCESSES.refuse() if search._active else getattr(self._pipe, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(PROCESSES.refuse() if search._active else self._pipe)
