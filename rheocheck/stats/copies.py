"""Shared or repeated random numbers: bets that a row repeats another, or depends on it.

Null: given everything earlier, other rows and calls included, the next word has exactly the law p of its own
context. A decoder can emit every word with exactly the right frequency and still break it: a batch whose rows
share a random stream, a call that repeats a seed, a uniform carried over into the next call.

    Copies  factor of a row = 1 - e + e * 1[word = the word it may copy] / p(word)
    LagBet  counts of the first token, separately for every first token of the call before

Duplicates that p makes likely are no evidence: the factor divides by p(word). A pass does *not* say that rows
are independent: only these dependences are looked for.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from rheocheck.stats.contexts import ContextCounts, PrefixLaws
from rheocheck.stats.inputs import Floats, Ints, as_law, check_not_negative
from rheocheck.stats.two_sample import check_same_settings

SHARES = np.array([0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6])  # e: share of the rows that is copied


class Copies:
    """The copy bets on one relation ("the row before", ...), averaged over the shares e.

    Fair: let v be the word that the row may copy, known before the row is drawn. The mean of the factor is 1 - e +
    e p(v) / p(v) = 1 (or 1 - e where p(v) = 0). If the tokens of the row may each be rtol likelier than p says, a
    word of L tokens may be (1 + rtol)^L - 1 =: t likelier, and dividing by 1 + e t restores a mean of at most 1.
    """

    def __init__(self, tokens: int, *, rtol: float = 0.0) -> None:
        self.bets = self.equal = 0
        self._word_rtol = float(np.expm1(tokens * np.log1p(rtol)))
        self._log_e = np.zeros(len(SHARES))

    def bet(self, equal: NDArray[np.bool_], log_p: Floats) -> None:
        """Settle rows: whether each equals the word it may copy, and log p of its own word."""
        repeats = log_p[equal]
        self._log_e += (len(equal) - len(repeats)) * np.log1p(-SHARES)
        if len(repeats):
            with np.errstate(over="ignore"):
                jumps = np.logaddexp(np.log1p(-SHARES)[:, None], np.log(SHARES)[:, None] - repeats)
            self._log_e += jumps.sum(axis=1)
        self._log_e -= len(equal) * np.log1p(SHARES * self._word_rtol)
        self.bets, self.equal = self.bets + len(equal), self.equal + len(repeats)

    def log_e(self) -> float:
        return float(logsumexp(self._log_e) - np.log(len(SHARES)))

    def saved(self) -> list[Any]:
        return [self.bets, self.equal, self._log_e.tolist()]

    def restore(self, saved: list[Any]) -> None:
        self.bets, self.equal, self._log_e = saved[0], saved[1], np.array(saved[2])


class LagBet:
    """Evidence that the first token depends on the first token of the call before: one EMix per earlier token.

    Fair: the earlier token is known before the next one is drawn, and under the null the law is p in every case;
    see ContextCounts for why random numbers of draws per case do no harm.
    """

    def __init__(self, law: ArrayLike, *, rtol: float = 0.0) -> None:
        row = as_law(law)
        check_not_negative("rtol", rtol)
        self.rtol = rtol
        self._laws = PrefixLaws(lambda prefix: row, len(row))
        self._laws.find(())
        self._counts = ContextCounts(self._laws, rtol=rtol)
        self._last: int | None = None

    def update(self, first_tokens: ArrayLike) -> None:
        """Add the first tokens [n] of consecutive calls."""
        x = np.asarray(first_tokens)
        size = self._laws.size
        if x.ndim != 1 or (x.size and (x.dtype.kind not in "iu" or x.min() < 0 or x.max() >= size)):
            raise ValueError(f"first_tokens must be token ids in 0..{size - 1}, got {x!r:.60}: one per call")
        if not x.size:
            return
        x = x.astype(np.int64)
        before = x[:-1] if self._last is None else np.concatenate([[self._last], x[:-1]])
        self.add(before, x[len(x) - len(before) :])
        self._last = int(x[-1])

    def add(self, before: Ints, tokens: Ints) -> None:
        """Count tokens[i], drawn after a call whose first token was before[i]."""
        self._counts.add(before, np.zeros(len(before), dtype=np.int64), tokens)

    def log_e(self) -> float:
        """Natural logarithm of the e-value."""
        return self._counts.log_e()

    def draws(self) -> int:
        return self._counts.draws()

    def state(self) -> dict[str, Any]:
        """Everything `restore` needs to go on, as plain JSON."""
        return {"rtol": self.rtol, "last": self._last, "counts": self._counts.saved()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of a bet on the same law; ValueError where the tolerance differs."""
        check_same_settings(state, rtol=self.rtol)
        self._last = state["last"]
        self._counts.restore(state["counts"])
