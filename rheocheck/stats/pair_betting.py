"""Two unknown samplers: do they differ in how two or three tokens of a word depend on each other, wherever they stand?

A bet of its own on every pair of positions (the cells are both ids modulo 16, and one cell for equal tokens) and, of
words with three tokens or more, on every triple (the exclusive or of the three ids, modulo 16).

Fair: a cell is a function of the word, so the cells of exchangeable words are exchangeable, and `SignBetting` on them
is an e-value; see `rheocheck.stats.two_sample`. All bet on the same words: their mean is an e-value too.
"""

from itertools import combinations
from typing import Any

import numpy as np

from rheocheck.stats.distances import nearest_first
from rheocheck.stats.inputs import Ints
from rheocheck.stats.suite import mean
from rheocheck.stats.two_sample import SignBetting

IDS = 16


class PairBetting:
    """Evidence that two samplers of words differ in the joint law of some tokens. Needs at least two tokens."""

    def __init__(self, tokens: int) -> None:
        self._places = [*nearest_first(combinations(range(tokens), 2)), *nearest_first(combinations(range(tokens), 3))]
        self._bets = [SignBetting() for _ in self._places]

    def update(self, x: Ints, y: Ints) -> None:
        """Add a block of pairs of words [n, L], in order of drawing."""
        for places, bet in zip(self._places, self._bets, strict=True):
            bet.update(_cells(x[:, places]), _cells(y[:, places]))

    def log_e(self) -> float:
        """Natural logarithm of the e-value: pairs and triples have half of the mean each."""
        by_size: dict[int, list[float]] = {}
        for places, bet in zip(self._places, self._bets, strict=True):
            by_size.setdefault(len(places), []).append(bet.log_e())
        return mean([mean(each) for each in by_size.values()])

    def state(self) -> list[Any]:
        """Everything `restore` needs to go on, as plain JSON."""
        return [bet.state() for bet in self._bets]

    def restore(self, state: list[Any]) -> None:
        """Go on from `state()` of a bettor on words of the same length."""
        for bet, saved in zip(self._bets, state, strict=True):
            bet.restore(saved)


def _cells(tokens: Ints) -> Ints:
    """The cell of some tokens of every word [n, 2 or 3]."""
    if tokens.shape[1] == 3:
        cells: Ints = np.bitwise_xor.reduce(tokens, axis=1) % IDS
        return cells
    first, second = tokens.T
    return np.where(first == second, IDS**2, first % IDS * IDS + second % IDS)
