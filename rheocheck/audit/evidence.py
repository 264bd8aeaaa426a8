"""What a sequential audit asks of the thing it compares: the interface of `AgainstLaw` and `AgainstBaseline`."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import BoundaryToken, Witness
from rheocheck.stats.plan import Plan

Ints = NDArray[np.int64]


class Evidence(Protocol):
    """Draws so far, and what they say.

    log_e, peak  ln E now, and its maximum over all looks: biased at ln(1/alpha)
    tv_upper     the running upper bound on TV of `object()`: no bias found at `tv`
    plan         the budget that was computed before the first draw
    planned      draws at which there must be a look
    needed       draws that bound the object for almost every correct subject; None where no number does
    words        possible words of the object, as far as they are known
    bounded      (tokens, bound): the longest prefix with a bound of at most tv, else the first token
    """

    reference: str
    plan: Plan

    @property
    def log_e(self) -> float: ...
    @property
    def peak(self) -> float: ...
    @property
    def tv_upper(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def planned(self) -> tuple[int, ...]: ...
    @property
    def object_tokens(self) -> int: ...
    def object(self) -> str: ...
    def needed(self) -> int | None: ...
    def words(self) -> int | None: ...
    def bounded(self, tv: float) -> tuple[int, float]: ...
    def add(self, *draws: "Draws") -> None: ...
    def look(self) -> None: ...
    def tallies(self) -> tuple[Tally, ...]: ...
    def clean(self) -> bool: ...
    def statistics(self) -> dict[str, float]: ...
    def estimate(self) -> float | None: ...
    def tv_lower(self, delta: float) -> float: ...
    def detectable(self) -> float: ...
    def cross_check(self) -> float: ...
    def diagnosis(self) -> str | None: ...
    def witness(self) -> Witness | None: ...
    def boundary_tokens(self) -> tuple[BoundaryToken, ...]: ...
    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> None: ...


class Draws:
    """Words of one source in order of generation, and which row of which call each one is.

    words   [n, L]; rows, calls  [n]
    blocks  [n, blocks, 2] the decode log, [accepted, emitted] a block, filled up with emitted = 0; or None
    failure why the first call without output had none; or None
    """

    def __init__(
        self, words: Ints, rows: Ints, calls: Ints, blocks: Ints | None = None, failure: str | None = None
    ) -> None:  # fmt: skip
        self.words, self.rows, self.calls, self.blocks, self.failure = words, rows, calls, blocks, failure

    @classmethod
    def joined(cls, parts: list["Draws"], tokens: int) -> "Draws":
        """All parts in order; no parts are no draws."""
        none = np.zeros(0, dtype=np.int64)
        logs = [part.blocks for part in parts if part.blocks is not None]
        return cls(
            np.concatenate([np.zeros((0, tokens), dtype=np.int64), *(part.words for part in parts)]),
            np.concatenate([none, *(part.rows for part in parts)]),
            np.concatenate([none, *(part.calls for part in parts)]),
            np.concatenate(logs) if logs else None,
            next((part.failure for part in parts if part.failure), None),
        )

    def __len__(self) -> int:
        return len(self.words)

    def first(self, n: int) -> "Draws":
        """The first n of them."""
        return self.where(slice(n))

    def where(self, which: Any) -> "Draws":
        """Some of them: a slice, or a mask [n]."""
        blocks = None if self.blocks is None else self.blocks[which]
        return Draws(self.words[which], self.rows[which], self.calls[which], blocks, self.failure)
