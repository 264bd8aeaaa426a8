"""Words of a decoder against the target, by many statistics at once: which one sees a fault depends on the fault.

One null for all of them: given everything earlier (earlier tokens, other rows, earlier calls, the drafts), the
next token has exactly the law p(. | its own context). It makes the words independent draws of one known law, so
the fairness of every bet below can be checked under that. Alternatives, and the statistic made for each:

    first token, per position          wrong frequencies, whatever came before
    next token given context           wrong conditional laws; the strongest in general
    joint prefix                       wrong law of the first tokens together
    two tokens back                    the law depends on more than it should: phases of a block, repetitions
    batch neighbour, previous call     a row copies the row before it, or its own row of the call before
    first token given previous call    random numbers carried from one call to the next
    accepted length                    with a decode log: a wrong accept rule, even one whose output is right
    bonus given context                with a decode log: the token after a fully accepted draft
    replacement given context          with a decode log: the token after a rejection

Never test accepted tokens against p: given that it was accepted, a token has law min(p, q) normalised, not p.

A pass does *not* say that the words have the target's law: it says that none of these bets won. Faults in rare
branches stay invisible in words; a decode log, or contexts that force the branch, find them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rheocheck.stats.contexts import NOT_COUNTED, ContextCounts, Law, Prefix, PrefixLaws, State
from rheocheck.stats.copies import Copies, LagBet
from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import Floats, Ints, check_not_negative
from rheocheck.stats.suite import mean
from rheocheck.stats.two_sample import check_same_settings

JOINT_CELLS = 512  # the joint prefix is the longest with at most this many cells
ENUMERATED_CELLS = 2**22  # of the laws that one position is computed from
MAX_REMEMBERED = 2**16  # rows that a later update may still be compared with
MAX_CALLS = 2**31
NAMED = 20  # impossible draws that are kept with their place


@dataclass(frozen=True)
class Impossible:
    """A draw of probability 0: certain bias. `row` counts all words from 0; the token came after `prefix`."""

    statistic: str
    row: int
    prefix: Prefix
    token: int


class Battery:
    """Evidence against "these words have the target's law", statistic by statistic and in total.

    law(prefix)   probabilities [vocab_size] of the next token; gets `context` + the tokens of the word so far
    tokens        L, the length of every word. Never drop words: a selection by length is a bias
    state(prefix) optional; equal keys promise equal laws. Default: the law itself with the last token. Counts
                  are pooled over equal keys, so a coarser state is stronger; for a model that depends on its
                  last token only, lambda prefix: prefix[-1:]
    rtol          every probability of `law` may be this much too small, relatively, before it counts; those of
                  `lengths` and `replacement` too
    batch         rows per call, if words come in batches; `rows` and `calls` of `update` say it otherwise
    log           a decode log comes with the words; then `depth` is the number of drafts of a full block
    lengths       lengths(prefix): law [depth + 1] of the accepted count of a block that starts at prefix, or None
                  where it is not known; lengths need it
    replacement   replacement(prefix): law of the token that replaces a rejected draft after prefix, or None
    max_prefixes  most prefixes enumerated for the exact law of a position; later positions are left out
    """

    def __init__(
        self,
        law: Law,
        vocab_size: int,
        tokens: int,
        *,
        context: Sequence[int] = (),
        state: State | None = None,
        rtol: float = 0.0,
        batch: int | None = None,
        log: bool = False,
        depth: int | None = None,
        lengths: Law | None = None,
        replacement: Law | None = None,
        max_prefixes: int = 4096,
    ) -> None:
        for name, value in (("vocab_size", vocab_size), ("tokens", tokens), ("batch", 1 if batch is None else batch)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value!r}: count from 1")
        if log and (depth is None or depth < 1):
            raise ValueError(f"depth must be at least 1 with log=True, got {depth!r}: pass the drafts of a full block")
        if not log and (lengths is not None or replacement is not None):
            raise ValueError("log must be True with lengths or replacement, got False: pass log=True and depth")
        check_not_negative("rtol", rtol)
        self.vocab_size, self.tokens, self.context, self.rtol = vocab_size, tokens, tuple(context), rtol
        self.batch, self.log, self.depth, self.max_prefixes = batch, log, depth or 0, max_prefixes
        self.words = 0
        self.impossible: list[Impossible] = []
        self._impossible: dict[str, int] = {}
        self._laws = PrefixLaws(law, vocab_size, context=self.context, state=state)
        positions, joint = self._enumerate()
        self._position_counts = np.zeros((len(positions), vocab_size), dtype=np.int64)
        self._joint_tokens = _joint_tokens(vocab_size, tokens, len(positions))
        self._joint_counts = np.zeros(len(joint), dtype=np.int64)
        # A token may be rtol likelier than p says, so a word of t tokens, and any sum of such, (1 + rtol)^t.
        self._positions = [EMix(p, rtol=_power(rtol, t + 1)) for t, p in enumerate(positions)]
        self._joint = EMix(joint, rtol=_power(rtol, self._joint_tokens))
        self._next = ContextCounts(self._laws, rtol=rtol)
        self._two_back = ContextCounts(self._laws, rtol=rtol)
        self._lag = LagBet(positions[0], rtol=rtol)
        self._neighbour, self._previous = Copies(tokens, rtol=rtol), Copies(tokens, rtol=rtol)
        self._recent_codes = np.zeros(0, dtype=np.int64)
        self._recent_words = np.zeros((0, tokens), dtype=np.int64)
        self._bonus = ContextCounts(self._laws, rtol=rtol) if log else None
        self._replacement = _tested(replacement, "replacement", vocab_size, self.context, rtol)
        self._lengths = _tested(lengths, "lengths", self.depth + 1, self.context, rtol)

    def update(
        self,
        words: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        calls: ArrayLike | None = None,
        blocks: Sequence[Sequence[Sequence[int]]] | NDArray[np.int64] | None = None,
    ) -> None:
        """Add words [n, L] in order of generation.

        rows, calls  [n] which row of which call a word is; give both or none (none: one call after the other, in
                     batches of `batch`)
        blocks       decode log: for every word its blocks [accepted, emitted] in order, the first one starting at
                     token 0 (or an array [n, blocks, 2], filled up with emitted = 0); what a block emits beyond
                     token L is ignored
        """
        x = self._checked_words(words)
        where = self._numbered(len(x), rows, calls)
        log = _checked_blocks(blocks, len(x), self.depth) if self.log else None
        if not self.log and blocks is not None:
            raise ValueError("log must be True where blocks are given, got False: construct with log=True and depth")
        groups = _group(x, self.vocab_size)
        states = np.full((len(x), self.tokens), NOT_COUNTED, dtype=np.int64)
        log_p = np.zeros(len(x))
        length = np.full(len(x), self.tokens)  # tokens before an impossible one, from which on no law is defined
        for t in range(self.tokens):
            alive = np.flatnonzero(length > t)
            group, prefixes = _prefixes(x, groups[t], alive, t)
            states[alive, t], p = self._laws.settle(prefixes, group, x[alive, t])
            length[alive[p == 0]] = t
            for row in alive[p == 0]:
                self._hit("next token given context", int(row), x[row, :t], int(x[row, t]))
            log_p[alive[p > 0]] += np.log(p[p > 0])
        self._count_words(x, states, length)
        self._count_copies(x, where, log_p, length)
        if log is not None:
            self._count_log(x, groups, states, length, *log)
        self.words += len(x)

    def log_e(self, *, count_impossible: bool = True) -> dict[str, float]:
        """Natural logarithm of the e-value of each statistic that had data.

        +inf where a draw of probability 0 was seen, its place is in `impossible`; count_impossible=False leaves
        these draws out (to be reported apart, when the target is cut off by a filter and only known in floats).
        """
        found = {name: log_e for name, (log_e, draws) in self._statistics().items() if draws}
        if count_impossible:
            found |= dict.fromkeys(self._impossible, float("inf"))
        return found

    def total(self, *, count_impossible: bool = True) -> float:
        """Natural logarithm of the e-value of all statistics together; reject at log(1 / alpha).

        They look at the same words, so only their mean is an e-value (a product would count the same surprise
        twice). The number of statistics is fixed by the settings; one without data counts as E = 1.
        """
        if count_impossible and self._impossible:
            return float("inf")
        return mean([log_e for log_e, _ in self._statistics().values()])

    @property
    def joint_tokens(self) -> int:
        """How many tokens the joint prefix has."""
        return self._joint_tokens

    def state(self) -> dict[str, Any]:
        """Everything `restore` needs to go on, as plain JSON."""
        return {
            **self._settings(),
            "words": self.words,
            "impossible": [[i.statistic, i.row, list(i.prefix), i.token] for i in self.impossible],
            "impossible counts": self._impossible,
            "positions": self._position_counts.tolist(),
            "joint": self._joint_counts.tolist(),
            "laws": self._laws.saved(),
            "next": self._next.saved(),
            "two back": self._two_back.saved(),
            "lag": self._lag.state(),
            "copies": [self._neighbour.saved(), self._previous.saved()],
            "recent": [self._recent_codes.tolist(), self._recent_words.tolist()],
            "bonus": self._bonus.saved() if self._bonus else None,
            "replacement": [self._replacement.laws.saved(), self._replacement.saved()] if self._replacement else None,
            "lengths": [self._lengths.laws.saved(), self._lengths.saved()] if self._lengths else None,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of a battery of the same settings and laws; ValueError where they differ."""
        check_same_settings(state, **self._settings())
        self.words = state["words"]
        self.impossible = [Impossible(name, row, tuple(w), token) for name, row, w, token in state["impossible"]]
        self._impossible = dict(state["impossible counts"])
        self._position_counts = np.array(state["positions"], dtype=np.int64)
        self._joint_counts = np.array(state["joint"], dtype=np.int64)
        self._laws.restore(state["laws"])
        self._next.restore(state["next"])
        self._two_back.restore(state["two back"])
        self._lag.restore(state["lag"])
        self._neighbour.restore(state["copies"][0])
        self._previous.restore(state["copies"][1])
        self._recent_codes = np.array(state["recent"][0], dtype=np.int64)
        self._recent_words = np.array(state["recent"][1], dtype=np.int64).reshape(-1, self.tokens)
        if self._bonus:
            self._bonus.restore(state["bonus"])
        for name, counts in (("replacement", self._replacement), ("lengths", self._lengths)):
            if counts:
                counts.laws.restore(state[name][0])
                counts.restore(state[name][1])

    def _settings(self) -> dict[str, Any]:
        return {
            "vocab_size": self.vocab_size,
            "tokens": self.tokens,
            "context": list(self.context),
            "rtol": self.rtol,
            "batch": self.batch,
            "depth": self.depth,
            "max_prefixes": self.max_prefixes,
        }

    def _statistics(self) -> dict[str, tuple[float, int]]:
        """(log e-value, draws) of every statistic of these settings."""
        positions = [e.log_e(n) for e, n in zip(self._positions, self._position_counts, strict=True)]
        found = {"first token": (positions[0], self.words)}
        if len(positions) > 1:
            # Different positions of the same words are dependent: mean only.
            found["per position"] = (mean(positions), self.words)
        found["next token given context"] = (self._next.log_e(), self._next.draws())
        if self._joint_tokens > 1:
            found["joint prefix"] = (self._joint.log_e(self._joint_counts), self.words)
        if self.tokens + len(self.context) > 2:
            found["two tokens back"] = (self._two_back.log_e(), self._two_back.draws())
        found["batch neighbour"] = (self._neighbour.log_e(), self._neighbour.bets)
        found["previous call"] = (self._previous.log_e(), self._previous.bets)
        found["first token given previous call"] = (self._lag.log_e(), self._lag.draws())
        for name, counts in (
            ("accepted length", self._lengths),
            ("bonus given context", self._bonus),
            ("replacement given context", self._replacement),
        ):
            if counts:
                found[name] = (counts.log_e(), counts.draws())
        return found

    def _enumerate(self) -> tuple[list[Floats], Floats]:
        """Exact laws of the token at each position, and of the joint prefix; positions that need too many stay out."""
        prefixes: list[Prefix] = [()]
        weights = np.ones(1)
        positions: list[Floats] = []
        joint = np.ones(1)
        for t in range(self.tokens):
            rows = weights[:, None] * np.array([self._laws.find(prefix)[1] for prefix in prefixes], dtype=float)
            positions.append(rows.sum(axis=0) / rows.sum())
            possible = np.flatnonzero(rows.ravel() > 0)
            if t < _joint_tokens(self.vocab_size, self.tokens, t + 1):
                joint = np.zeros(self.vocab_size ** (t + 1))
                cells = np.array([_cell(w, self.vocab_size) for w in prefixes])
                joint[(cells[:, None] * self.vocab_size + np.arange(self.vocab_size)).ravel()] = rows.ravel()
            if len(possible) > min(self.max_prefixes, ENUMERATED_CELLS // self.vocab_size):
                break
            prefixes = [(*prefixes[i // self.vocab_size], int(i % self.vocab_size)) for i in possible]
            weights = rows.ravel()[possible]
        return positions, joint / joint.sum()

    def _count_words(self, x: Ints, states: Ints, length: Ints) -> None:
        """The statistics of tokens by position and context. `length` tokens of each word are possible ones."""
        for t, counts in enumerate(self._position_counts):
            # Fair: under the null words are independent, so tokens at one position are draws of its known law.
            counts += np.bincount(x[length > t, t], minlength=self.vocab_size)
        whole = x[length >= self._joint_tokens, : self._joint_tokens]
        # Fair: the same, with the prefix of a word as one draw.
        cells = _cell(whole.T, self.vocab_size)
        self._joint_counts += np.bincount(cells, minlength=len(self._joint_counts))
        full = np.concatenate([np.tile(np.array(self.context, dtype=np.int64), (len(x), 1)), x], axis=1)
        for t in range(self.tokens):
            ok, at = length > t, t + len(self.context)
            # Fair: the state is a function of the prefix, known before the token, which has the law of the state
            # whatever came before; tokens are taken position by position, one order in which all earlier draws
            # are given. ContextCounts deals with the random number of draws in each state.
            self._next.add(states[ok, t], states[ok, t], x[ok, t])
            if at >= 2:
                # Fair: the same with finer contexts, (state, token before the last): the null says that the law
                # is that of the state for each of them.
                keys = states[ok, t] * self.vocab_size + full[ok, at - 2]
                self._two_back.add(keys, states[ok, t], x[ok, t])

    def _count_copies(self, x: Ints, where: tuple[Ints, Ints], log_p: Floats, length: Ints) -> None:
        """Bets on relations between rows; words with an impossible token stay out.

        Fair: order all rows by (call, row). A row is compared with one that comes earlier in this order, so that
        its word is known, and under the null its own word still has law p(word). Each row is bet on once per
        relation. The first token given the first token of the earlier row: the same, with the first token only.
        """
        call, row = where
        code = call * MAX_CALLS + row
        ok = length == self.tokens
        code, words, log_p = code[ok], x[ok], log_p[ok]
        codes, all_words = np.append(self._recent_codes, code), np.concatenate([self._recent_words, words])
        order = np.argsort(codes, kind="stable")
        codes, all_words = codes[order], all_words[order]
        if not len(codes):
            return
        for copies, back in ((self._neighbour, 1), (self._previous, MAX_CALLS)):
            wanted = code - back
            # Row 0 has no neighbour: its code less 1 would be a row of the call before.
            at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
            has = (codes[at] == wanted) & ((back > 1) | (code % MAX_CALLS > 0))
            copies.bet((words[has] == all_words[at[has]]).all(axis=1), log_p[has])
            if back > 1:
                self._lag.add(all_words[at[has], 0], words[has, 0])
        keep = codes // MAX_CALLS >= codes[-1] // MAX_CALLS - 1  # the last call may still grow
        self._recent_codes, self._recent_words = codes[keep][-MAX_REMEMBERED:], all_words[keep][-MAX_REMEMBERED:]

    def _count_log(
        self, x: Ints, groups: list[Ints], states: Ints, length: Ints, accepted: Ints, emitted: Ints
    ) -> None:
        """The statistics of the decode log [n, blocks].

        Fair: each is a draw whose law the null fixes given everything before *that draw*, acceptances included.
        Accepted length: given the prefix at which the block starts. Bonus: given that the whole draft was
        accepted, the next token has law p. Replacement: given that a draft was rejected, it has the law that the
        caller vouches for. Whether a draw happens, and inside the first L tokens, is decided before it is made.
        """
        start = np.cumsum(emitted, axis=1) - emitted
        last = start + accepted  # where the token after the accepted ones stands
        real = emitted > 0
        if self._lengths:
            self._count_where(self._lengths, "accepted length", real, start, accepted, x, groups, length)
        finished = real & (emitted == accepted + 1)
        ok = finished & (accepted == self.depth) & (last < self.tokens)
        for b in range(ok.shape[1]):
            r = np.flatnonzero(ok[:, b])
            t = last[r, b]
            r, t = r[length[r] > t], t[length[r] > t]
            if self._bonus:
                self._bonus.add(states[r, t], states[r, t], x[r, t])
        if self._replacement:
            rejected = finished & (accepted < self.depth)
            drawn = x[np.arange(len(x))[:, None], np.minimum(last, self.tokens - 1)]
            self._count_where(self._replacement, "replacement given context", rejected, last, drawn, x, groups, length)

    def _count_where(
        self, counts: ContextCounts, name: str, ok: NDArray[np.bool_], position: Ints, drawn: Ints, x: Ints,
        groups: list[Ints], length: Ints,
    ) -> None:  # fmt: skip
        """Add drawn[row, block], made after the prefix of length position[row, block], where ok."""
        for t in range(self.tokens):
            row, block = np.nonzero(ok & (position == t))
            possible = length[row] >= t
            row, block = row[possible], block[possible]
            group, prefixes = _prefixes(x, groups[t], row, t)
            states, p = counts.laws.settle(prefixes, group, drawn[row, block])
            for i in np.flatnonzero(p == 0):
                self._hit(name, int(row[i]), x[row[i], :t], int(drawn[row[i], block[i]]))
            good = p > 0
            counts.add(states[good], states[good], drawn[row, block][good])

    def _hit(self, statistic: str, row: int, prefix: Ints, token: int) -> None:
        """A draw of probability 0, in every statistic that contains it."""
        if len(self.impossible) < NAMED:
            self.impossible.append(Impossible(statistic, self.words + row, tuple(prefix.tolist()), token))
        names = [statistic]
        if statistic == "next token given context":
            names += ["first token"] if len(prefix) == 0 else []
            names += ["joint prefix"] if len(prefix) < self._joint_tokens and self._joint_tokens > 1 else []
        for name in names:
            self._impossible[name] = self._impossible.get(name, 0) + 1

    def _checked_words(self, words: ArrayLike) -> Ints:
        x = np.asarray(words)
        if x.ndim != 2 or x.shape[1] != self.tokens or (x.size and x.dtype.kind not in "iu"):
            raise ValueError(
                f"words must be token ids [n, {self.tokens}], got {x.dtype} of shape {x.shape}: one row per word"
            )
        if x.size and not (0 <= x.min() and x.max() < self.vocab_size):
            row, t = np.argwhere((x < 0) | (x >= self.vocab_size))[0]
            raise ValueError(
                f"words must be in 0..{self.vocab_size - 1}, got {x[row, t]} at row {row}, token {t}: "
                "check the vocabulary size"
            )
        return x.astype(np.int64)

    def _numbered(self, n: int, rows: ArrayLike | None, calls: ArrayLike | None) -> tuple[Ints, Ints]:
        if (rows is None) != (calls is None):
            raise ValueError("rows and calls must come together, got one of them: pass both, or neither")
        if rows is None or calls is None:
            index, batch = self.words + np.arange(n), self.batch or 1
            return index // batch, index % batch
        found = []
        for name, values in (("calls", calls), ("rows", rows)):
            x = np.asarray(values)
            if x.shape != (n,) or (n and (x.dtype.kind not in "iu" or x.min() < 0 or x.max() >= MAX_CALLS)):
                raise ValueError(f"{name} must be one number >= 0 per word, got shape {x.shape}: number them from 0")
            found.append(x.astype(np.int64))
        return found[0], found[1]


def _tested(law: Law | None, name: str, size: int, context: Prefix, rtol: float) -> ContextCounts | None:
    return (
        None
        if law is None
        else ContextCounts(PrefixLaws(law, size, name=name, context=context, optional=True), rtol=rtol)
    )


def _power(rtol: float, tokens: int) -> float:
    """(1 + rtol)^tokens - 1."""
    return float(np.expm1(tokens * np.log1p(rtol)))


def _joint_tokens(vocab_size: int, tokens: int, enumerated: int) -> int:
    """The longest prefix with at most JOINT_CELLS cells whose law is known, at least the first token."""
    length = 1
    while length < min(tokens, enumerated) and vocab_size ** (length + 1) <= JOINT_CELLS:
        length += 1
    return length


def _cell(word: Any, vocab_size: int) -> Any:
    """A word as one number, first token first; for words [t, n], one number each."""
    cell: Any = 0
    for token in word:
        cell = cell * vocab_size + token
    return cell


def _group(x: Ints, vocab_size: int) -> list[Ints]:
    """For every t, a number [n] for the first t tokens: equal numbers, equal prefixes."""
    groups = [np.zeros(len(x), dtype=np.int64)]
    for t in range(x.shape[1] - 1):
        groups.append(np.unique(groups[-1] * vocab_size + x[:, t], return_inverse=True)[1].reshape(-1))
    return groups


def _prefixes(x: Ints, groups: Ints, rows: Ints, t: int) -> tuple[Ints, list[Prefix]]:
    """The distinct prefixes of length t of some rows, and which of them each has."""
    _, first, group = np.unique(groups[rows], return_index=True, return_inverse=True)
    return group.reshape(-1), [tuple(word) for word in x[rows[first], :t].tolist()]


def _checked_blocks(blocks: Any, n: int, depth: int) -> tuple[Ints, Ints]:
    """accepted and emitted [n, most blocks], filled up with 0."""
    if blocks is None or len(blocks) != n:
        got = "none" if blocks is None else len(blocks)
        raise ValueError(f"blocks must be one list of [accepted, emitted] per word, got {got} for {n}: pass the log")
    if isinstance(blocks, np.ndarray):
        log = blocks
    else:
        log = np.zeros((n, max((len(word) for word in blocks), default=0), 2), dtype=np.int64)
        for row, word in enumerate(blocks):
            if len(word):
                log[row, : len(word)] = word
    if log.ndim != 3 or log.shape[2] != 2 or log.dtype.kind not in "iu":
        raise ValueError(f"blocks must be [accepted, emitted] pairs, got shape {log.shape}: one pair per block")
    accepted, emitted = log[:, :, 0].astype(np.int64), log[:, :, 1].astype(np.int64)
    bad = (accepted < 0) | (accepted > depth) | (emitted < 0) | (emitted > accepted + 1)
    bad &= (emitted > 0) | (accepted != 0)
    if bad.any():
        row, block = np.argwhere(bad)[0]
        raise ValueError(
            f"blocks must have 0 <= accepted <= {depth} and emitted <= accepted + 1, got "
            f"{log[row, block].tolist()} in word {row}: log [accepted, emitted] of every block"
        )
    return accepted, emitted
