"""Laws, and biases of exactly known total variation, that tests, calibration and power tables share."""

import numpy as np


def uniform(k):
    return np.full(k, 1 / k)


def zipf(k):
    p = 1 / np.arange(1, k + 1)
    return p / p.sum()


def soft3(k, seed=0):
    """softmax of N(0, 3^2) logits: a head, and a tail down to 1e-9, as a language model has."""
    logits = np.random.default_rng([seed, k]).normal(0, 3, k)
    p = np.exp(logits - logits.max())
    return p / p.sum()


LAWS = {"uniform": uniform, "zipf": zipf, "soft3": soft3}


def cell(p, tv, rng=None):
    """The largest cell loses tv; the others gain in proportion."""
    return _move(p, _one(p, p.argmax()), -tv)


def cellmid(p, tv, rng=None):
    """The smallest cell of probability at least 2 tv (a mid cell) gains tv; the others lose in proportion."""
    order = np.argsort(p)
    return _move(p, _one(p, order[np.searchsorted(p[order], 2 * tv)]), tv)


def spread(p, tv, rng):
    """The hardest: equal relative shifts of random signs, half of the mass up and half down, as far as p allows."""
    up = np.zeros(len(p), dtype=bool)
    mass = np.zeros(2)
    for i in np.argsort(-p):
        side = int(mass.argmin()) if mass[0] != mass[1] else int(rng.integers(2))
        side = int(rng.integers(2)) if abs(mass[0] - mass[1]) < p[i] / 2 else side
        up[i], mass[side] = bool(side), mass[side] + p[i]
    return _move(p, up, tv)


def tail(p, tv, rng=None):
    """The rarest cells that together hold 1.5 tv lose tv; the others gain in proportion."""
    order = np.argsort(p)
    rare = np.zeros(len(p), dtype=bool)
    rare[order[: np.searchsorted(np.cumsum(p[order]), 1.5 * tv) + 1]] = True
    return _move(p, rare, -tv)


BIASES = {"cell": cell, "cellmid": cellmid, "spread": spread, "tail": tail}


def _one(p, i):
    return np.arange(len(p)) == i


def _move(p, chosen, tv):
    mass = p[chosen].sum()
    biased = np.where(chosen, p * (1 + tv / mass), p * (1 - tv / (1 - mass)))
    assert biased.min() >= 0 and np.isclose(np.abs(biased - p).sum() / 2, abs(tv), rtol=1e-9)
    return biased / biased.sum()
