"""Bets on relations between the words of a decoder: a row and the row before it, a row and itself a call earlier.

Null: given everything earlier, other rows and calls included, the next word has exactly the law of its own context.

Fair: order all rows by (call, row). A row is compared with one that comes earlier in this order, so that its word is
known, and under the null its own word still has law p(word). Each row is bet on once per relation. The first token
given the first token of the earlier row: the same, with the first token only. What depends on other words in any
other way is bet on in `rheocheck.stats.across`.
"""

from typing import Any

import numpy as np

from rheocheck.stats.across import Across, taken
from rheocheck.stats.contexts import PrefixLaws
from rheocheck.stats.copies import Copies, LagBet
from rheocheck.stats.inputs import Floats, Ints
from rheocheck.stats.words import MAX_CALLS

MAX_REMEMBERED = 2**16  # rows that a later update may still be compared with


class Relations:
    """Batch neighbour, previous call, first token given previous call, rows and calls, carried over.

    first   law [vocab_size] of the first token        laws   of every prefix        tokens   length of a word
    """

    def __init__(self, first: Floats, laws: PrefixLaws, tokens: int, *, rtol: float = 0.0) -> None:
        self._tokens = tokens
        self._lag = LagBet(first, rtol=rtol)
        self._neighbour, self._previous = Copies(tokens, rtol=rtol), Copies(tokens, rtol=rtol)
        self._across = Across(laws, tokens, rtol=rtol)
        self._codes = np.zeros(0, dtype=np.int64)
        self._words = np.zeros((0, tokens), dtype=np.int64)
        self._features = np.zeros((0, self._across.width), dtype=np.int64)

    def add(self, words: Ints, call: Ints, row: Ints, log_p: Floats, states: Ints) -> None:
        """Words [n, tokens], their places, log p(word), states; those with an impossible token must stay out."""
        if not len(words):
            return
        code = call * MAX_CALLS + row
        in_order = np.argsort(code, kind="stable")
        words, code, log_p, states = words[in_order], code[in_order], log_p[in_order], states[in_order]
        codes, all_words = np.append(self._codes, code), np.concatenate([self._words, words])
        features = np.concatenate([self._features, self._across.features(words, states)])
        order = np.argsort(codes, kind="stable")
        codes, all_words, features = codes[order], all_words[order], features[order]
        earlier = []
        for copies, back in ((self._neighbour, 1), (self._previous, MAX_CALLS)):
            wanted = code - back
            # Row 0 has no neighbour: its code less 1 would be a row of the call before.
            at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
            has = (codes[at] == wanted) & ((back > 1) | (code % MAX_CALLS > 0))
            copies.bet((words[has] == all_words[at[has]]).all(axis=1), log_p[has])
            earlier.append(taken(features, at, has))
            if back > 1:
                self._lag.add(all_words[at[has], 0], words[has, 0])
        # The word before, in order of generation: the row before, or the last row of the call before.
        at = np.maximum(np.searchsorted(codes, code) - 1, 0)
        first = (code % MAX_CALLS == 0) & (codes[at] // MAX_CALLS == code // MAX_CALLS - 1)
        before = taken(features, at, (codes[at] == code - 1) & (code % MAX_CALLS > 0) | first)
        self._across.add(words, states, earlier[0], earlier[1], before)
        keep = codes // MAX_CALLS >= codes[-1] // MAX_CALLS - 1  # the last call may still grow
        self._codes, self._words = codes[keep][-MAX_REMEMBERED:], all_words[keep][-MAX_REMEMBERED:]
        self._features = features[keep][-MAX_REMEMBERED:]

    def statistics(self) -> dict[str, tuple[float, int]]:
        """(log e-value, bets) of each."""
        return {
            "batch neighbour": (self._neighbour.log_e(), self._neighbour.bets),
            "previous call": (self._previous.log_e(), self._previous.bets),
            "first token given previous call": (self._lag.log_e(), self._lag.draws()),
            **self._across.statistics(),
        }

    def saved(self) -> dict[str, Any]:
        return {
            "lag": self._lag.state(),
            "copies": [self._neighbour.saved(), self._previous.saved()],
            "across": self._across.saved(),
            "recent": [self._codes.tolist(), self._words.tolist(), self._features.tolist()],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self._lag.restore(saved["lag"])
        self._neighbour.restore(saved["copies"][0])
        self._previous.restore(saved["copies"][1])
        self._across.restore(saved["across"])
        self._codes = np.array(saved["recent"][0], dtype=np.int64)
        self._words = np.array(saved["recent"][1], dtype=np.int64).reshape(-1, self._tokens)
        self._features = np.array(saved["recent"][2], dtype=np.int64).reshape(-1, self._across.width)
