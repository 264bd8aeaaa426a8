"""Decoders with a fault, named by line: the tests say through which lines the shown path must lead."""

import random

import numpy as np
import torch

p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
P, Q = [0.4, 0.35, 0.15, 0.1], [0.1, 0.1, 0.4, 0.4]


def pick(weights):
    return random.choices(range(len(weights)), weights)[0]


def helper_line(context, n):
    """The residual replaced by p; every choice is made in a helper."""
    d = pick(q)
    if random.random() < p[d] / q[d]:
        return [d]
    return [pick(p)]  # wrong residual


def helper_of_a_helper(context, n):
    def residual():
        return pick(p)  # wrong residual

    d = pick(q)
    return [d] if random.random() < p[d] / q[d] else [residual()]


def numpy_residual(context, n):
    """The residual is q's."""
    d = int(np.random.choice(3, p=q))
    if np.random.random() < p[d] / q[d]:
        return [d]
    return [int(np.random.choice(3, p=q))]  # wrong residual


def torch_residual(context, n):
    d = int(torch.multinomial(torch.tensor(q), 1))
    if torch.rand(()) < p[d] / q[d]:
        return [d]
    return [int(torch.multinomial(torch.tensor(p), 1))]  # wrong residual


def one_coin(context, n):
    """One coin decides the rejection and the replacement."""
    d = random.choices(range(4), Q)[0]
    u, r, s = random.random(), [max(a - b, 0) for a, b in zip(P, Q, strict=True)], 0
    if u < P[d] / Q[d]:  # first use
        return [d]
    for i, x in enumerate(r):
        s += x / sum(r)
        if u < s:  # second use
            return [i]
    return [1]


def one_numpy_coin(context, n):
    d = int(np.random.choice(4, p=Q))
    u = np.random.random()
    r = np.maximum(np.array(P) - Q, 0)
    if u < P[d] / Q[d]:  # first use
        return [d]
    return [min(int(np.searchsorted(np.cumsum(r / r.sum()), u, side="right")), 1)]  # second use


def one_torch_coin(context, n):
    d = int(torch.multinomial(torch.tensor(Q), 1))
    u = torch.rand(())
    if u < P[d] / Q[d]:  # first use
        return [d]
    return [0 if u < 0.3 / 0.55 else 1]  # second use


def one_coin_by_helper(context, n):
    """Both questions are asked on one line of a helper."""
    d = random.choices(range(4), Q)[0]
    u = random.random()
    if below(u, P[d] / Q[d]):  # first use
        return [d]
    return [0 if below(u, 0.3 / 0.55) else 1]  # second use


def below(u, x):
    return u < x


def rescaled(context, n):
    """Legal: what is left of the coin is uniform again, once it is rescaled."""
    d = random.choices(range(4), Q)[0]
    u = random.random()
    a = P[d] / Q[d]
    if u < a:  # first use
        return [d]
    return [0 if (u - a) / (1 - a) < 0.3 / 0.55 else 1]  # second use


def walk(context, n):
    """Honest: one draw by walking through cumulated probabilities."""
    u, s = random.random(), 0.0
    for i, x in enumerate(P[:-1]):
        s += x
        if u < s:
            return [i]
    return [len(P) - 1]


def two_coins(context, n):
    """Honest: a coin each."""
    d = random.choices(range(4), Q)[0]
    if random.random() < P[d] / Q[d]:
        return [d]
    return [0 if random.random() < 0.3 / 0.55 else 1]


def crashing(context, n):
    if random.random() < 0.5:
        if random.choices([0, 1, 2])[0] == 2:
            raise KeyError("no such row")  # crash
    return [0]
