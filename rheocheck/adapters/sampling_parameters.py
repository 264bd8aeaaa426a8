"""What temperature, top-k, top-p, min-p, repetition penalty and a ban make of logits, in transformers' order.

    logits l -> repetition penalty -> ban -> / temperature -> top_k -> top_p -> min_p -> softmax

Written from the definitions, in float64, without calling transformers: an audit compares its decoder with
this.

    repetition penalty r   tokens that occurred: l / r where l >= 0, l * r where l < 0   (arXiv:1909.05858)
    bad_token              the token never occurs: l = -inf
    top_k                  keep l >= the k-th largest; ties with it all stay             (arXiv:1805.04833)
    top_p                  ascending, drop while the cumulative probability <= 1 - top_p (arXiv:1904.09751)
    min_p                  drop tokens of probability < min_p * the largest              (arXiv:2407.01082)
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rheocheck.core.errors import InputError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
NEAR = 1e-6  # float32 rounding decides about a token this close to a cut-off


@dataclass(frozen=True)
class SamplingParameters:
    """The parameters that shape the next-token law; the defaults switch each one off."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    bad_token: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if type(value) not in (int, float) and name != "bad_token":
                raise InputError(f"{name} must be a number, got {value!r}: change or drop it")
        for name, holds, must in (
            ("temperature", 0 < self.temperature < np.inf, "a positive number"),
            ("top_k", type(self.top_k) is int and self.top_k >= 0, "an integer >= 0 (0: off)"),
            ("top_p", 0 < self.top_p <= 1, "in (0, 1] (1: off)"),
            ("min_p", 0 <= self.min_p <= 1, "in [0, 1] (0: off)"),
            ("repetition_penalty", 0 < self.repetition_penalty < np.inf, "a positive number (1: off)"),
            ("bad_token", _token_or_none(self.bad_token), "a token id (drop it: off)"),
        ):
            if not holds:
                raise InputError(f"{name} must be {must}, got {getattr(self, name)!r}: change or drop it")


def next_token_law(
    logits: Iterable[float], seen: Iterable[int], parameters: SamplingParameters
) -> tuple[Floats, frozenset[int]]:
    """The law [V] after `logits` [V], and its boundary tokens: those for which rounding may decide a filter.

    `seen` are the tokens so far, prompt included. A token is a boundary token when it stands within 1e-6 of
    a cut-off: in the score for top-k and min-p, in the cumulative probability for top-p; or when it ties
    with its neighbour across the cut, so that rounding may exchange the two.
    """
    scores = np.array(logits, dtype=np.float64)
    occurred = np.unique(np.fromiter(seen, dtype=np.int64))
    r = parameters.repetition_penalty
    scores[occurred] = np.where(scores[occurred] < 0, scores[occurred] * r, scores[occurred] / r)
    if parameters.bad_token is not None:
        if parameters.bad_token >= len(scores):
            raise InputError(
                f"bad_token must be in 0..{len(scores) - 1}, got {parameters.bad_token}: change or drop it"
            )
        scores[parameters.bad_token] = -np.inf
    scores /= parameters.temperature
    near = np.zeros(len(scores), dtype=bool)
    filters = (
        (parameters.top_k > 0, _top_k, parameters.top_k),
        (parameters.top_p < 1, _top_p, parameters.top_p),
        (parameters.min_p > 0, _min_p, parameters.min_p),
    )
    for on, keep, value in filters:
        if on:
            kept, close = keep(scores, value)
            near |= close & np.isfinite(scores)
            scores = np.where(kept, scores, -np.inf)
    return _softmax(scores), frozenset(np.flatnonzero(near).tolist())


def _top_k(scores: Floats, k: int) -> tuple[Bools, Bools]:
    allowed = np.sort(scores[np.isfinite(scores)])
    cut = allowed[-min(k, len(allowed))]
    close = np.abs(scores - cut) <= NEAR
    contested = (scores >= cut - NEAR).sum() > k
    return scores >= cut, close & contested


def _top_p(scores: Floats, top_p: float) -> tuple[Bools, Bools]:
    order = np.argsort(scores, kind="stable")
    cumulative = np.cumsum(_softmax(scores)[order])
    dropped = cumulative <= 1 - top_p
    dropped[-1] = False
    close = np.abs(cumulative - (1 - top_p)) <= NEAR
    close[-1] = False
    first = int(np.argmin(dropped))  # the first kept; a tie across the cut may be sorted either way
    cut = scores[order[first]]
    if first > 0 and cut - scores[order[first - 1]] <= NEAR:
        close |= np.abs(scores[order] - cut) <= NEAR
    kept, near = np.empty_like(dropped), np.empty_like(close)
    kept[order], near[order] = ~dropped, close
    return kept, near


def _min_p(scores: Floats, min_p: float) -> tuple[Bools, Bools]:
    best = int(np.argmax(scores))
    cut = scores[best] + np.log(min_p)
    kept, close = scores >= cut, np.abs(scores - cut) <= NEAR
    kept[best] = True
    close[best] &= close.sum() > 1  # the best token stays, unless another one may be the best
    return kept, close


def _token_or_none(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()
