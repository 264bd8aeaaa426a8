"""EMix: a mixture of bets against a known law, in closed form in the counts. The default test.

Null: every draw, given everything before it, has exactly the law p. Alternative: anything else. E starts at 1 and
is a nonnegative martingale under the null, so P(E ever reaches 1/alpha) <= alpha (Ville 1939): E may be looked at
as often as one likes and the run stopped at any look. p-value = 1 / max E. No asymptotics, no pooling rule, no
simulation. E below the threshold does *not* say that the laws are equal: see `plan` for what would have been
found, `bounds` for how far away the law can still be.

Five components, each the Bayes factor of a prior over laws centred at p, at concentrations a = 2^3..2^30 with
equal weight. N_i counts, n their sum, rf as in `rising`; over cells in decreasing p, rem_i = p_i + p_{i+1} + ...,
R_i = N_i + N_{i+1} + ...:

    chi  Dirichlet(a p)                 sum_i rf(a p_i, N_i) - rf(a, n): behaves like Pearson's chi-square
    vv   stick-breaking Betas           sum_i rf(s_i, N_i) + rf(a_i - s_i, R_i - N_i) - rf(a_i, R_i)
    rel  the same                       s_i = a p_i^(1-g), a_i = s_i rem_i / p_i; g = 1/3 (vv), g = 1 (rel)
    grp  `chi` on the cells grouped by floor(-log2 p): tails
    cel  one cell against the others    rf(a p_i, N_i) + rf(a(1-p_i), n - N_i) - rf(a, n); prior (p_i + 1/k) / 2

`vv` weights cells as Valiant & Valiant's identity tester does; `rel` expects the same *relative* shift in every
cell, which is what a decoder does that mixes p with the drafter's law; a single a, as in Lindon & Malek
(Anytime-valid inference for multinomial count data, 2022), needs many times the sample when it is the wrong one.
Named faults, laws that known bugs emit, add a component of weight 1/4: the likelihood ratios of
(1-w) p + w fault at w = 1, 1/2, ..., 1/128.

Tolerance: if the true law has P_i <= (1+rtol) p_i for all i, then E (1+rtol)^-n is a supermartingale, and that is
what is returned.

    >>> round(float(np.exp(EMix([0.5, 0.5]).log_e([30, 70]))), 1)   # 37 to 1 against a fair coin
    36.9
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from rheocheck.stats.inputs import Floats, as_counts, as_counts_of_runs, as_law, check_not_negative, check_same_length
from rheocheck.stats.rising import rf

SCALES = np.exp2(np.arange(3.0, 31.0))  # of every component; `cel` uses each second one
PRIOR = -np.log(len(SCALES))
CELL_PRIOR = -np.log(len(SCALES[::2]))
STRENGTHS = np.exp2(-np.arange(8.0))
FAULT_WEIGHT = 0.25
CHUNK = 2**21  # numbers evaluated at once; bounds the memory of a look


class EMix:
    """The mixture e-value of counts against one law [k].

    Prefer it to any p-value when the target law is known: any k, any sample size, any tiny expectation. Cells are
    sorted once, here; counts come in the order of the law. A hit on a cell of probability 0
    makes E infinite. Among k cells of equal probability the order is that of their indices.
    """

    def __init__(self, law: ArrayLike, *, rtol: float = 0.0, faults: Mapping[str, ArrayLike] | None = None) -> None:
        p = as_law(law)
        check_not_negative("rtol", rtol)
        self.law = p
        self.rtol = rtol
        self._order = np.argsort(-p, kind="stable")[: np.count_nonzero(p)]
        self._zero = np.flatnonzero(p == 0)
        self._p = p[self._order] / p.sum()
        self._layout = _Layout(self._p) if len(self._p) > 1 else None
        self.faults = tuple(faults or ())
        self._fault_logs = {name: self._log_ratios(name, values) for name, values in (faults or {}).items()}
        names = ["chi", "vv", "rel", "grp", "cel"]
        share = (1 - FAULT_WEIGHT if self.faults else 1.0) / len(names)
        self._weights = dict.fromkeys(names, share) | ({"faults": FAULT_WEIGHT} if self.faults else {})

    def log_e(self, counts: ArrayLike) -> float:
        """ln E of these counts [k]: fail at ln(1/alpha) or more. +inf when a cell of probability 0 was hit."""
        return float(self.log_e_many(self._one(counts))[0])

    def log_e_many(self, counts: ArrayLike) -> Floats:
        """ln E [runs] of each run of counts [runs, k]; as `log_e` of each when the runs have equally many draws.

        (Otherwise the scales are those of the shortest run: valid, and larger by almost nothing.)
        """
        return _mix(self._parts(self._many(counts)), self._weights)

    def components(self, counts: ArrayLike) -> dict[str, float]:
        """ln E of each component, every one an e-value by itself; ln E is their mean (faults: 1/4) in e-values."""
        parts = self._parts(self._one(counts))
        return {name: float(parts[name][0]) for name in self._weights}

    def _one(self, counts: ArrayLike) -> Floats:
        observed = as_counts("counts", counts)
        check_same_length("law", self.law, observed)
        return observed[None, :]

    def _many(self, counts: ArrayLike) -> Floats:
        observed = as_counts_of_runs("counts", counts)
        check_same_length("law", self.law, observed[0] if len(observed) else self.law)
        return observed

    def _log_ratios(self, name: str, values: ArrayLike) -> Floats:
        """ln of ((1-w) p + w fault) / p, [strengths, support]."""
        fault = as_law(values, f"fault {name!r}")
        check_same_length(f"fault {name!r}", fault, self.law)
        ratio = fault[self._order] / fault.sum() / self._p
        with np.errstate(divide="ignore"):
            logs: Floats = np.log((1 - STRENGTHS[:, None]) + STRENGTHS[:, None] * ratio)
        return logs

    def _parts(self, counts: Floats, *, every_scale: bool = False) -> dict[str, Floats]:
        """ln E [runs] of every component, of every fault ("fault NAME"), and of all faults together.

        Scales a <= n/256 are left out unless every_scale: their prior is far too wide for so many draws, they would
        add almost nothing, and leaving out a nonnegative term keeps the bound. With every_scale, and so always
        below 2048 draws, each component's null expectation is exactly 1.
        """
        sizes = counts.sum(axis=1)
        kept = counts[:, self._order]
        parts: dict[str, Floats] = {}
        for name in ("chi", "vv", "rel", "grp", "cel"):
            parts[name] = np.zeros(len(counts))
        if self._layout is not None and len(counts):
            scales = _window(sizes.min(), every_scale)
            for start, stop in _chunks(len(counts), self._layout.width):
                for name, values in self._layout.components(kept[start:stop], scales).items():
                    parts[name][start:stop] = values
        for name, logs in self._fault_logs.items():
            never = np.isneginf(logs)  # cells that the fault itself never emits (w = 1)
            terms = kept @ np.where(never, 0.0, logs).T
            terms[kept @ never.T > 0] = -np.inf
            parts[f"fault {name}"] = np.logaddexp.reduce(terms, axis=1) - np.log(len(STRENGTHS))
        if self._fault_logs:
            stacked = np.array([parts[f"fault {name}"] for name in self._fault_logs])
            parts["faults"] = np.logaddexp.reduce(stacked, axis=0) - np.log(len(stacked))
        impossible = counts[:, self._zero].sum(axis=1) > 0
        for part in parts.values():
            part -= sizes * np.log1p(self.rtol)
            part[impossible] = np.inf
        return parts


class _Layout:
    """All arguments of rf as two rows: base x (times the scale a) and the counts that go with it.

    Every component is a sum of rf(a * base, counts) with signs, so one call of rf serves a whole look.
    Segments: name -> slice of the rows.
    """

    def __init__(self, p: Floats) -> None:
        k = len(p)
        self.p = p
        rem = np.cumsum(p[::-1])[::-1]
        stick, rest, after = p[:-1], rem[:-1], rem[1:]  # the last stick takes all that is left: its factor is 1
        mantissa, exponent = np.frexp(p)  # in [1/2, 1): floor(-log2 p) is -exponent, one more at a power of 1/2
        octave = (mantissa == 0.5) - exponent
        self.starts = np.flatnonzero(np.diff(octave, prepend=octave[0] - 1))
        others = 1 - p
        others[0] = after[0]  # the one cell that may be so large that 1 - p cancels
        third = np.cbrt(stick)
        bases = {
            "chi": p,
            "total": np.ones(1),
            "vv taken": third**2,
            "vv left": third**2 * (after / stick),
            "vv all": third**2 * (rest / stick),
            "rel taken": np.ones(k - 1),
            "rel left": after / stick,
            "rel all": rest / stick,
            "grp": np.add.reduceat(p, self.starts),
            "cel others": others,
        }
        self.base = np.concatenate(list(bases.values()))
        self.width = len(self.base)
        self.segments = np.cumsum([0, *(len(base) for base in bases.values())])
        self.cell_prior = np.log((p + 1 / k) / 2)

    def counts(self, kept: Floats) -> Floats:
        """The second row, [runs, width], from counts [runs, support]."""
        n = kept.sum(axis=1, keepdims=True)
        remaining = np.cumsum(kept[:, ::-1], axis=1)[:, ::-1]
        taken, left, every = kept[:, :-1], remaining[:, 1:], remaining[:, :-1]
        groups = np.add.reduceat(kept, self.starts, axis=1)
        return np.concatenate([kept, n, taken, left, every, taken, left, every, groups, n - kept], axis=1)

    def components(self, kept: Floats, scales: Floats) -> dict[str, Floats]:
        """ln E [runs] of the five components, each a mean over the scales given (the others count as 0)."""
        counts = self.counts(kept)
        logs: dict[str, list[Floats]] = {name: [] for name in ("chi", "vv", "rel", "grp", "cel")}
        with_cells = np.isin(scales, SCALES[::2])
        for chosen, cells in ((scales[with_cells], True), (scales[~with_cells], False)):
            width = self.width if cells else self.segments[-2]
            step = max(1, CHUNK // (len(counts) * width))
            for start in range(0, len(chosen), step):
                a = chosen[start : start + step, None, None]
                terms = rf(a * self.base[:width], counts[:, :width])
                sums = np.add.reduceat(terms, self.segments[: 10 if cells else 9], axis=2)
                chi, total, *sticks, grp = np.moveaxis(sums[..., :9], 2, 0)
                logs["chi"].append(chi - total)
                logs["vv"].append(sticks[0] + sticks[1] - sticks[2])
                logs["rel"].append(sticks[3] + sticks[4] - sticks[5])
                logs["grp"].append(grp - total)
                if cells:
                    each = terms[..., : len(self.p)] + terms[..., width - len(self.p) :] + self.cell_prior
                    logs["cel"].append(_logsumexp(each, 2) - total)
        prior = dict.fromkeys(logs, PRIOR) | {"cel": CELL_PRIOR}
        return {name: _logsumexp(np.concatenate(rows), 0) + prior[name] for name, rows in logs.items()}


def _window(smallest: float, every_scale: bool) -> Floats:
    """The scales worth evaluating; at least the last two, so that `cel` has one."""
    first = 0 if every_scale else int(np.searchsorted(SCALES, smallest / 256, side="right"))
    window: Floats = SCALES[min(first, len(SCALES) - 2) :]
    return window


def _chunks(runs: int, width: int) -> list[tuple[int, int]]:
    step = max(1, CHUNK // (4 * width))
    return [(start, min(start + step, runs)) for start in range(0, runs, step)]


def _logsumexp(x: Floats, axis: int) -> Floats:
    """Of finite terms, which scipy's function is slow to find out."""
    top = x.max(axis=axis, keepdims=True)
    result: Floats = np.log(np.exp(x - top).sum(axis=axis)) + np.squeeze(top, axis)
    return result


def _mix(parts: dict[str, Floats], weights: dict[str, float]) -> Floats:
    rows = np.array([parts[name] + np.log(weight) for name, weight in weights.items()])
    mixed: Floats = np.logaddexp.reduce(rows, axis=0)
    return mixed
