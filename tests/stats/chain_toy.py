"""A vectorised speculative decoder with planted faults: order-1 target and drafter on 8 tokens, a chain of 2 drafts.

Null of every statistic: the words have exactly the target's law. A fault takes its branch with probability w.
Row 8 of p and q is the law of the first token; row c that of the token after c.
"""

from dataclasses import dataclass

import numpy as np

V, START, L, DEPTH, BATCH = 8, 8, 6, 2, 50

_rng = np.random.default_rng(2)
_logits = _rng.normal(0, 1, (V + 1, V))
P = np.exp(_logits)
P /= P.sum(axis=1, keepdims=True)
Q = np.exp(_logits + _rng.normal(0, 0.6, (V + 1, V)))
Q /= Q.sum(axis=1, keepdims=True)
RESIDUAL = np.maximum(P - Q, 0)
RESIDUAL /= RESIDUAL.sum(axis=1, keepdims=True)
COLD = Q**2 / (Q**2).sum(axis=1, keepdims=True)  # drafts drawn at temperature 1/2

LOGGED = {  # faults of the decoder itself; the others rewrite whole words, and no log goes with them
    "residual not subtracted", "bonus from q", "accept with q = 1", "accept too often", "draft temperature",
    "p from the wrong position", "accept uniform reused for the replacement", "stale context after a rejection",
    "first uniform carried to the next call",
}  # fmt: skip


def last(prefix):
    return prefix[-1] if prefix else START


def law(prefix):
    return P[last(prefix)]


def replacement(prefix):
    return RESIDUAL[last(prefix)]


def lengths(prefix):
    """Exact: 0 drafts accepted with 1 - b, both with sum_d min(p, q)(d) b(d), b = sum min(p, q)."""
    common = np.minimum(P, Q)
    b = common.sum(axis=1)
    c = last(prefix)
    both = float(common[c] @ b[:V])
    return [1 - b[c], b[c] - both, both]


def marginals():
    """Law of the token at each position."""
    rows = [P[START]]
    for _ in range(L - 1):
        rows.append(rows[-1] @ P[:V])
    return rows


@dataclass(frozen=True)
class Run:
    words: np.ndarray  # [n, L]
    blocks: np.ndarray  # [n, L, 2], accepted and emitted, filled up with 0


def draw(laws, uniform):
    """Inverse CDF, one law per row."""
    return np.minimum((np.cumsum(laws, axis=1) <= uniform[:, None]).sum(axis=1), V - 1)


def run(n, seed, fault=None, w=0.0):
    """n words of the decoder with one fault, and its decode log."""
    rng = np.random.default_rng(seed)
    words, blocks = np.zeros((n, L + DEPTH + 1), dtype=np.int64), np.zeros((n, L, 2), dtype=np.int64)
    at, before = np.zeros(n, dtype=np.int64), np.full(n, START)
    for block in range(L):
        i = np.flatnonzero(at < L)
        u = rng.random((7, len(i)))
        if fault == "first uniform carried to the next call" and block == 0:
            carried = np.flatnonzero((rng.random(n) < w) & (np.arange(n) >= BATCH))
            for row in carried:  # in order: it may be carried on
                u[0, row] = u[0, row - BATCH]
        hit = rng.random((3, len(i))) < w
        c = before[i]
        drafter = np.where((hit[0] & (fault == "draft temperature"))[:, None, None], COLD, Q)
        d1 = draw(drafter[np.arange(len(i)), c], u[0])
        d2 = draw(drafter[np.arange(len(i)), d1], u[1])
        seen = np.where(hit[1] & (fault == "p from the wrong position"), c, d1)
        ratio1, ratio2 = P[c, d1] / Q[c, d1], P[seen, d2] / Q[d1, d2]
        if fault == "accept with q = 1":
            ratio1, ratio2 = np.where(hit[0], P[c, d1], ratio1), np.where(hit[1], P[d1, d2], ratio2)
        if fault == "accept too often":
            ratio1, ratio2 = np.where(hit[0], 1.1 * ratio1, ratio1), np.where(hit[1], 1.1 * ratio2, ratio2)
        accepted = np.where(u[2] >= ratio1, 0, np.where(u[3] >= ratio2, 1, 2))
        given = np.choose(accepted, [c, d1, d2])
        laws = np.where((accepted < 2)[:, None], RESIDUAL[given], P[given])
        if fault == "residual not subtracted":
            laws = np.where(hit[2][:, None], P[given], laws)
        if fault == "bonus from q":
            laws = np.where((hit[2] & (accepted == 2))[:, None], Q[given], laws)
        coin = u[4]
        if fault == "accept uniform reused for the replacement":
            coin = np.where(hit[2] & (accepted < 2), np.choose(accepted, [u[2], u[3], coin]), coin)
        new = draw(laws, coin)
        for t, token in enumerate((d1, d2)):
            words[i, at[i] + t] = token
        words[i, at[i] + accepted] = new
        blocks[i, block] = np.stack([accepted, accepted + 1], axis=1)
        before[i] = new
        if fault == "stale context after a rejection":
            before[i] = np.where(hit[2] & (accepted < 2), np.choose(accepted, [d1, d2, new]), new)
        at[i] += accepted + 1
    words = words[:, :L]
    if fault == "independent tokens, right marginals":
        replaced = hit_rows(rng, n, w)
        for t, marginal in enumerate(marginals()):
            words[replaced, t] = rng.choice(V, replaced.sum(), p=marginal)
    if fault == "repeats after a repeated pair":
        words = repeating(rng, n, w)
    for name, lag in (("batch rows share their uniforms", 1), ("a call repeats a seed", BATCH)):
        if fault == name:
            for row in np.flatnonzero(hit_rows(rng, n, w)):
                if row >= lag and (lag > 1 or row % BATCH):
                    words[row] = words[row - lag]
    return Run(words, blocks)


def hit_rows(rng, n, w):
    return rng.random(n) < w


def repeating(rng, n, w):
    """Target sampling, but after two equal tokens the third is the same with probability w."""
    words = np.zeros((n, L), dtype=np.int64)
    for t in range(L):
        words[:, t] = draw(P[words[:, t - 1] if t else np.full(n, START)], rng.random(n))
        if t >= 2:
            again = (words[:, t - 1] == words[:, t - 2]) & hit_rows(rng, n, w)
            words[again, t] = words[again, t - 1]
    return words
