"""The witness of a bias: the context and token where the error is certain to be largest.

After prefix c the subject emitted x in N_cx of N_c draws; the reference says p(x | c). The error, weighted
by how often c was seen, is (N_c / n) |N_cx / N_c - p(x | c)|; certified is what Hoeffding's radius at a
joint level of 1e-3 leaves of it. A token that cannot occur needs no radius: one hit is certain, and the most frequent
of such hits is the witness. Where no single token's error is certain (the bias is certain all the same), the error
that is largest in standard deviations is shown, or nothing at all if the bias is one of dependence. Of each length the
MOST prefixes that were seen most often are looked at: behind the others nothing weighs enough.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import Witness
from rheocheck.core.pair import Context

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LEVEL = 1e-3
MOST = 1000


def witness_against_law(
    tally: Tally,
    row: Callable[[Context], Floats],
    boundary: Callable[[Context], frozenset[int]],
    size: int,
    impossible: Iterable[tuple[Context, int]],
    *,
    certain: bool = False,
) -> Witness | None:
    """The witness of the tallied words against a law: row(prefix) -> p [size].

    impossible  hits of tokens of probability 0, (prefix, token). Where rounding decides about the law
                (boundary(prefix) is not empty) nothing else counts
    certain     None where no token's error is certain
    """
    hits = {(prefix, token): _emitted(tally, prefix, token) for prefix, token in impossible}
    if hits:
        prefix, token = min(hits, key=lambda hit: (-hits[hit][0], len(hit[0]), hit))
        count, seen = hits[prefix, token]
        return Witness(prefix, token, count / seen, 0.0)
    best = _Largest(tally, size)
    dead: set[Context] = set()  # behind a boundary token that the law drops: nothing is defined there
    for prefix, tokens, counts in tally.followed(MOST):
        if prefix in dead or prefix[:-1] in dead:
            dead.add(prefix)
            continue
        p = row(prefix)
        dead.update((*prefix, int(x)) for x in tokens[p[tokens] == 0])
        if boundary(prefix):
            continue
        emitted = np.zeros(size)
        emitted[tokens] = counts / counts.sum()
        best.add(prefix, np.arange(size), emitted, p, 1 / counts.sum())
    return best.witness(certain)


def witness_against_sample(tally: Tally, reference: Tally, *, certain: bool = False) -> Witness | None:
    """The witness of the tallied words against a second sample, the baseline."""
    best = _Largest(tally, 1 + int(max(tally.words.max(), reference.words.max())))
    for prefix, tokens, counts in tally.followed(MOST):
        _, others, other = reference.after(prefix)
        if len(others):
            met = np.union1d(tokens, others)
            a, b = np.zeros(len(met)), np.zeros(len(met))
            a[np.searchsorted(met, tokens)] = counts / counts.sum()
            b[np.searchsorted(met, others)] = other / other.sum()
            best.add(prefix, met, a, b, 1 / counts.sum() + 1 / other.sum())
    return best.witness(certain)


class _Largest:
    """The largest certified error so far, and the error largest in standard deviations; ties go to the first."""

    def __init__(self, tally: Tally, size: int) -> None:
        self._tally = tally
        self._radius = np.log(2 * tally.prefixes() * size / LEVEL) / 2
        self._certified: tuple[float, Witness | None] = (0.0, None)
        self._error: tuple[float, Witness | None] = (-1.0, None)

    def add(self, prefix: Context, tokens: Ints, emitted: Floats, p: Floats, variance: float) -> None:
        """Frequencies of some tokens after a prefix, and what the reference says; variance = 1/n or 1/n + 1/m."""
        weight = self._tally.after(prefix)[2].sum() / self._tally.n
        error = np.abs(emitted - p)
        i = int(error.argmax())
        found = Witness(prefix, int(tokens[i]), float(emitted[i]), float(p[i]))
        certified = float((error[i] - np.sqrt(self._radius * variance)) * weight)
        if certified > self._certified[0]:
            self._certified = certified, found
        z = error / np.sqrt(np.maximum(p * (1 - p), 1e-12) * variance)
        j = int(z.argmax())
        if z[j] > self._error[0]:
            self._error = float(z[j]), Witness(prefix, int(tokens[j]), float(emitted[j]), float(p[j]))

    def witness(self, certain: bool) -> Witness | None:
        return self._certified[1] or (None if certain else self._error[1])


def _emitted(tally: Tally, prefix: Context, token: int) -> tuple[int, int]:
    """How often `token` came after `prefix`, and how often anything did."""
    _, tokens, counts = tally.after(prefix)
    return int(counts[tokens == token].sum()), int(counts.sum())
