"""What an enumerated law is compared with: the target's joint law, or the enumerated law of a baseline.

cell(word)   words of one cell are not told apart: behind a boundary token the target's law is not known
law          {cell: probability}, only where it is above 0
unseen       probability that `law` leaves out: 0 for a target
"""

from collections.abc import Hashable, Mapping
from typing import Protocol

import numpy as np

from rheocheck.audit.impossible import check_baseline
from rheocheck.audit.joint_law import JointLaw
from rheocheck.audit.objects import object_name
from rheocheck.core.pair import Context
from rheocheck.intercept import Enumeration
from rheocheck.intercept.words import is_impossible


class Reference(Protocol):
    """A law of words to compare with; `name` is how a report calls it, `size` its vocabulary, None if nobody knows."""

    name: str
    size: int | None
    law: Mapping[Hashable, float]
    unseen: float

    def cell(self, word: Context) -> Hashable: ...
    def never(self, word: Context) -> bool: ...  # whether it is known to have probability 0
    def object(self) -> str: ...
    def conditional(self, prefix: Context, token: int) -> float | None:
        """At least the probability of `token` after `prefix`; None where nothing is known about it."""
        ...


class TargetReference:
    """The joint law of a target: complete, and told apart only up to boundary tokens."""

    name, unseen = "target", 0.0

    def __init__(self, joint: JointLaw, context: Context, vocab_size: int | None) -> None:
        self.joint, self.context = joint, context
        self.size = vocab_size
        self._cells, law = joint.cells, joint.of_cells(np.append(joint.law, 0.0))
        self.law: Mapping[Hashable, float] = {int(i): float(law[i]) for i in np.flatnonzero(law > 0)}

    def cell(self, word: Context) -> Hashable:
        """The number of the word's cell; an impossible word stands for itself."""
        if is_impossible(word, self.size):
            return word
        number = int(self.joint.index(np.array([word], dtype=np.int64))[0])
        return word if number == len(self.joint.law) else int(self._cells[number])

    def never(self, word: Context) -> bool:
        """Impossible by the law, or no word of the vocabulary at all."""
        return self.cell(word) not in self.law

    def object(self) -> str:
        """What TV is about."""
        cut = ", cut at boundary tokens" if self.joint.boundary else ""
        return object_name(self.joint.tokens, self.context) + cut

    def conditional(self, prefix: Context, token: int) -> float | None:
        row = self.joint.rows.get(prefix)
        if row is None:
            return None
        if is_impossible((token,), self.size):
            return 0.0
        p = row.at(token)
        if p == 0 and token not in self.joint.boundary.get(prefix, ()):
            return 0.0
        behind = any(prefix[:n] in self.joint.boundary for n in range(len(prefix) + 1))
        return None if behind else p


class BaselineReference:
    """The law of a second subject, as far as it was enumerated."""

    name = "baseline"
    size: int | None = None

    def __init__(self, found: Enumeration, context: Context, tokens: int) -> None:
        """Raises InputError where the baseline itself emits what is no text: it says nothing about the law of texts."""
        self.context, self.tokens = context, tokens
        for word in found.law:
            check_baseline(word, found.failures.get(word))
        seen = {word: float(mass) for word, mass in found.law.items() if mass}
        self.unseen = float(found.unseen)
        self.law: Mapping[Hashable, float] = {word: mass for word, mass in seen.items()}
        self._masses = prefix_masses(seen)

    def cell(self, word: Context) -> Hashable:
        return word

    def never(self, word: Context) -> bool:
        """Of a law that was not enumerated to its end, only what is no word of any vocabulary."""
        return is_impossible(word, None) or (not self.unseen and word not in self.law)

    def object(self) -> str:
        """What TV is about."""
        return object_name(self.tokens, self.context)

    def conditional(self, prefix: Context, token: int) -> float | None:
        if is_impossible((token,), None):
            return 0.0
        whole = self._masses.get(prefix, 0.0) + self.unseen
        return (self._masses.get((*prefix, token), 0.0) + self.unseen) / whole if whole else None


def prefix_masses(law: Mapping[Context, float]) -> dict[Context, float]:
    """The probability of every prefix of the words of a law, the empty one and the words included."""
    masses: dict[Context, float] = {}
    for word, mass in law.items():
        for n in range(len(word) + 1):
            masses[word[:n]] = masses.get(word[:n], 0.0) + mass
    return masses
