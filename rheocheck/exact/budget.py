"""A budget of work: how many classes and how much time an enumeration may spend before it stops with an interval."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rheocheck.core.errors import InputError

Progress = Callable[[Any, int], None]  # (probability covered so far, classes so far)

ENUMERATION = 0.7  # share of max_seconds that an enumeration may take: what it found must still be pushed through


@dataclass
class Budget:
    """Counts classes and watches the clock and Ctrl-C.

    max_classes  stop after so many classes, None for no limit
    max_seconds  stop after so much wall-clock time, None for no limit
    progress     called now and then with the probability covered and the classes enumerated

    stopped      why the enumeration ended early ("max_classes", "max_seconds", "interrupted"), or None
    """

    max_classes: int | None = None
    max_seconds: float | None = None
    progress: Progress | None = None
    stopped: str | None = None
    classes: int = 0
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.max_seconds is not None and not self.max_seconds >= 0:
            raise InputError(f"max_seconds must be a number of at least 0, got {self.max_seconds!r}; try 60")

    def spend(self, covered: Any) -> bool:
        """Count one class; False when the budget is spent."""
        self.classes += 1
        if self.max_classes is not None and self.classes >= self.max_classes:
            self.stopped = self.stopped or "max_classes"
        if self.progress is not None and self.classes % 1024 == 0:
            self.progress(covered, self.classes)
        if self.max_seconds is not None and self.seconds() >= ENUMERATION * self.max_seconds:
            self.stopped = self.stopped or "max_seconds"
        return self.stopped is None

    def late(self) -> bool:
        """Whether the time is up; asked by what follows an enumeration, which `stopped` does not stop."""
        if self.max_seconds is None or self.seconds() < self.max_seconds:
            return False
        self.stopped = self.stopped or "max_seconds"
        return True

    def seconds(self) -> float:
        return time.monotonic() - self.started
