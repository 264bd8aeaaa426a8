"""The joint law of L tokens that a target implies, over the words that are possible at all.

    P(x_1 .. x_L | context) = p(x_1 | context) p(x_2 | context x_1) ...

Only words of positive probability are kept (and those that a filter's rounding may let through), prefix by prefix: a
vocabulary of 49,152 under top_k = 3 has 27 words of three tokens. All other words share one cell, "impossible".

Where a law has *boundary tokens* (see `target`) it is told apart only up to such a context: what follows it counts as
one cell.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.target import LawRow, Target
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_CELLS = 2**20
MANY_ROWS = 2**12  # of one length: beyond, the law is asked only if the words after it are likely to be few enough
SLACK = 16  # by which that may be wrong for the whole word: later tokens may have fewer ways to go on
TOKEN_BITS = 40


@dataclass(frozen=True)
class Level:
    """The possible prefixes of one length in lexicographic order, [w] each.

    parents  which prefix of one token less each one continues; tokens: with what
    law      its probability
    groups   the boundary context that it runs into, numbered; -1: none
    """

    parents: Ints
    tokens: Ints
    law: Floats
    groups: Ints
    keys: Ints  # parent and token in one increasing number: to be found by bisection


@dataclass(frozen=True)
class JointLaw:
    """The target's law of words of L tokens after one context; words are numbered 0..w-1, w is the impossible cell.

    law       probability of each possible word [w]
    rows      {prefix: p(. | context + prefix)} for every proper prefix that can occur
    boundary  {prefix: its boundary tokens}, only where there are any
    """

    levels: tuple[Level, ...] = field(repr=False)
    rows: Mapping[Context, LawRow] = field(repr=False)
    boundary: Mapping[Context, frozenset[int]] = field(repr=False)

    @property
    def tokens(self) -> int:
        return len(self.levels)

    @property
    def law(self) -> Floats:
        return self.levels[-1].law

    @cached_property
    def cells(self) -> Ints:
        """[w + 1] the word that stands for each word's cell: itself, or, for a word that runs into a context with
        boundary tokens, the first word that runs into it too; the last is the impossible cell."""
        groups = self.levels[-1].groups
        cells = np.arange(len(groups) + 1, dtype=np.int64)
        merged = np.flatnonzero(groups >= 0)
        _, first, which = np.unique(groups[merged], return_index=True, return_inverse=True)
        cells[merged] = merged[first][which]
        return cells

    def first(self, tokens: int) -> "JointLaw":
        """The law of so many first tokens."""
        rows = {prefix: row for prefix, row in self.rows.items() if len(prefix) < tokens}
        near = {prefix: tokens_near for prefix, tokens_near in self.boundary.items() if len(prefix) < tokens}
        return JointLaw(self.levels[:tokens], rows, near)

    def index(self, words: Ints) -> Ints:
        """The number of each word [n, L] -> [n]; w for an impossible one."""
        at = np.zeros(len(words), dtype=np.int64)
        possible = ((words >= 0) & (words < 2**TOKEN_BITS)).all(axis=1)
        for level, tokens in zip(self.levels, words.T, strict=True):
            keys = (at << TOKEN_BITS) | np.where(possible, tokens, 0)
            found = np.minimum(np.searchsorted(level.keys, keys), len(level.keys) - 1)
            possible &= level.keys[found] == keys
            at = np.where(possible, found, 0)
        return np.where(possible, at, len(self.law))

    def words(self) -> Ints:
        """The possible words [w, L], in order."""
        columns, at = [], np.arange(len(self.law))
        for level in reversed(self.levels):
            columns.append(level.tokens[at])
            at = level.parents[at]
        return np.stack(columns[::-1], axis=1)

    def of_cells(self, values: Floats | Ints) -> Floats:
        """Values per word [w + 1] added up per cell [w + 1]; words that do not stand for a cell get 0."""
        return np.bincount(self.cells, weights=values, minlength=len(self.law) + 1).astype(np.float64)

    def cell_law(self) -> Floats:
        """The law of the cells [w + 1]; the last one, the impossible words', has probability 0."""
        law = self.of_cells(np.append(self.law, 0.0))
        return law / law.sum()


