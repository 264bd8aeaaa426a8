"""The exact law of a small subject, by brute force: an oracle of these tests, independent of the package.

Every torch.multinomial branches on its outcome, every uniform on each comparison it meets; a uniform may be
compared once. Anything else that is asked of a uniform raises.
"""

import math
import random

import numpy as np
import torch

LESS, GREATER = {"lt", "le"}, {"gt", "ge"}


class Run:
    """One path through the choices: replays `prefix`, then takes first outcomes; `widths` are what was on offer."""

    def __init__(self, prefix):
        self.prefix, self.taken, self.widths, self.weight = prefix, [], [], 1.0

    def choose(self, weights):
        here = len(self.taken)
        support = [i for i, w in enumerate(weights) if w > 0]
        slot = self.prefix[here] if here < len(self.prefix) else 0
        self.taken.append(slot)
        self.widths.append(len(support))
        self.weight *= float(weights[support[slot]])
        return support[slot]

    def below(self, threshold):
        """Whether a fresh uniform of [0, 1) is below the threshold."""
        assert not math.isnan(threshold)
        a = min(max(threshold, 0.0), 1.0)
        return self.choose([1.0 - a, a]) == 1


class Uniform(torch.Tensor):
    """A tensor of uniforms that are decided when they are compared."""

    run = None

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = function.__name__.strip("_")
        if name in LESS | GREATER:
            uniform_left = isinstance(args[0], Uniform)
            u, threshold = args if uniform_left else args[::-1]
            below = uniform_left == (name in LESS)
            thresholds = torch.as_tensor(threshold).broadcast_to(u.shape).reshape(-1)
            answers = [cls.run.below(float(t)) == below for t in thresholds]
            return torch.tensor(answers).reshape(u.shape)
        if name in ("get", "size", "dim"):  # its shape
            return super().__torch_function__(function, types, args, kwargs or {})
        raise RuntimeError(f"a uniform was asked for {function}")  # a TypeError would be swallowed by torch


class Coin:
    """A uniform of `random.random`, decided when it is compared."""

    def __init__(self, run):
        self._run = run

    def __lt__(self, threshold):
        return self._run.below(float(threshold))

    __le__ = __lt__

    def __gt__(self, threshold):
        return not self < threshold

    __ge__ = __gt__


def exact_law(monkeypatch, subject, context, n_tokens):
    """{word: probability} of `subject(context, n_tokens)`, and the number of paths."""
    law, paths, prefix = {}, 0, []
    while prefix is not None:
        run = Run(prefix)
        with monkeypatch.context() as patch:
            _patch(patch, run)
            word = tuple(subject(context, n_tokens))[:n_tokens]
        assert run.taken[: len(prefix)] == prefix, "the subject does not repeat itself"
        law[word] = law.get(word, 0.0) + run.weight
        paths += 1
        prefix = _next(run)
    assert math.isclose(sum(law.values()), 1.0, abs_tol=1e-5)
    return law, paths


def total_variation(law, target, context, n_tokens, vocab_size):
    """Between a law of words and `target(context) -> probabilities`."""
    distance = 0.0
    for word in np.ndindex(*(vocab_size,) * n_tokens):
        p = np.prod([target((*context, *word[:i]))[x] for i, x in enumerate(word)])
        distance += abs(law.get(word, 0.0) - p) / 2
    return float(distance)


def _next(run):
    taken, widths = run.taken, run.widths
    while taken and taken[-1] + 1 == widths[-1]:
        taken, widths = taken[:-1], widths[:-1]
    return [*taken[:-1], taken[-1] + 1] if taken else None


def _patch(patch, run):
    def multinomial(weights, num_samples, replacement=False, *, generator=None):
        assert num_samples == 1
        rows = weights.reshape(-1, weights.shape[-1]).double()
        drawn = [run.choose((row / row.sum()).tolist()) for row in rows]
        return torch.tensor(drawn).reshape(*weights.shape[:-1], 1)

    def rand(*size, **_):
        return torch.empty(*size).as_subclass(Uniform)

    def rand_like(tensor, **_):
        return torch.empty(tensor.shape).as_subclass(Uniform)

    patch.setattr(Uniform, "run", run)
    patch.setattr(torch, "multinomial", multinomial)
    patch.setattr(torch, "rand", rand)
    patch.setattr(torch, "rand_like", rand_like)
    patch.setattr(random, "random", lambda: Coin(run))
