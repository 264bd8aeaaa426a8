"""The witness of a bias: the context and token where the error is certain to be largest.

After prefix c the subject emitted x in N_cx of N_c draws; the reference says p(x | c). The error, weighted
by how often c was seen, is (N_c / n) |N_cx / N_c - p(x | c)|; certified is what Hoeffding's radius at a
joint level of 1e-3 leaves of it. A token that cannot occur needs no radius: one hit is certain. Where no single
token's error is certain (the bias is certain all the same), the largest weighted error is shown.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import Witness
from rheocheck.core.pair import Context

Floats = NDArray[np.float64]
LEVEL = 1e-3


def witness_against_law(
    tally: Tally, row: Callable[[Context], Floats], boundary: Callable[[Context], frozenset[int]], size: int
) -> Witness:
    """The witness of the tallied words against a law: row(prefix) -> p [size].

    Where rounding decides about the law (boundary(prefix) is not empty), only impossible tokens count.
    """
    candidates = []
    counts = tally.next_counts(size)
    radius = np.log(2 * len(counts) * size / LEVEL) / 2
    alive: dict[Context, bool] = {(): True}
    for prefix, hits in counts.items():
        if prefix:  # behind an impossible token no law is defined, and that token is the witness
            before = row(prefix[:-1])[prefix[-1]] > 0 or prefix[-1] in boundary(prefix[:-1])
            alive[prefix] = alive[prefix[:-1]] and before
        if not alive[prefix]:
            continue
        p, near, seen = row(prefix), boundary(prefix), hits.sum()
        certified = np.abs(hits / seen - p) - np.sqrt(radius / seen)
        if near:
            certified[:] = -np.inf
        impossible = p == 0
        impossible[list(near)] = False
        certified[impossible] = np.where(hits[impossible] > 0, hits[impossible] / seen, -np.inf)
        candidates.append((certified * seen / tally.n, prefix, hits / seen, p, seen / tally.n))
    return _largest(candidates)


def witness_against_sample(tally: Tally, reference: Tally) -> Witness:
    """The witness of the tallied words against a second sample, the baseline."""
    size = int(max(tally.words.max(), reference.words.max())) + 1
    counts, other = tally.next_counts(size), reference.next_counts(size)
    radius = np.log(2 * len(counts) * size / LEVEL) / 2
    candidates = []
    for prefix in counts.keys() & other.keys():
        hits, q = counts[prefix], other[prefix]
        error = np.abs(hits / hits.sum() - q / q.sum())
        weight = hits.sum() / tally.n
        certified = (error - np.sqrt(radius * (1 / hits.sum() + 1 / q.sum()))) * weight
        candidates.append((certified, prefix, hits / hits.sum(), q / q.sum(), weight))
    return _largest(candidates)


def _largest(candidates: list[tuple[Floats, Context, Floats, Floats, float]]) -> Witness:
    """The largest certified error; ties go to the shortest, then smallest context and token."""
    if max(c[0].max() for c in candidates) <= 0:
        candidates = [(w * np.abs(emitted - p), prefix, emitted, p, w) for _, prefix, emitted, p, w in candidates]
    error, prefix, emitted, target, _ = min(candidates, key=lambda c: (-c[0].max(), len(c[1]), c[1]))
    token = int(error.argmax())
    return Witness(prefix, token, float(emitted[token]), float(target[token]))
