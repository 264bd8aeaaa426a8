"""Next-token counts in many contexts, and the laws of these contexts, kept per prefix.

    PrefixLaws     which law a prefix has; one row per distinct law, met prefixes remembered
    ContextCounts  counts of a token in each of many contexts, as one e-value

Null of both: given everything earlier, the next token has exactly the law of its own context.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import Floats, Ints, as_law

Prefix = tuple[int, ...]
Law = Callable[[Prefix], ArrayLike | None]
State = Callable[[Prefix], Hashable]

MAX_CELLS = 2**24  # of laws that are kept: 128 MiB
MAX_CONTEXTS, MAX_COUNTS = 1024, 2**19  # of one statistic: a look then takes about a second at most
MAX_PREFIXES = 2**18  # whose law is remembered
SAME_LAW = 1e-6  # a law recomputed elsewhere may differ by rounding
NOT_COUNTED, NOT_TESTED = -1, -2  # law known but no room to keep it; no law given (None)


class PrefixLaws:
    """`law(context + prefix)` for every prefix met, stored once per state.

    `state(context + prefix)` promises: equal keys have equal laws. By default the key is the law itself with
    the last token. The first states met are kept, as many as fit in MAX_CELLS; later ones are looked up every
    time and not counted. That choice depends on the prefix, never on the token that follows, so it is fair.
    """

    def __init__(
        self,
        law: Law,
        size: int,
        *,
        name: str = "law",
        context: Prefix = (),
        state: State | None = None,
        optional: bool = False,
    ) -> None:
        self.law, self.size, self.name, self.context, self.key = law, size, name, context, state
        self.optional = optional  # whether the law may be None, not known, after some prefixes
        self.examples: list[Prefix] = []  # one prefix per state
        self._index: dict[Hashable, int] = {}
        self._prefixes: dict[Prefix, int] = {}
        self._rows = np.zeros((0, size))
        self._room = max(1, MAX_CELLS // size)

    def row(self, index: int) -> Floats:
        row: Floats = self._rows[index]
        return row

    def rows(self, indices: Ints) -> Floats:
        """The laws of some states [n, size]."""
        rows: Floats = self._rows[indices]
        return rows

    def find(self, prefix: Prefix) -> tuple[int, Floats | None]:
        """Number of the state of `prefix` and its law; NOT_COUNTED or NOT_TESTED where there is none."""
        known = self._prefixes.get(prefix)
        if known is not None:
            return known, None if known == NOT_TESTED else self._rows[known]
        full = self.context + prefix
        key = None if self.key is None else self.key(full)
        index = None if self.key is None else self._index.get(key)
        row = None
        if index is None:
            given = self.law(full)
            if given is None and self.optional:
                index = NOT_TESTED
            else:
                row = self._checked(np.nan if given is None else given, full)
                if self.key is None:
                    key = (row.tobytes(), full[-1:])
                    index = self._index.get(key)
                if index is None:
                    index = self._keep(key, row, prefix)
        if index != NOT_COUNTED and len(self._prefixes) < MAX_PREFIXES:
            self._prefixes[prefix] = index
        return index, row if index < 0 else self._rows[index]

    def settle(self, prefixes: list[Prefix], group: Ints, tokens: Ints) -> tuple[Ints, Floats]:
        """State number and probability of tokens[i] after prefixes[group[i]], for every i (NaN: not tested)."""
        index = np.empty(len(prefixes), dtype=np.int64)
        p = np.full(len(tokens), np.nan)
        by_group = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[by_group], np.arange(len(prefixes) + 1))
        for g, prefix in enumerate(prefixes):
            index[g], row = self.find(prefix)
            if index[g] == NOT_COUNTED and row is not None:
                here = by_group[ends[g] : ends[g + 1]]
                p[here] = row[tokens[here]]
        states = index[group]
        kept = states >= 0
        p[kept] = self._rows[states[kept], tokens[kept]]
        return states, p

    def _marks(self) -> Floats:
        """Fixed weights, well spread over [0, 1): two laws with equal means of them are the same, near enough."""
        marks: Floats = np.arange(1, self.size + 1) * (np.sqrt(5) / 2) % 1
        return marks

    def _checked(self, values: ArrayLike, full: Prefix) -> Floats:
        row = as_law(values, f"{self.name}{full}")
        if len(row) != self.size:
            raise ValueError(
                f"{self.name}{full} must have {self.size} entries, got {len(row)}: give every token a probability"
            )
        return row

    def _keep(self, key: Hashable, row: Floats, prefix: Prefix) -> int:
        count = len(self.examples)
        if count >= self._room:
            return NOT_COUNTED
        if count == len(self._rows):
            grown = np.zeros((min(self._room, max(16, 2 * count)), self.size))
            grown[:count] = self._rows
            self._rows = grown
        self._rows[count] = row
        self._index[key] = count
        self.examples.append(prefix)
        return count

    def saved(self) -> list[Any]:
        """[prefix, fingerprint of its law] of every state, in order."""
        marks = self._rows[: len(self.examples)] @ self._marks()
        return [[list(prefix), float(mark)] for prefix, mark in zip(self.examples, marks, strict=True)]

    def restore(self, saved: list[Any]) -> None:
        for index, (example, mark) in enumerate(saved):
            found, row = self.find(tuple(example))
            if found != index or row is None or abs(row @ self._marks() - mark) > SAME_LAW:
                raise ValueError(
                    f"{self.name} must be the one the state was saved with, got another at {example}: restore with it"
                )


class ContextCounts:
    """Counts of the next token in each context, as one e-value: EMix in every context, half mean, half product.

    Why each is fair: E_c is a non-negative martingale in the draws of its own context c, and a draw of c leaves
    the others alone, so *at every draw* each E_c keeps its conditional mean, whatever decides which context comes
    next and however many draws each gets. Hence the product of all E_c is a martingale too, and so is
    sum w_c E_c for weights fixed in advance: w = 1 / (m (m + 1)) for the m-th context met, which is known before
    its first draw; contexts not met yet hold the rest of the weight at E = 1. (Dividing by the number of
    contexts met so far would *not* be fair: that number depends on the draws.)

    Contexts are kept in the order they were met, up to MAX_CONTEXTS and MAX_COUNTS; later ones are not counted.
    """

    def __init__(self, laws: PrefixLaws, *, rtol: float = 0.0) -> None:
        self.laws, self.rtol = laws, rtol
        self._room = max(1, min(MAX_CONTEXTS, MAX_COUNTS // laws.size))
        self._index: dict[int, int] = {}
        self._states: list[int] = []
        self._counts = np.zeros((0, laws.size), dtype=np.int64)
        self._log_e: Floats = np.zeros(0)
        self._changed = np.zeros(0, dtype=bool)
        self._emix: dict[int, EMix] = {}

    def add(self, keys: Ints, states: Ints, tokens: Ints) -> None:
        """Count tokens[i], drawn after something numbered keys[i] whose law is states[i]; in order."""
        counted = states >= 0
        keys, states, tokens = keys[counted], states[counted], tokens[counted]
        if not len(keys):
            return
        met, first, where = np.unique(keys, return_index=True, return_inverse=True)
        for i in np.argsort(first):  # in the order they were met
            if int(met[i]) not in self._index and len(self._states) < self._room:
                self._index[int(met[i])] = len(self._states)
                self._states.append(int(states[first[i]]))
        self._grow()
        rows = np.array([self._index.get(int(key), -1) for key in met])[where]
        counted = rows >= 0
        np.add.at(self._counts, (rows[counted], tokens[counted]), 1)
        self._changed[rows[counted]] = True

    def log_e(self) -> float:
        """Natural logarithm of the e-value."""
        by_state: dict[int, list[int]] = {}
        for row in np.flatnonzero(self._changed[: len(self._states)]):
            by_state.setdefault(self._states[row], []).append(int(row))
        for state, rows in by_state.items():
            if state not in self._emix:
                self._emix[state] = EMix(self.laws.row(state), rtol=self.rtol)
            self._log_e[rows] = self._emix[state].log_e_many(self._counts[rows])
        self._changed[:] = False
        log_e = self._log_e[: len(self._states)]
        m = np.arange(1, len(log_e) + 1)
        mean = logsumexp(np.append(log_e - np.log(m * (m + 1)), -np.log(len(log_e) + 1)))
        return float(np.logaddexp(mean, log_e.sum()) - np.log(2))

    def draws(self) -> int:
        return int(self._counts.sum())

    def counts(self) -> dict[int, Ints]:
        """Counts of the next token by context key."""
        return {key: self._counts[row] for key, row in self._index.items()}

    def saved(self) -> list[Any]:
        """[key, state, counted tokens, their counts] of every context, in order."""
        result = []
        for key, row in self._index.items():
            tokens = np.flatnonzero(self._counts[row])
            result.append([key, self._states[row], tokens.tolist(), self._counts[row][tokens].tolist()])
        return result

    def restore(self, saved: list[Any]) -> None:
        self._index = {int(key): row for row, (key, _, _, _) in enumerate(saved)}
        self._states = [int(state) for _, state, _, _ in saved]
        self._counts, self._log_e = np.zeros((0, self.laws.size), dtype=np.int64), np.zeros(0)
        self._grow()
        for row, (_, _, tokens, counts) in enumerate(saved):
            self._counts[row, tokens] = counts
        self._changed = np.ones(len(self._log_e), dtype=bool)

    def _grow(self) -> None:
        """Room for every context met: a context without draws has E = 1."""
        have, need = len(self._counts), len(self._states)
        if need <= have:
            return
        size = min(self._room, max(16, need, 2 * have))
        for name, empty in (
            ("_counts", np.zeros((size, self.laws.size), dtype=np.int64)),
            ("_log_e", np.zeros(size)),
            ("_changed", np.zeros(size, dtype=bool)),
        ):
            empty[:have] = getattr(self, name)[:have]
            setattr(self, name, empty)
