"""What the command line decides for all assertions of a run, and the seed of each."""

import hashlib
from dataclasses import dataclass
from typing import Any

import pytest

CAPACITY = 1000  # assertions a suite may hold; each has 1/1000 of the suite's alpha, whichever of them run
PROPERTY = "rheocheck"  # the key of an assertion's record among a test's user_properties (junit, xdist)


@dataclass(frozen=True)
class SuiteSettings:
    """root, attempt: where seeds come from; suite_alpha: false alarms of the whole suite; eps, samples: defaults."""

    root: int
    attempt: int
    suite_alpha: float
    eps: float | None
    samples: int | None

    @classmethod
    def of(cls, config: pytest.Config) -> "SuiteSettings":
        """The settings of a run. Raises pytest.UsageError when an option is out of range."""
        values = {name: config.getoption(f"rheo_{name}") for name in ("seed", "attempt", "alpha", "eps", "samples")}
        for name, holds, must in (
            ("seed", values["seed"] >= 0, "an integer of at least 0"),
            ("attempt", values["attempt"] >= 0, "an integer of at least 0"),
            ("alpha", 1e-100 <= values["alpha"] < 1, "at least 1e-100 and below 1"),
            ("eps", values["eps"] is None or 0 < values["eps"] < 1, "strictly between 0 and 1"),
            ("samples", values["samples"] is None or values["samples"] >= 1, "an integer of at least 1"),
        ):
            if not holds:
                raise pytest.UsageError(f"--rheo-{name} must be {must}, got {values[name]!r}")
        return cls(values["seed"], values["attempt"], values["alpha"], values["eps"], values["samples"])

    @property
    def alpha(self) -> float:
        """The level of one assertion: fixed, so a verdict does not depend on which other tests ran."""
        return self.suite_alpha / CAPACITY

    def seed(self, nodeid: str, number: int) -> int:
        """The seed of a test's n-th assertion: of its node id, not of the order, -k or -n of the run."""
        text = f"{self.root}\0{self.attempt}\0{nodeid}\0{number}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")

    def reproduce(self, nodeid: str) -> str:
        """The command that repeats a test's draws."""
        return f"pytest '{nodeid}' --rheo-seed={self.root:#x} --rheo-attempt={self.attempt}"


Record = dict[str, Any]  # an assertion's verdict with its node id, plain enough for junit and xdist
