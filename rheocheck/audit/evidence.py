"""What a sequential audit asks of the thing it compares: the interface of `AgainstLaw` and `AgainstBaseline`."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.verdict import Boundary, Witness
from rheocheck.stats.plan import Plan

Ints = NDArray[np.int64]


class Evidence(Protocol):
    """Draws so far, and what they say.

    log_e, peak  ln E now, and its maximum over all looks: biased at ln(1/alpha)
    tv_upper     the running upper bound on TV of `object()`: no bias found at eps
    plan         the budget that was computed before the first draw
    length, law  tokens of the object, and its law [cells] (against a baseline: an estimate from a pilot)
    """

    reference: str
    log_e: float
    peak: float
    tv_upper: float
    plan: Plan
    length: int
    law: NDArray[np.float64]

    @property
    def n(self) -> int: ...
    def object(self) -> str: ...
    def add(self, *draws: "Draws") -> None: ...
    def look(self) -> None: ...
    def clean(self) -> bool: ...
    def statistics(self) -> dict[str, float]: ...
    def estimate(self) -> float: ...
    def tv_lower(self, delta: float) -> float: ...
    def detectable(self, alpha: float) -> float: ...
    def cross_check(self) -> float: ...
    def diagnosis(self) -> str | None: ...
    def witness(self) -> Witness: ...
    def boundary_tokens(self) -> tuple[Boundary, ...]: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...


class Draws:
    """Words of one source in order of generation, and which row of which call each one is.

    words  [n, L]; rows, calls  [n]
    """

    def __init__(self, words: Ints, rows: Ints, calls: Ints) -> None:
        self.words, self.rows, self.calls = words, rows, calls

    @classmethod
    def joined(cls, parts: list["Draws"], tokens: int) -> "Draws":
        """All parts in order; no parts are no draws."""
        none = np.zeros(0, dtype=np.int64)
        return cls(
            np.concatenate([np.zeros((0, tokens), dtype=np.int64), *(part.words for part in parts)]),
            np.concatenate([none, *(part.rows for part in parts)]),
            np.concatenate([none, *(part.calls for part in parts)]),
        )

    def __len__(self) -> int:
        return len(self.words)

    def first(self, n: int) -> "Draws":
        """The first n of them."""
        return Draws(self.words[:n], self.rows[:n], self.calls[:n])
