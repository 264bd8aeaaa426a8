"""Evidence about a subject whose target law is known: the battery of bets, and the bound on TV of a named object.

Null: every token, given everything before it, has the target's law. E is the battery's total, so it may be looked at
any number of times. The bound speaks of one object: the joint law of the longest prefix with at most 512 words.
Where a filter's cut-off leaves the law unknown (boundary tokens) words are told apart only up to there, and the
evidence is EMix on the remaining cells alone.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws
from rheocheck.audit.tally import Tally
from rheocheck.audit.target import MAX_CELLS, JointLaw, Target, joint_law
from rheocheck.audit.verdict import Boundary, Witness
from rheocheck.audit.witness import witness_against_law
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.battery import Battery
from rheocheck.stats.bounds import tv_lower
from rheocheck.stats.chi_square import chi_square, total_variation
from rheocheck.stats.named_faults import diagnose, fault_laws
from rheocheck.stats.plan import plan, smallest_detectable_tv
from rheocheck.stats.sequential import Sequential

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
OBJECT_CELLS = 512


class AgainstLaw:
    """What the draws say about TV(subject, target); see `Evidence` in `audit.evidence` for the interface."""

    reference = "target"

    def __init__(
        self, target: Target, context: Context, tokens: int, *, eps: float, alpha: float, delta: float, rtol: float
    ) -> None:
        self.target, self.context, self.tokens, self.rtol = target, context, tokens, rtol
        self.tally, self._first_half = Tally(tokens), Tally(tokens)
        size = target.vocab_size
        self.length = next((n for n in range(tokens, 1, -1) if size**n <= OBJECT_CELLS), 1)
        whole = joint_law(target, context, tokens, rtol) if size**tokens <= MAX_CELLS else None
        self.boundary = whole.boundary if whole else {}
        if target.boundary is not None and whole is None:
            raise InputError(
                f"a target with filters must have at most {MAX_CELLS} words, got {size}^{tokens}: lower --tokens"
            )
        self._joint: JointLaw = joint_law(target, context, self.length, rtol)
        self.law = self._joint.of_cells(self._joint.law)
        self.plan = plan(self.law, tv=eps, alpha=alpha, delta=delta, simulate=0)
        self._whole = whole if self.boundary else None
        power = self.length if self._whole is None else tokens
        self._object = Sequential(
            self.law, eps=eps, alpha=alpha, delta=delta, n_opt=self.plan.budget, rtol=(1 + rtol) ** self.length - 1
        )
        self._cells = (
            Sequential(
                self._whole.of_cells(self._whole.law),
                eps=eps,
                alpha=alpha,
                delta=delta,
                n_opt=self.plan.budget,
                rtol=(1 + rtol) ** power - 1,
            )
            if self._whole
            else None
        )
        self._battery = (
            None
            if self._whole
            else Battery(self._row, size, tokens, context=(), state=self._state if target.state else None, rtol=rtol)
        )
        self.peak = 0.0
        self.log_e = 0.0
        self.tv_upper = 1.0

    @property
    def n(self) -> int:
        return self.tally.n

    def object(self) -> str:
        """What the bound on TV is about."""
        prefix = "first token" if self.length == 1 else f"joint prefix of {self.length} tokens"
        cut = ", cut at boundary tokens" if self.boundary else ""
        return f'{prefix} after context "{" ".join(map(str, self.context))}"{cut}'

    def add(self, *draws: Draws) -> None:
        """Draws of the subject, in order."""
        (drawn,) = draws
        self._first_half.add(drawn.words[: len(drawn) // 2])
        self.tally.add(drawn.words)
        if self._battery is not None:
            self._battery.update(drawn.words, rows=drawn.rows, calls=drawn.calls)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        look = self._object.look(self._counts(self._joint, self.length))
        if self._battery is not None:
            self.log_e = self._battery.total()
        elif self._cells is not None and self._whole is not None:
            self.log_e = self._cells.look(self._counts(self._whole, self.tokens)).log_e
        self.peak = max(self.peak, self.log_e)
        self.tv_upper = look.tv_upper

    def clean(self) -> bool:
        """Whether the draws show no sign of dependence, which the bound takes for granted."""
        if self._battery is None:
            return True
        found = self._battery.log_e()
        streams = ("batch neighbour", "previous call", "first token given previous call")
        return max((found.get(name, 0.0) for name in streams), default=0.0) < math.log(1e3)

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic."""
        found = self._battery.log_e() if self._battery is not None else {"joint prefix": self.log_e}
        return {name: value / math.log(10) for name, value in found.items()}

    def estimate(self) -> float:
        """Plug-in estimate of TV of the object; above 0 even without a bias."""
        return total_variation(self._counts(self._joint, self.length) / max(1, self.n), self.law)

    def tv_lower(self, delta: float) -> float:
        """A lower bound on TV of the object, the event chosen on one half of the draws and tested on the other."""
        first = self._counts(self._joint, self.length, self._first_half)
        return tv_lower(first, self._counts(self._joint, self.length) - first, self.law, delta=delta)

    def detectable(self, alpha: float) -> float:
        """Smallest TV of the object found with power 99.9 %."""
        return smallest_detectable_tv(self.law, self.n, alpha)

    def cross_check(self) -> float:
        """The classical p-value, at this sample size: chi-square on the object."""
        rtol = (1 + self.rtol) ** self.length - 1
        return chi_square(self._counts(self._joint, self.length), self.law, rtol=rtol).p_value

    def diagnosis(self) -> str | None:
        """The named fault of a one-token chain that explains the first token best, when the drafter's law is known."""
        if self.target.drafter is None:
            return None
        p, q = self._row(()), np.array([float(x) for x in self.target.drafter(self.context)])
        counts = self.tally.prefix_counts(1, lambda words: words[:, 0], len(p))
        ranked = diagnose(counts, p, fault_laws(p, q))
        if not ranked or ranked[0].log10_over_next < 1:
            return None
        return f"best named fault: {ranked[0].name!r}, 10^{ranked[0].log10_over_next:.1f} : 1 over the next"

    def witness(self) -> Witness:
        found = witness_against_law(self.tally, self._row, self._near, self.target.vocab_size)
        return Witness(self.context + found.context, found.token, found.emitted, found.target)

    def boundary_tokens(self) -> tuple[Boundary, ...]:
        """Tokens within rounding of a filter's cut-off, and their hits."""
        found = []
        following = self.tally.next_counts(self.target.vocab_size) if self.boundary else {}
        for prefix, near in sorted(self.boundary.items(), key=lambda item: (len(item[0]), item[0])):
            hits = following.get(prefix)
            for x in sorted(near):
                count = 0 if hits is None else int(hits[x])
                found.append(Boundary(self.context + prefix, x, float(self._row(prefix)[x]), count))
        return tuple(found)

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "tally": self.tally.state(),
            "first half": self._first_half.state(),
            "object": self._object.state(),
            "cells": self._cells.state() if self._cells else None,
            "battery": self._battery.state() if self._battery is not None else None,
            "peak": self.peak if math.isfinite(self.peak) else "inf",
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same question."""
        self.tally.restore(state["tally"])
        self._first_half.restore(state["first half"])
        self._object.restore(state["object"])
        if self._cells:
            self._cells.restore(state["cells"])
        if self._battery is not None:
            self._battery.restore(state["battery"])
        self.peak = float(state["peak"])
        self.look()

    def _row(self, prefix: Context) -> Floats:
        return self.target.row(self.context + prefix, self.rtol)

    def _state(self, prefix: Context) -> Any:
        assert self.target.state is not None  # given to the battery only where there is one
        return self.target.state(self.context + prefix)

    def _near(self, prefix: Context) -> frozenset[int]:
        return self.target.near_cutoff(self.context + prefix)

    def _counts(self, joint: JointLaw, length: int, tally: Tally | None = None) -> Floats:
        words = (tally or self.tally).prefix_counts(length, joint.index, len(joint.law))
        return joint.of_cells(words)
