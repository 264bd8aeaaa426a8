"""The tokens that a sparse law can emit at all, numbered from 0: what bets on a vocabulary of any size are made on.

Token ids that never occur in a possible word share one more number, the last: its probability is 0 everywhere. The
numbering is one to one on possible words, so a bet on numbers is the same bet on tokens.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.joint_law import JointLaw
from rheocheck.audit.target import LawRow
from rheocheck.core.pair import Context

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Alphabet:
    """Token ids in increasing order."""

    ids: Ints

    @classmethod
    def of(cls, joint: JointLaw) -> "Alphabet":
        """The tokens of all possible words."""
        return cls(np.unique(np.concatenate([level.tokens for level in joint.levels])))

    @property
    def size(self) -> int:
        return len(self.ids) + 1

    def numbers(self, words: Ints) -> Ints:
        """The number of each token, of any shape."""
        at = np.minimum(np.searchsorted(self.ids, words), len(self.ids) - 1)
        return np.where(self.ids[at] == words, at, len(self.ids))

    def word(self, numbers: Context) -> Context:
        """The tokens of a possible word given by numbers."""
        return tuple(int(self.ids[x]) for x in numbers)

    def row(self, row: LawRow) -> Floats:
        """A law by numbers [size]."""
        numbered = np.zeros(self.size)
        numbered[self.numbers(row.tokens)] = row.p
        return numbered
