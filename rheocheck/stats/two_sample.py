"""Two unknown samplers, one law? Sign betting on pairs: exact at every sample size, stoppable at any time.

    factor = (r + 1) rho(x) / (rho(x) + rho(y_1) + ... + rho(y_r))

x is one draw of the decoder, y_1 .. y_r are draws of the reference, rho is any positive function fixed before
they are seen. If all r + 1 have one law, *whatever it is*, then exchanging them changes nothing, so given the
unordered draws each of them is x with probability 1 / (r + 1), and the factor has mean exactly 1: no nuisance
parameter, no permutations, no asymptotics. The product of the factors is an e-value: under the null it reaches
1 / alpha, ever, with probability at most alpha (Ville).

rho estimates (law of x) / (law of y) from *earlier pairs only*, shrunk towards 1 at many strengths; the bets
are averaged as e-values, so none has to be chosen. The information of a pair about a small shift is that of
the full likelihood: nothing is lost by conditioning on the pair. Per arm it takes about twice the sample of a
test against a known law, and with many references it falls towards once.

    SignBetting   x and y are cells: tokens, or anything numbered
    StringBetting x and y are words of L tokens; rho is a product of learned token ratios

Null: given the past, x_t and its y_t are exchangeable: independent draws of one law, taken in the same
conditions (draw them interleaved). Alternative: the laws differ. A pass does *not* say that they are equal:
read `tv_upper`, which additionally assumes that the draws of each arm are independent with one fixed law.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from rheocheck.stats.inputs import Floats, Ints, as_counts, check_level

STRENGTHS = np.geomspace(3, 1e6, 12)  # pseudo-counts s per cell: from trusting the past at once to hardly ever
FIRST_CHUNK = 16
GROWTH = 0.1  # bets are renewed whenever the past has grown by this much
MAX_TOKEN = 2**31


class SignBetting:
    """Evidence that two samplers of cells differ in law.

    cells       number of cells, or None: any ids below 2^31, counted as they appear
    references  r, reference draws per decoder draw
    delta       1 - confidence of `tv_upper`

    Bets: strengths s times three shapes c of rho_i = (nx_i + s c_i) / (ny_i / r + s c_i), n from earlier pairs:
    c constant (`rel`: the same relative shift everywhere), c_i = k phat_i (`chi`: what chi-square looks for),
    and `chi` on octave groups of phat (`grp`: tails). phat is the pooled frequency in earlier pairs.
    """

    def __init__(self, cells: int | None = None, *, references: int = 1, delta: float = 1e-3) -> None:
        if cells is not None and not 1 <= cells <= MAX_TOKEN:
            raise ValueError(f"cells must lie in 1..2^31, got {cells!r}: pass the vocabulary size, or None")
        if references < 1:
            raise ValueError(f"references must be at least 1, got {references!r}: draw one reference per sample")
        check_level("delta", delta)
        self.cells, self.references, self.delta = cells, references, delta
        self.pairs = self.looks = 0
        self._past = _Tally()
        self._log_e = np.zeros((3, len(STRENGTHS)))
        self._tv_upper = 1.0

    def update(self, x: ArrayLike, y: ArrayLike) -> None:
        """Add a block of pairs: x [n] of the decoder, y [n] or [n, r] of the reference, in order of drawing.

        One call is one look of `tv_upper`; how many pairs a block has must not depend on the draws.
        """
        a, b = _paired("cells", x, y, self.cells, self.references, 1)
        for start, stop in chunks(self.pairs, len(a)):
            # Only pairs before `start` are in self._past: every bet below is fixed before it is settled.
            self._log_e += self._settle(a[start:stop, 0], b[start:stop, :, 0])
            self._past.add(a[start:stop].ravel(), b[start:stop].ravel())
        self.pairs += len(a)
        self.looks += 1
        if self.pairs:
            bound = tv_upper_two_sample_anytime(self._past.x, self._past.y, self.looks, delta=self.delta)
            self._tv_upper = min(self._tv_upper, bound)

    def log_e(self) -> float:
        """Natural logarithm of the e-value; reject at log(1 / alpha)."""
        return _log_mean(self._log_e)

    def tv_upper(self) -> float:
        """TV of the two laws is at most this, at every look at once, with confidence 1 - delta."""
        return self._tv_upper

    def state(self) -> dict[str, Any]:
        """Everything `restore` needs to go on, as plain JSON."""
        return {
            "cells": self.cells,
            "references": self.references,
            "delta": self.delta,
            "pairs": self.pairs,
            "looks": self.looks,
            "tv_upper": self._tv_upper,
            "past": self._past.state(),
            "log_e": self._log_e.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of a bettor of the same settings; ValueError where they differ."""
        check_same_settings(state, cells=self.cells, references=self.references, delta=self.delta)
        self.pairs, self.looks, self._tv_upper = state["pairs"], state["looks"], state["tv_upper"]
        self._past = _Tally.restore(state["past"])
        self._log_e = np.array(state["log_e"])

    def _settle(self, x: Ints, y: Ints) -> Floats:
        """Sum over the pairs of the log factor of every bet [3, strengths]."""
        met, where = np.unique(np.concatenate([x, y.ravel()]), return_inverse=True)
        table = self._log_rho(met)
        at_x, at_y = where[: len(x)], where[len(x) :].reshape(y.shape)
        return np.array([_log_factors(rho[:, at_x], rho[:, at_y]) for rho in table])

    def _log_rho(self, met: Ints) -> Floats:
        """log rho [3, strengths, len(met)] of the cells `met`."""
        past, s = self._past, STRENGTHS[:, None]
        nx, ny = past.at(met)
        ny = ny / self.references
        total = max(1.0, float(past.x.sum() + past.y.sum()))
        seen = (nx + ny) > 0
        k = self.cells or max(1, len(past.codes))
        result = np.zeros((3, len(STRENGTHS), len(met)))  # a cell never seen: rho = 1
        result[0] = np.log(nx + s) - np.log(ny + s)
        c = k * (nx + self.references * ny)[seen] / total
        result[1][:, seen] = np.log(nx[seen] + s * c) - np.log(ny[seen] + s * c)
        if seen.any():
            octave = np.floor(-np.log2((past.x + past.y) / total)).astype(int)
            group = octave[np.searchsorted(past.codes, met[seen])]
            gx, gy = (np.bincount(octave, weights=w) for w in (past.x, past.y / self.references))
            c = len(np.unique(octave)) * (gx + self.references * gy) / total
            used = c > 0
            rho = np.zeros((len(STRENGTHS), len(c)))
            rho[:, used] = np.log(gx[used] + s * c[used]) - np.log(gy[used] + s * c[used])
            result[2][:, seen] = rho[:, group]
        return result