def joint_law(target: Target, context: Context, tokens: int, rtol: float) -> JointLaw:
    """The joint law of `tokens` tokens after `context`. Raises InputError beyond 2^20 possible words."""
    found = longest_joint_law(target, context, tokens, rtol)
    if found.tokens < tokens:
        raise InputError(
            f"the joint law must have at most {MAX_CELLS} words, got more of {tokens} tokens: "
            "audit a smaller vocabulary, or fewer tokens"
        )
    return found


def longest_joint_law(
    target: Target, context: Context, tokens: int, rtol: float, *, most_rows: int = MAX_CELLS
) -> JointLaw:
    """The joint law of as many of `tokens` tokens as have at most 2^20 possible words; of one token at least.

    most_rows  prefixes of one length after which the law is asked at most: it may be a slow model
    """
    size = target.vocab_size
    if any(x < 0 or (size is not None and x >= size) for x in context):
        top = "" if size is None else f"..{size - 1}"
        raise InputError(f"the context must hold tokens 0{top}, got {context}: check --context")
    grower = _Grower(target, context, rtol)
    levels: list[Level] = []
    prefixes: list[Context] = [()]
    while len(levels) < tokens:
        if levels and not _may_grow(levels, tokens, most_rows):
            break
        level = grower.next_level(levels[-1] if levels else None, prefixes)
        if level is None:
            break
        levels.append(level)
        if len(levels) < tokens:
            steps = zip(level.parents.tolist(), level.tokens.tolist(), strict=True)
            prefixes = [(*prefixes[parent], token) for parent, token in steps]
    kept = {prefix: row for prefix, row in grower.rows.items() if len(prefix) < len(levels)}
    near = {prefix: x for prefix, x in grower.boundary.items() if len(prefix) < len(levels)}
    return JointLaw(tuple(levels), kept, near)


def _may_grow(levels: list[Level], tokens: int, most_rows: int) -> bool:
    """Whether the words of one token more, and of all tokens, are likely to be few enough to ask for all these laws.

    Likely: if every word goes on in as many ways as the last token did on average.
    """
    words, before = len(levels[-1].law), len(levels[-2].law) if len(levels) > 1 else 1
    if words <= MANY_ROWS or words > most_rows:
        return words <= most_rows
    ways = math.log2(words / before)
    whole = math.log2(words) + ways * (tokens - len(levels))
    return math.log2(words) + ways <= math.log2(MAX_CELLS) and whole <= math.log2(SLACK * MAX_CELLS)


class _Grower:
    """Makes the levels of one joint law, and remembers the rows; equal states are asked once."""

    def __init__(self, target: Target, context: Context, rtol: float) -> None:
        self.target, self.context, self.rtol = target, context, rtol
        self.rows: dict[Context, LawRow] = {}
        self.boundary: dict[Context, frozenset[int]] = {}
        self._by_state: dict[int, LawRow] = {}

    def next_level(self, before: Level | None, prefixes: list[Context]) -> Level | None:
        """The level after `before` (its prefixes are given); None beyond MAX_CELLS."""
        law = np.ones(1) if before is None else before.law
        groups = (np.full(1, -1) if before is None else before.groups).copy()
        tokens: list[Ints] = []
        masses: list[Floats] = []
        total = 0
        for i, prefix in enumerate(prefixes):
            row = self.rows[prefix] = self._row(self.context + prefix)
            near = self.target.near_cutoff(self.context + prefix)
            if near and groups[i] < 0:
                groups[i] = len(self.boundary)
            if near:
                self.boundary[prefix] = near
            here = np.union1d(row.tokens, np.array(sorted(near), dtype=np.int64)) if near else row.tokens
            tokens.append(here)
            masses.append(law[i] * (row.of(here) if near else row.p))
            total += len(here)
            if total > MAX_CELLS and before is None:
                raise InputError(f"the first token must have at most {MAX_CELLS} possible ids, got {total}: use fewer")
            if total > MAX_CELLS:
                return None
        lengths = [len(here) for here in tokens]
        parents, joined = np.repeat(np.arange(len(prefixes)), lengths), np.concatenate(tokens)
        keys = (parents << TOKEN_BITS) | joined
        return Level(parents, joined, np.concatenate(masses), np.repeat(groups, lengths), keys)

    def _row(self, context: Context) -> LawRow:
        if self.target.state is None:
            return self.target.possible(context, self.rtol)
        state = self.target.state(context)
        if state not in self._by_state:
            self._by_state[state] = self.target.possible(context, self.rtol)
        return self._by_state[state]
