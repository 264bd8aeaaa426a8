"""One audit of one law, look by look: what may be said at any time, and remembered.

Null: every draw, given everything before it, has the law p. Three verdicts from the same counts:

    fail    E has reached 1/alpha at this look or before: a correct sampler does this with probability <= alpha,
            over all looks together (Ville 1939); a hit on a cell of probability 0 is E = infinity
    pass    TV(P, p) <= eps with confidence 1 - delta, over all looks together; assumes independent draws of one law
    None    neither yet: draw more, or stop and say that nothing was decided

Both fail and pass can be true of one sampler (a bias below eps); fail is then what is said. A pass does not say that
TV is 0.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.bounds import anytime_width, tv_upper_anytime
from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import as_counts, check_level, check_same_length

Decision = Literal["fail", "pass"] | None


@dataclass(frozen=True)
class Look:
    """What one look says.

    n          draws so far
    log_e      ln E at this look
    peak       the largest ln E of all looks, at least 0: p-value = exp(-peak)
    tv_upper   the smallest upper bound on TV of all looks
    """

    n: int
    log_e: float
    peak: float
    tv_upper: float
    verdict: Decision


class Sequential:
    """The evidence about one multinomial object: EMix, its running maximum, and the running TV bound.

    eps     the total variation that a pass rules out
    alpha   fail at E >= 1/alpha
    delta   the bound holds with confidence 1 - delta
    n_opt   the number of draws at which the bound is tightest, usually the planned budget; fixed beforehand
    rtol, faults   as in `EMix`
    """

    def __init__(
        self,
        law: ArrayLike,
        *,
        eps: float,
        alpha: float,
        delta: float,
        n_opt: float,
        rtol: float = 0.0,
        faults: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        check_level("eps", eps)
        check_level("alpha", alpha)
        anytime_width(1, delta, n_opt)  # refuses a bad delta or n_opt before anything is drawn
        self.mix = EMix(law, rtol=rtol, faults=faults)
        self.eps, self.alpha, self.delta, self.n_opt = eps, alpha, delta, n_opt
        self._settings = _fingerprint(self.mix.law, eps, alpha, delta, n_opt, rtol, faults or {})
        self._counts = np.zeros(len(self.mix.law))
        self._peak, self._tv_upper = 0.0, 1.0

    def look(self, counts: ArrayLike) -> Look:
        """Look at the counts [k] of *all* draws so far.

        Raises ValueError when a cell has fewer hits than at the look before: dropped draws are a bias of their own.
        """
        observed = as_counts("counts", counts)
        check_same_length("law", self.mix.law, observed)
        if np.any(observed < self._counts):
            i = int(np.flatnonzero(observed < self._counts)[0])
            raise ValueError(
                f"counts must include all earlier draws, got {observed[i]:g} at {i} after {self._counts[i]:g}: "
                "pass the counts since the start"
            )
        self._counts = observed
        log_e = self.mix.log_e(observed)
        bound = tv_upper_anytime(observed, self.mix.law, delta=self.delta, n_opt=self.n_opt, rtol=self.mix.rtol)
        self._peak, self._tv_upper = max(self._peak, log_e), min(self._tv_upper, bound)
        return Look(int(observed.sum()), log_e, self._peak, self._tv_upper, self._verdict())

    def state(self) -> dict[str, Any]:
        """Everything needed to go on later, as plain JSON: counts, peak ("inf" when infinite), bound, settings."""
        return {
            "settings": self._settings,
            "counts": [int(x) for x in self._counts],
            "peak": self._peak if math.isfinite(self._peak) else "inf",
            "tv_upper": self._tv_upper,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up a stopped run where `state()` left it. Raises ValueError unless law and settings are the same."""
        missing = {"settings", "counts", "peak", "tv_upper"} - set(state)
        if missing:
            raise ValueError(f"a state must have all its keys, got none for {sorted(missing)}: start a fresh run")
        if state["settings"] != self._settings:
            raise ValueError(
                "a state must be of the same law and settings, got another fingerprint "
                f"({state['settings']!s:.12} for {self._settings:.12}): give the law, eps, alpha, delta, n_opt, rtol "
                "and faults it was saved with"
            )
        counts = as_counts("counts", state["counts"])
        check_same_length("law", self.mix.law, counts)
        peak, tv_upper = float(state["peak"]), float(state["tv_upper"])
        if not (peak >= 0 and 0 <= tv_upper <= 1):
            raise ValueError(
                f"a state must have peak >= 0 and tv_upper in [0, 1], got {peak}, {tv_upper}: start a fresh run"
            )
        self._counts, self._peak, self._tv_upper = counts, peak, tv_upper

    def _verdict(self) -> Decision:
        if self._peak >= math.log(1 / self.alpha):
            return "fail"
        return "pass" if self._tv_upper <= self.eps else None


def _fingerprint(law: ArrayLike, *settings: Any) -> str:
    *numbers, faults = settings
    digest = hashlib.sha256(np.asarray(law, dtype=float).tobytes())
    digest.update(repr([float(x) for x in numbers]).encode())
    for name, values in faults.items():
        digest.update(name.encode() + b"\0" + np.asarray(values, dtype=float).tobytes())
    return digest.hexdigest()
