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
    pairs of positions                 a token depends on, copies or shares its number with any earlier one
    windows                            it depends on several earlier ones together, which pairs do not show
    rows and calls, carried over       any token of a row depends on another row; what one call leaves to the next
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
from rheocheck.stats.decode_log import DecodeLog
from rheocheck.stats.distances import Distances
from rheocheck.stats.emix import EMix
from rheocheck.stats.inputs import Ints, check_not_negative
from rheocheck.stats.position_laws import joint_length, position_laws
from rheocheck.stats.relations import Relations
from rheocheck.stats.suite import mean
from rheocheck.stats.two_sample import check_same_settings
from rheocheck.stats.windows import Windows
from rheocheck.stats.words import cell, checked_blocks, checked_places, checked_words, distinct_prefixes, group

STREAMS = (  # the statistics of dependence between draws
    "batch neighbour", "previous call", "first token given previous call", "rows and calls", "carried over",
)  # fmt: skip
WITHIN = ("pairs of positions", "windows")  # those of dependence between tokens of one word, at any distance
STATISTICS = (  # all there can be: the total is the mean of those that the settings allow
    "first token", "per position", "next token given context", "joint prefix", "two tokens back", *WITHIN,
    *STREAMS, "accepted length", "bonus given context", "replacement given context",
)  # fmt: skip
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
        positions, joint = position_laws(self._laws, tokens, max_prefixes)
        self._position_counts = np.zeros((len(positions), vocab_size), dtype=np.int64)
        self._joint_tokens = joint_length(vocab_size, tokens, len(positions))
        self._joint_counts = np.zeros(len(joint), dtype=np.int64)
        # A token may be rtol likelier than p says, so a word of t tokens, and any sum of such, (1 + rtol)^t.
        self._positions = [EMix(p, rtol=_power(rtol, t + 1)) for t, p in enumerate(positions)]
        self._joint = EMix(joint, rtol=_power(rtol, self._joint_tokens))
        self._next = ContextCounts(self._laws, rtol=rtol)
        self._two_back = ContextCounts(self._laws, rtol=rtol)
        self._distances = Distances(self._laws, tokens, rtol=rtol) if tokens > 1 else None
        self._windows = Windows(self._laws, tokens, rtol=rtol) if tokens > 2 else None
        self._relations = Relations(positions[0], self._laws, tokens, rtol=rtol)
        self._log = None
        if log:
            self._log = DecodeLog(self._laws, self.depth, lengths=lengths, replacement=replacement, rtol=rtol)

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
        x = checked_words(words, self.tokens, self.vocab_size)
        call, row = checked_places(len(x), rows, calls) or divmod(self.words + np.arange(len(x)), self.batch or 1)
        log = checked_blocks(blocks, len(x), self.depth) if self._log else None
        if not self._log and blocks is not None:
            raise ValueError("log must be True where blocks are given, got False: construct with log=True and depth")
        groups = group(x, self.vocab_size)
        states = np.full((len(x), self.tokens), NOT_COUNTED, dtype=np.int64)
        token_p = np.zeros(x.shape)  # 0 from an impossible token on
        length = np.full(len(x), self.tokens)  # tokens before an impossible one, from which on no law is defined
        for t in range(self.tokens):
            alive = np.flatnonzero(length > t)
            which, prefixes = distinct_prefixes(x, groups[t], alive, t)
            states[alive, t], p = self._laws.settle(prefixes, which, x[alive, t])
            length[alive[p == 0]] = t
            for i in alive[p == 0]:
                self._hit("next token given context", int(i), x[i, :t], int(x[i, t]))
            token_p[alive, t] = p
        self._count(x, states, length)
        whole = length == self.tokens
        bettable = np.where(token_p > 0, states, NOT_COUNTED)
        if self._distances is not None:
            self._distances.add(x, states, token_p)
        if self._windows is not None:
            self._windows.add(x, bettable)
        log_p = np.log(token_p[whole]).sum(axis=1)
        self._relations.add(x[whole], call[whole], row[whole], log_p, states[whole])
        if self._log and log:
            self._log.add(x, groups, states, length, *log, self._hit)
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

    def dependent_pair(self) -> tuple[int, int] | None:
        """The positions, counted from 0, of the two tokens that depend on each other most; None of one-token words."""
        return self._distances.strongest() if self._distances is not None else None

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
            "distances": self._distances.saved() if self._distances else None,
            "windows": self._windows.saved() if self._windows else None,
            "relations": self._relations.saved(),
            "log": self._log.saved() if self._log else None,
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
        if self._distances is not None:
            self._distances.restore(state["distances"])
        if self._windows is not None:
            self._windows.restore(state["windows"])
        self._relations.restore(state["relations"])
        if self._log:
            self._log.restore(state["log"])

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
        if self._distances is not None:
            found["pairs of positions"] = self._distances.statistic()
        if self._windows is not None:
            found["windows"] = self._windows.statistic()
        found |= self._relations.statistics()
        return found | self._log.statistics() if self._log else found

    def _count(self, x: Ints, states: Ints, length: Ints) -> None:
        """The statistics of tokens by position and context. `length` tokens of each word are possible ones."""
        for t, counts in enumerate(self._position_counts):
            # Fair: under the null words are independent, so tokens at one position are draws of its known law.
            counts += np.bincount(x[length > t, t], minlength=self.vocab_size)
        whole = x[length >= self._joint_tokens, : self._joint_tokens]
        # Fair: the same, with the prefix of a word as one draw.
        cells = cell(whole.T, self.vocab_size)
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


def _power(rtol: float, tokens: int) -> float:
    """(1 + rtol)^tokens - 1."""
    return float(np.expm1(tokens * np.log1p(rtol)))
