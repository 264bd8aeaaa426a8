"""Do draws repeat each other more than draws of any one law would? For two samplers of which no law is known.

Null: the rows are independent draws of one law, whatever it is. Then of three rows, the last one equals the first as
easily as the second: they can be exchanged. Among disjoint triples in which exactly one of the two equals the last,
`near` in which it is the second are a binomial of parameter 1/2, and

    E = mean over t in (0, 1) of (2t)^near (2(1 - t))^far = 2^(near + far) near! far! / (near + far + 1)!

is an e-value. Triples are looked for among neighbouring rows of one call, in one row of consecutive calls, and across:
a row of a call, its neighbour, and the same row of the call after (calls that all repeat each other show nowhere else).

Neighbours and consecutive calls are looked at a second time for what one word carries over into the next: the last
token of the first two rows against the first token of the last one, which the same exchange leaves alone.

It says whether a bound on TV may be believed, which takes independent draws for granted; no verdict of bias rests
on it.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.evidence import Draws

Ints = NDArray[np.int64]
CARRIED = {"neighbouring rows": "carried to the next row", "consecutive calls": "carried to the next call"}
RELATIONS = (*CARRIED, "the call before", *CARRIED.values())


class Repeats:
    """Disjoint triples of rows so far, for each relation [near, far]."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(RELATIONS, (0, 0))

    def add(self, drawn: Draws) -> None:
        """Look at the triples within these draws; a triple is not made across two calls of this method."""
        rows, calls = drawn.rows, drawn.calls
        self._count("neighbouring rows", drawn.words, np.lexsort((rows, calls)), calls, rows)
        self._count("consecutive calls", drawn.words, np.lexsort((calls, rows)), rows, calls)
        self._across(drawn.words, rows, calls)

    def log_e(self) -> float:
        """ln E of all relations together, their mean: a row may be in several."""
        each = [_log_e(counts) for counts in self._counts.values()]
        return float(np.logaddexp.reduce(each) - math.log(len(each)))

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {name: list(counts) for name, counts in self._counts.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self._counts = {name: (int(state[name][0]), int(state[name][1])) for name in RELATIONS}

    def _count(self, name: str, words: Ints, order: Ints, group: Ints, place: Ints) -> None:
        """Triples of consecutive places within a group, draws taken in this order."""
        x, g, at = words[order], group[order], place[order]
        start = np.flatnonzero((g[2:] == g[:-2]) & (at[2:] == at[:-2] + 2)) if len(x) > 2 else np.zeros(0, np.int64)
        start = start[at[start] % 3 == 0]  # disjoint, and chosen without a look at the words
        last, second, first = x[start + 2], x[start + 1], x[start]
        self._compare(name, last, second, first)
        self._compare(CARRIED[name], last[:, :1], second[:, -1:], first[:, -1:])

    def _across(self, words: Ints, rows: Ints, calls: Ints) -> None:
        """Triples (row r of call c, row r+1 of call c, row r of call c+1), r and c even: disjoint."""
        step = int(rows.max(initial=0)) + 2  # so that the row beside the last one is no row of the next call
        code = calls * step + rows
        order = np.argsort(code)
        corner = np.flatnonzero((rows % 2 == 0) & (calls % 2 == 0))
        beside, after = (np.searchsorted(code[order], code[corner] + d) for d in (1, step))
        there = (beside < len(code)) & (after < len(code))
        corner, beside, after = corner[there], order[beside[there]], order[after[there]]
        whole = (code[beside] == code[corner] + 1) & (code[after] == code[corner] + step)
        self._compare("the call before", *(words[at[whole]] for at in (after, corner, beside)))

    def _compare(self, name: str, last: Ints, second: Ints, first: Ints) -> None:
        near, far = (last == second).all(axis=1), (last == first).all(axis=1)
        a, b = self._counts[name]
        self._counts[name] = a + int((near & ~far).sum()), b + int((far & ~near).sum())


def _log_e(counts: tuple[int, int]) -> float:
    near, far = counts
    return (near + far) * math.log(2) + math.lgamma(near + 1) + math.lgamma(far + 1) - math.lgamma(near + far + 2)
