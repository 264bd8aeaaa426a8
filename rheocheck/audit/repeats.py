"""Do draws repeat each other more than draws of any one law would? For two samplers of which no law is known.

Null: the rows are independent draws of one law, whatever it is. Then of three rows, the last one equals the first as
easily as the second: they can be exchanged. Among disjoint triples in which exactly one of the two equals the last,
`near` in which it is the second are a binomial of parameter 1/2, and

    E = mean over t in (0, 1) of (2t)^near (2(1 - t))^far = 2^(near + far) near! far! / (near + far + 1)!

is an e-value. Triples are looked for among neighbouring rows of one call, and in one row of consecutive calls. It says
whether a bound on TV may be believed, which takes independent draws for granted; no verdict of bias rests on it.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws

Ints = NDArray[np.int64]
RELATIONS = ("neighbouring rows", "consecutive calls")


class Repeats:
    """Disjoint triples of rows so far, for each relation [near, far]."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(RELATIONS, (0, 0))

    def add(self, drawn: Draws) -> None:
        """Look at the triples within these draws; a triple is not made across two calls of this method."""
        rows, calls = drawn.rows, drawn.calls
        self._count("neighbouring rows", drawn.words, np.lexsort((rows, calls)), calls, rows)
        self._count("consecutive calls", drawn.words, np.lexsort((calls, rows)), rows, calls)

    def log_e(self) -> float:
        """ln E of both relations together, their mean: a triple may be in both."""
        one, two = map(_log_e, self._counts.values())
        return float(np.logaddexp(one, two) - math.log(2))

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {name: list(counts) for name, counts in self._counts.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self._counts = {name: (int(state[name][0]), int(state[name][1])) for name in RELATIONS}

    def _count(self, name: str, words: Ints, order: Ints, group: Ints, place: Ints) -> None:
        """Triples of consecutive places within a group, draws taken in this order."""
        x, g, at = words[order], group[order], place[order]
        first = np.flatnonzero((g[2:] == g[:-2]) & (at[2:] == at[:-2] + 2)) if len(x) > 2 else np.zeros(0, np.int64)
        first = first[at[first] % 3 == 0]  # disjoint, and chosen without a look at the words
        near = (x[first + 2] == x[first + 1]).all(axis=1)
        far = (x[first + 2] == x[first]).all(axis=1)
        a, b = self._counts[name]
        self._counts[name] = a + int((near & ~far).sum()), b + int((far & ~near).sum())


def _log_e(counts: tuple[int, int]) -> float:
    near, far = counts
    return (near + far) * math.log(2) + math.lgamma(near + 1) + math.lgamma(far + 1) - math.lgamma(near + far + 2)
