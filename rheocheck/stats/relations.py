"""Bets on relations between the words of a decoder: a row and the row before it, a row and itself a call earlier.

Null: given everything earlier, other rows and calls included, the next word has exactly the law of its own context.

Fair: order all rows by (call, row). A row is compared with one that comes earlier in this order, so that its word is
known, and under the null its own word still has law p(word). Each row is bet on once per relation. The first token
given the first token of the earlier row: the same, with the first token only.
"""

from typing import Any

import numpy as np

from rheocheck.stats.copies import Copies, LagBet
from rheocheck.stats.inputs import Floats, Ints
from rheocheck.stats.words import MAX_CALLS

MAX_REMEMBERED = 2**16  # rows that a later update may still be compared with


class Relations:
    """Batch neighbour, previous call, and first token given previous call.

    first   law [vocab_size] of the first token        tokens   length of a word        rtol   per token
    """

    def __init__(self, first: Floats, tokens: int, *, rtol: float = 0.0) -> None:
        self._tokens = tokens
        self._lag = LagBet(first, rtol=rtol)
        self._neighbour, self._previous = Copies(tokens, rtol=rtol), Copies(tokens, rtol=rtol)
        self._codes = np.zeros(0, dtype=np.int64)
        self._words = np.zeros((0, tokens), dtype=np.int64)

    def add(self, words: Ints, call: Ints, row: Ints, log_p: Floats) -> None:
        """Words [n, tokens] with their places and log p(word); those with an impossible token must stay out."""
        code = call * MAX_CALLS + row
        codes, all_words = np.append(self._codes, code), np.concatenate([self._words, words])
        order = np.argsort(codes, kind="stable")
        codes, all_words = codes[order], all_words[order]
        if not len(codes):
            return
        for copies, back in ((self._neighbour, 1), (self._previous, MAX_CALLS)):
            wanted = code - back
            # Row 0 has no neighbour: its code less 1 would be a row of the call before.
            at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
            has = (codes[at] == wanted) & ((back > 1) | (code % MAX_CALLS > 0))
            copies.bet((words[has] == all_words[at[has]]).all(axis=1), log_p[has])
            if back > 1:
                self._lag.add(all_words[at[has], 0], words[has, 0])
        keep = codes // MAX_CALLS >= codes[-1] // MAX_CALLS - 1  # the last call may still grow
        self._codes, self._words = codes[keep][-MAX_REMEMBERED:], all_words[keep][-MAX_REMEMBERED:]

    def statistics(self) -> dict[str, tuple[float, int]]:
        """(log e-value, bets) of each."""
        return {
            "batch neighbour": (self._neighbour.log_e(), self._neighbour.bets),
            "previous call": (self._previous.log_e(), self._previous.bets),
            "first token given previous call": (self._lag.log_e(), self._lag.draws()),
        }

    def saved(self) -> dict[str, Any]:
        return {
            "lag": self._lag.state(),
            "copies": [self._neighbour.saved(), self._previous.saved()],
            "recent": [self._codes.tolist(), self._words.tolist()],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self._lag.restore(saved["lag"])
        self._neighbour.restore(saved["copies"][0])
        self._previous.restore(saved["copies"][1])
        self._codes = np.array(saved["recent"][0], dtype=np.int64)
        self._words = np.array(saved["recent"][1], dtype=np.int64).reshape(-1, self._tokens)
