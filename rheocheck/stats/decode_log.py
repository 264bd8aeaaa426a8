"""Bets on what a decode log says: how many drafts of a block were accepted, and what followed them.

Fair: each is a draw whose law the null fixes given everything before *that draw*, acceptances included. Accepted
length: given the prefix at which the block starts. Bonus: given that the whole draft was accepted, the next token has
law p. Replacement: given that a draft was rejected, it has the law that the caller vouches for. Whether a draw
happens, and inside the first L tokens, is decided before it is made.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.stats.contexts import ContextCounts, Law, Prefix, PrefixLaws
from rheocheck.stats.inputs import Ints
from rheocheck.stats.words import distinct_prefixes

Hit = Callable[[str, int, Ints, int], None]  # (statistic, word, prefix, token): a draw of probability 0


class DecodeLog:
    """Accepted length, bonus and replacement, of full blocks of `depth` drafts.

    laws          of the next token
    lengths       lengths(prefix): law [depth + 1] of the accepted count, or None where it is not known
    replacement   replacement(prefix): law of the token after a rejected draft, or None
    """

    def __init__(
        self,
        laws: PrefixLaws,
        depth: int,
        *,
        lengths: Law | None = None,
        replacement: Law | None = None,
        rtol: float = 0.0,
    ) -> None:
        self.depth = depth
        self._bonus = ContextCounts(laws, rtol=rtol)
        self._replacement = _tested(replacement, "replacement", laws.size, laws.context, rtol)
        self._lengths = _tested(lengths, "lengths", depth + 1, laws.context, rtol)

    def add(
        self, x: Ints, groups: list[Ints], states: Ints, possible: Ints, accepted: Ints, emitted: Ints, hit: Hit
    ) -> None:
        """Words [n, L] with their groups of prefixes, the states of their tokens, how many tokens are possible ones,
        and their log [n, blocks]."""
        tokens = x.shape[1]
        start = np.cumsum(emitted, axis=1) - emitted
        last = start + accepted  # where the token after the accepted ones stands
        real = emitted > 0
        if self._lengths:
            _count(self._lengths, "accepted length", real, start, accepted, x, groups, possible, hit)
        finished = real & (emitted == accepted + 1)
        ok = finished & (accepted == self.depth) & (last < tokens)
        for b in range(ok.shape[1]):
            r = np.flatnonzero(ok[:, b])
            t = last[r, b]
            r, t = r[possible[r] > t], t[possible[r] > t]
            self._bonus.add(states[r, t], states[r, t], x[r, t])
        if self._replacement:
            rejected = finished & (accepted < self.depth)
            drawn = x[np.arange(len(x))[:, None], np.minimum(last, tokens - 1)]
            name = "replacement given context"
            _count(self._replacement, name, rejected, last, drawn, x, groups, possible, hit)

    def statistics(self) -> dict[str, tuple[float, int]]:
        """(log e-value, draws) of each."""
        found = {
            "accepted length": self._lengths,
            "bonus given context": self._bonus,
            "replacement given context": self._replacement,
        }
        return {name: (counts.log_e(), counts.draws()) for name, counts in found.items() if counts}

    def saved(self) -> dict[str, Any]:
        return {
            "bonus": self._bonus.saved(),
            "replacement": [self._replacement.laws.saved(), self._replacement.saved()] if self._replacement else None,
            "lengths": [self._lengths.laws.saved(), self._lengths.saved()] if self._lengths else None,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self._bonus.restore(saved["bonus"])
        for name, counts in (("replacement", self._replacement), ("lengths", self._lengths)):
            if counts:
                counts.laws.restore(saved[name][0])
                counts.restore(saved[name][1])


def _tested(law: Law | None, name: str, size: int, context: Prefix, rtol: float) -> ContextCounts | None:
    if law is None:
        return None
    return ContextCounts(PrefixLaws(law, size, name=name, context=context, optional=True), rtol=rtol)


def _count(
    counts: ContextCounts, name: str, ok: NDArray[np.bool_], position: Ints, drawn: Ints, x: Ints,
    groups: list[Ints], possible: Ints, hit: Hit,
) -> None:  # fmt: skip
    """Add drawn[row, block], made after the prefix of length position[row, block], where ok."""
    for t in range(x.shape[1]):
        row, block = np.nonzero(ok & (position == t))
        reached = possible[row] >= t
        row, block = row[reached], block[reached]
        which, prefixes = distinct_prefixes(x, groups[t], row, t)
        states, p = counts.laws.settle(prefixes, which, drawn[row, block])
        for i in np.flatnonzero(p == 0):
            hit(name, int(row[i]), x[row[i], :t], int(drawn[row[i], block[i]]))
        good = p > 0
        counts.add(states[good], states[good], drawn[row, block][good])
