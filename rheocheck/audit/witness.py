"""The witness of a bias: the context and token where the error is certain to be largest.

After prefix c the subject emitted x in N_cx of N_c draws; the reference says p(x | c). The error, weighted
by how often c was seen, is (N_c / n) |N_cx / N_c - p(x | c)|; certified is what Hoeffding's radius at a
joint level of 1e-3 leaves of it. A token that cannot occur needs no radius: one hit is certain.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.target import JointLaw
from rheocheck.audit.verdict import Witness
from rheocheck.core.pair import Context

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LEVEL = 1e-3


def witness_against_law(words: Ints, joint: JointLaw, context: Context) -> Witness:
    """The witness of `words` [n, L] against a known law.

    Where rounding decides about the law (boundary tokens), only impossible tokens count.
    """
    candidates = []
    counts = _next_counts(words, joint.vocab_size)
    radius = np.log(2 * len(counts) * joint.vocab_size / LEVEL) / 2
    for prefix, hits in counts.items():
        if prefix not in joint.rows:  # runs through an impossible token: that one is the witness
            continue
        p, seen = joint.rows[prefix], hits.sum()
        certified = np.abs(hits / seen - p) - np.sqrt(radius / seen)
        if prefix in joint.boundary:
            certified[:] = -np.inf
        impossible = p == 0
        impossible[list(joint.boundary.get(prefix, ()))] = False
        certified[impossible] = np.where(hits[impossible] > 0, hits[impossible] / seen, -np.inf)
        candidates.append((certified * seen / len(words), prefix, hits / seen, p))
    return _largest(candidates, context)


def witness_against_sample(words: Ints, reference: Ints, context: Context) -> Witness:
    """The witness of `words` [n, L] against a second sample [m, L], the baseline."""
    size = int(max(words.max(), reference.max())) + 1
    counts, other = _next_counts(words, size), _next_counts(reference, size)
    radius = np.log(2 * len(counts) * size / LEVEL) / 2
    candidates = []
    for prefix in counts.keys() & other.keys():
        hits, q = counts[prefix], other[prefix]
        error = np.abs(hits / hits.sum() - q / q.sum())
        certified = (error - np.sqrt(radius * (1 / hits.sum() + 1 / q.sum()))) * hits.sum() / len(words)
        candidates.append((certified, prefix, hits / hits.sum(), q / q.sum()))
    return _largest(candidates, context)


def _next_counts(words: Ints, size: int) -> Mapping[Context, Ints]:
    """{prefix: how often each token followed it}, for every proper prefix that was seen."""
    counts = {}
    for length in range(words.shape[1]):
        prefixes, which = np.unique(words[:, :length], axis=0, return_inverse=True)
        table = np.zeros((len(prefixes), size), dtype=np.int64)
        np.add.at(table, (which.ravel(), words[:, length]), 1)
        for prefix, row in zip(prefixes, table, strict=True):
            counts[tuple(int(x) for x in prefix)] = row
    return counts


def _largest(candidates: list[tuple[Floats, Context, Floats, Floats]], context: Context) -> Witness:
    """The largest certified error; ties go to the shortest, then smallest context and token."""
    certified, prefix, emitted, target = min(candidates, key=lambda c: (-c[0].max(), len(c[1]), c[1]))
    token = int(certified.argmax())
    return Witness(context + prefix, token, float(emitted[token]), float(target[token]))
