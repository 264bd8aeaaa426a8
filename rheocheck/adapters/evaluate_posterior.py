"""A walker that makes a subject of any function with the calling convention of EAGLE's `evaluate_posterior`.

    evaluate_posterior(logits [paths, depth + 1, V], candidates [paths, depth + 1], logits_processor)
        -> (best_candidate, accept_length, sample_p [V])

A drafted tree is handed over as its root-to-leaf paths, padded with -1. candidates[:, 0] is the root, a token
that is emitted already; logits[i, j] are the target's after candidates[i, :j + 1] (NaN behind a padded place: a
function that reads one shows it). The function flips its coins with random.random(); the walker emits
candidates[best, 1:accept_length + 1] and one more token, drawn from sample_p with torch.multinomial, which is
the next root. EAGLE: arXiv:2401.15077, and the dynamic tree of arXiv:2406.16858.

The tree: below every token that has children, the drafter's `branching` likeliest tokens, in that order; the
likeliest one has children again, `depth` layers deep. Siblings chosen like this are not drawn, so each claim is
one-hot: accept x with probability r(x), else take x out of r and renormalise.

    walker     a subject of your own function:  walker(utils.evaluate_posterior, branching=3)
    correct    the walk as it should be, written here from the rule
    late_residual  the same with fault 51 of EAGLE (issues 47, 50): at the deepest layer, the token after an
               accepted second sibling is drawn from that layer's residual instead of from p after it
    target     the law that all of them should follow
"""

import itertools
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import (
    DRAFTER_SEED,
    TARGET_SEED,
    ModelLaw,
    RoundsSubject,
    TableModel,
    check_integer,
)

if TYPE_CHECKING:
    from torch import Tensor

PADDING = -1
Posterior = Callable[["Tensor", "Tensor", Any], tuple[Any, Any, "Tensor"]]


def walker(
    evaluate_posterior: Posterior,
    *,
    vocab_size: int = 4,
    branching: int = 2,
    depth: int = 2,
    temperature: float = 1.0,
    dtype: str = "float64",
) -> RoundsSubject:
    """A subject that drafts trees, lets `evaluate_posterior` walk them and emits what it accepts."""
    p = TableModel(vocab_size, TARGET_SEED, dtype)
    q = TableModel(vocab_size, DRAFTER_SEED, dtype)
    check_integer("branching", branching, 1, vocab_size, instead=2)
    check_integer("depth", depth, 1, instead=2)
    SamplingParameters(temperature)
    import torch

    def decode_round(ids: list[int]) -> list[int]:
        paths = _paths(q, ids, branching, depth)
        candidates = torch.tensor([path + [PADDING] * (depth + 1 - len(path)) for path in paths])
        logits = torch.full((len(paths), depth + 1, vocab_size), torch.nan, dtype=getattr(torch, dtype))
        for i, path in enumerate(paths):
            for j in range(len(path)):
                logits[i, j] = p.after([*ids[:-1], *path[: j + 1]])
        best, length, sample_p = evaluate_posterior(logits, candidates, lambda _, scores: scores / temperature)
        following = int(torch.multinomial(sample_p, 1))
        return [*candidates[int(best), 1 : int(length) + 1].tolist(), following]

    return RoundsSubject(decode_round)


def correct(
    *, vocab_size: int = 4, branching: int = 2, depth: int = 2, temperature: float = 1.0, dtype: str = "float64"
) -> RoundsSubject:
    """The walk as it should be."""
    settings = {"branching": branching, "depth": depth, "temperature": temperature, "dtype": dtype}
    return walker(_correct, vocab_size=vocab_size, **settings)


def late_residual(
    *, vocab_size: int = 4, branching: int = 2, depth: int = 1, temperature: float = 1.0, dtype: str = "float64"
) -> RoundsSubject:
    """Fault 51: the first `depth` tokens are exact, the next one is biased. Shallow trees show it best."""
    settings = {"branching": branching, "depth": depth, "temperature": temperature, "dtype": dtype}
    return walker(_late_residual, vocab_size=vocab_size, **settings)


def target(*, vocab_size: int = 4, temperature: float = 1.0, dtype: str = "float64") -> ModelLaw:
    """The target's law at this temperature."""
    return ModelLaw(TableModel(vocab_size, TARGET_SEED, dtype), SamplingParameters(temperature))


def _paths(q: TableModel, ids: list[int], branching: int, depth: int) -> list[list[int]]:
    """The root-to-leaf paths of the tree below the last of `ids`, which starts each."""
    trunk, leaves = ids[-1:], []
    for _ in range(depth):
        order = q.after([*ids[:-1], *trunk]).argsort(descending=True, stable=True)
        likeliest, *siblings = order[:branching].tolist()
        leaves = [[*trunk, x] for x in siblings] + leaves
        trunk = [*trunk, likeliest]
    return [trunk, *leaves]


def _correct(logits: "Tensor", candidates: "Tensor", logits_processor: Any) -> tuple[int, int, "Tensor"]:
    return _walk(logits, candidates, logits_processor, late=False)


def _late_residual(logits: "Tensor", candidates: "Tensor", logits_processor: Any) -> tuple[int, int, "Tensor"]:
    return _walk(logits, candidates, logits_processor, late=True)


def _walk(logits: "Tensor", candidates: "Tensor", logits_processor: Any, *, late: bool) -> tuple[int, int, "Tensor"]:
    """From the root down to a token of which no child is accepted; there, r is what is left of p for the next token.

    `late` plants the fault: below the deepest layer r is not set to p again.
    """
    path, depth = 0, candidates.shape[1] - 1
    for length in itertools.count():
        r = logits_processor(None, logits[path, length][None])[0].softmax(-1)
        children = _children(candidates, path, length)
        for x in children:
            if random.random() < float(r[x]):
                break
            r[x] = 0.0
            r = r / r.sum()
        else:
            return path, length, r
        path = children[x]
        if late and length + 1 == depth and x != next(iter(children)):
            return path, depth, r


def _children(candidates: "Tensor", path: int, length: int) -> dict[int, int]:
    """Token -> first path through it, for the children of the `length`-th token of `path`, in the tree's order."""
    if length + 1 == candidates.shape[1]:
        return {}
    same = (candidates[:, : length + 1] == candidates[path, : length + 1]).all(dim=1)
    children: dict[int, int] = {}
    for i, x in enumerate(candidates[:, length + 1].tolist()):
        if same[i] and x != PADDING:
            children.setdefault(x, i)
    return children