class StringBetting:
    """Evidence that two samplers of words of `tokens` tokens differ in law.

    rho(word) is a product of learned ratios of conditional frequencies, one per token: given the position
    (order 0), or given the token before it, pooled over positions (order 1). Each is a bet of its own, at every
    strength and in the shapes `rel` and `chi`. Any rho is fair, so a rho that forgets the rest of the context
    costs power and never validity: two laws that agree in both statistics are not told apart, ever.
    """

    def __init__(self, tokens: int, vocab_size: int | None = None, *, references: int = 1) -> None:
        if tokens < 1:
            raise ValueError(f"tokens must be at least 1, got {tokens!r}: pass the length of a word")
        if vocab_size is not None and not 1 <= vocab_size <= MAX_TOKEN:
            raise ValueError(f"vocab_size must lie in 1..2^31, got {vocab_size!r}: pass the vocabulary size, or None")
        if references < 1:
            raise ValueError(f"references must be at least 1, got {references!r}: draw one reference per sample")
        self.tokens, self.vocab_size, self.references = tokens, vocab_size, references
        self.pairs = 0
        self._past = (_Tally(), _Tally())  # order 0, order 1
        self._log_e = np.zeros((2, 2, len(STRENGTHS)))

    def update(self, x: ArrayLike, y: ArrayLike) -> None:
        """Add a block of pairs: words x [n, L] of the decoder, y [n, L] or [n, r, L], in order of drawing."""
        a, b = _paired("words", x, y, self.vocab_size, self.references, self.tokens)
        for start, stop in chunks(self.pairs, len(a)):
            for order, past in enumerate(self._past):
                at_x, at_y = _codes(a[start:stop], order), _codes(b[start:stop], order)
                self._log_e[order] += self._settle(past, at_x, at_y)
                past.add(at_x.ravel(), at_y.ravel())
        self.pairs += len(a)

    def log_e(self) -> float:
        """Natural logarithm of the e-value; reject at log(1 / alpha)."""
        return _log_mean(self._log_e)

    def state(self) -> dict[str, Any]:
        """Everything `restore` needs to go on, as plain JSON."""
        return {
            "tokens": self.tokens,
            "vocab_size": self.vocab_size,
            "references": self.references,
            "pairs": self.pairs,
            "past": [past.state() for past in self._past],
            "log_e": self._log_e.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of a bettor of the same settings; ValueError where they differ."""
        check_same_settings(state, tokens=self.tokens, vocab_size=self.vocab_size, references=self.references)
        self.pairs = state["pairs"]
        self._past = (_Tally.restore(state["past"][0]), _Tally.restore(state["past"][1]))
        self._log_e = np.array(state["log_e"])

    def _settle(self, past: "_Tally", x: Ints, y: Ints) -> Floats:
        """Sum over the pairs of the log factor of every bet [2, strengths] of one order."""
        met, where = np.unique(np.concatenate([x.ravel(), y.ravel()]), return_inverse=True)
        table = self._log_ratio(past, met)
        at_x, at_y = where[: x.size].reshape(x.shape), where[x.size :].reshape(y.shape)
        return np.array([_log_factors(rho[:, at_x].sum(axis=-1), rho[:, at_y].sum(axis=-1)) for rho in table])

    def _log_ratio(self, past: "_Tally", met: Ints) -> Floats:
        """log of P(token | given) / Q(token | given), learned from `past` [2, strengths, len(met)]."""
        s = STRENGTHS[:, None]
        nx, ny = past.at(met)
        ny = ny / self.references
        result = np.zeros((2, len(STRENGTHS), len(met)))  # nothing known: ratio 1
        if not len(past.codes):
            return result
        given, member = np.unique(past.codes // MAX_TOKEN, return_inverse=True)
        at = np.searchsorted(given, met // MAX_TOKEN)
        known = (at < len(given)) & (given[np.minimum(at, len(given) - 1)] == met // MAX_TOKEN)
        at = np.where(known, at, 0)
        gx, gy, k = (np.bincount(member, weights=w)[at] for w in (past.x, past.y / self.references, 1.0 + 0 * past.x))
        rel = np.log(nx + s) - np.log(ny + s) - np.log(gx + s * k) + np.log(gy + s * k)
        result[0][:, known] = rel[:, known]
        seen = known & (nx + ny > 0)
        c = np.where(seen, k * (nx + self.references * ny) / (gx + self.references * gy), 1.0)
        chi = np.log(nx + s * c) - np.log(ny + s * c) - np.log(gx + s * k) + np.log(gy + s * k)
        result[1][:, seen] = chi[:, seen]
        return result


def tv_upper_two_sample_anytime(counts_x: ArrayLike, counts_y: ArrayLike, look: int, *, delta: float = 1e-3) -> float:
    """Upper bound on TV of the laws of two samples, valid at look 1, 2, 3, ... at once with confidence 1 - delta.

    TV(Phat, Qhat) + sqrt((1/n + 1/m) ln(1/delta_j) / 2), delta_j = delta / (j (j + 1)), which sums to delta. A* =
    {i : P_i > Q_i} is a fixed set, so one Hoeffding bound for one difference of means suffices. Assumes
    independent draws, and that the times of the looks were fixed without looking at them. ValueError on counts
    that are not whole numbers >= 0.
    """
    x, y = as_counts("counts_x", counts_x), as_counts("counts_y", counts_y)
    if len(x) != len(y):
        raise ValueError(f"counts_y must have one entry per cell, got {len(y)} for {len(x)}: align the cells")
    if look < 1:
        raise ValueError(f"look must be 1, 2, 3, ..., got {look!r}: count the looks from 1")
    check_level("delta", delta)
    n, m = x.sum(), y.sum()
    if min(n, m) == 0:
        return 1.0
    radius = np.sqrt((1 / n + 1 / m) * np.log(look * (look + 1) / delta) / 2)
    return float(min(1.0, np.abs(x / n - y / m).sum() / 2 + radius))


class _Tally:
    """How often each code was drawn by either arm: sorted codes, x and y counts."""

    def __init__(self) -> None:
        self.codes: Ints = np.zeros(0, dtype=np.int64)
        self.x: Floats = np.zeros(0)
        self.y: Floats = np.zeros(0)

    def at(self, codes: Ints) -> tuple[Floats, Floats]:
        if not len(self.codes):
            return np.zeros(len(codes)), np.zeros(len(codes))
        index = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        found = self.codes[index] == codes
        return np.where(found, self.x[index], 0.0), np.where(found, self.y[index], 0.0)

    def add(self, x: Ints, y: Ints) -> None:
        codes = np.union1d(self.codes, np.concatenate([x, y]))
        old = np.searchsorted(codes, self.codes)
        for name, drawn in (("x", x), ("y", y)):
            counts = np.bincount(np.searchsorted(codes, drawn), minlength=len(codes)).astype(np.float64)
            counts[old] += getattr(self, name)
            setattr(self, name, counts)
        self.codes = codes

    def state(self) -> list[list[int]]:
        return [self.codes.tolist(), self.x.astype(np.int64).tolist(), self.y.astype(np.int64).tolist()]

    @classmethod
    def restore(cls, state: list[list[int]]) -> "_Tally":
        self = cls()
        self.codes = np.array(state[0], dtype=np.int64)
        self.x, self.y = (np.array(counts, dtype=np.float64) for counts in state[1:])
        return self


def _codes(words: Ints, order: int) -> Ints:
    """(what the ratio is given, token) as one number: the position, or the token before (+ 1; 0 at the start)."""
    if order == 0:
        return np.arange(words.shape[-1]) * MAX_TOKEN + words
    before = np.zeros_like(words)
    before[..., 1:] = words[..., :-1] + 1
    return before * MAX_TOKEN + words


def _log_factors(x: Floats, y: Floats) -> Floats:
    """Sums over pairs of log of (r + 1) rho(x) / (rho(x) + sum_j rho(y_j)), from log rho [strengths, n (, r)]."""
    d = y - x[..., None]
    sums = np.logaddexp(0.0, d[..., 0] if d.shape[-1] == 1 else logsumexp(d, axis=-1))
    factors: Floats = x.shape[1] * np.log(1 + y.shape[-1]) - sums.sum(axis=1)
    return factors


def _log_mean(log_e: Floats) -> float:
    return float(logsumexp(log_e) - np.log(log_e.size))


def chunks(past: int, n: int) -> list[tuple[int, int]]:
    """Cut the next n pairs where the bets are renewed; pairs are in order, so bets may use the chunks before."""
    cuts, start = [], 0
    while start < n:
        stop = min(n, start + max(FIRST_CHUNK, int(GROWTH * (past + start))))
        cuts.append((start, stop))
        start = stop
    return cuts


def _paired(
    what: str, x: ArrayLike, y: ArrayLike, vocab_size: int | None, references: int, tokens: int
) -> tuple[Ints, Ints]:
    """x [n, L] and y [n, r, L] as checked integers."""
    a, b = _tokens("x", x, vocab_size), _tokens("y", y, vocab_size)
    n = len(a)
    if a.size == b.size == 0:
        return np.zeros((0, tokens), dtype=np.int64), np.zeros((0, references, tokens), dtype=np.int64)
    if a.size != n * tokens or a.ndim > 2:
        raise ValueError(f"x must be {what}, {tokens} tokens each, got shape {a.shape}: one row per sample")
    if len(b) != n or b.size != n * references * tokens:
        raise ValueError(
            f"y must hold {references} reference(s) for each of the {n} samples, got shape {b.shape}: pair them"
        )
    return a.reshape(n, tokens), b.reshape(n, references, tokens)


def check_same_settings(state: dict[str, Any], **settings: Any) -> None:
    """A saved state continues only what it was saved from."""
    for name, value in settings.items():
        if state.get(name) != value:
            raise ValueError(
                f"{name} must be that of the saved state, got {value!r}, saved {state.get(name)!r}: use the same"
            )


def _tokens(name: str, values: ArrayLike, vocab_size: int | None) -> NDArray[np.int64]:
    x = np.asarray(values)
    if x.size == 0 and x.ndim <= 3:
        return x.astype(np.int64).reshape(0) if x.ndim < 2 else x.astype(np.int64)
    if x.dtype.kind not in "iu" or not 1 <= x.ndim <= 3:
        raise ValueError(f"{name} must be an array of token ids, got {x.dtype} of shape {x.shape}: pass integers")
    top = MAX_TOKEN if vocab_size is None else vocab_size
    if int(x.min()) < 0 or int(x.max()) >= top:
        bad = int(x[(x < 0) | (x >= top)][0])
        raise ValueError(f"{name} must lie in 0..{top - 1}, got {bad}: check the vocabulary size")
    return x.astype(np.int64)
