"""Exact laws of the small decoders, in rationals and by another road than the decoders themselves.

A reference is a `program(chance, ids) -> tokens` that describes one cycle in terms of `chance.choose(weights)`,
`chance.flip(p)` and `chance.uniform(cuts)`; `law` replays it over all outcomes. Nothing here draws a random number,
and nothing is shared with the decoders but the two tables.

Two exponential races on one noise vector have no finite set of outcomes; `race_twice` integrates them.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.intercept.tables import V, p_exact, q_exact, row

Law = dict[tuple[int, ...], Fraction]
Weights = Sequence[Fraction]
ONE = Fraction(1)


class Chance:
    """Follows `path`, then takes the first possible outcome of every further choice."""

    def __init__(self, path: Sequence[int]):
        self.path = list(path)
        self.options: list[list[int]] = []
        self.weight = ONE

    def choose(self, weights: Weights) -> int:
        """An index with probability weights[index] / sum(weights)."""
        possible = [i for i, w in enumerate(weights) if w > 0]
        depth = len(self.options)
        self.options.append(possible)
        if depth == len(self.path):
            self.path.append(possible[0])
        index = self.path[depth]
        self.weight *= Fraction(weights[index]) / sum(weights)
        return index

    def flip(self, p: Fraction) -> bool:
        return self.choose((p, 1 - p)) == 0

    def uniform(self, cuts: Weights) -> Fraction:
        """A uniform that is only ever compared with `cuts`: the middle of one of the pieces between them."""
        edges = sorted({Fraction(0), ONE, *(c for c in cuts if 0 < c < 1)})
        piece = self.choose([b - a for a, b in zip(edges, edges[1:], strict=False)])
        return (edges[piece] + edges[piece + 1]) / 2


def replay(program: Callable[[Chance], tuple[int, ...]]) -> Law:
    """The exact law of what `program` returns."""
    total: Law = {}
    todo: list[list[int]] = [[]]
    while todo:
        start = todo.pop()
        chance = Chance(start)
        word = program(chance)
        total[word] = total.get(word, Fraction(0)) + chance.weight
        for depth in range(len(start), len(chance.options)):
            taken = chance.path[depth]
            todo += [[*chance.path[:depth], other] for other in chance.options[depth] if other != taken]
    return total


def law(cycle: Callable[[Chance, list[int]], list[int]], tokens: int) -> Law:
    """The law of the first `tokens` tokens when `cycle(chance, ids) -> new ids` runs until there are enough."""

    def program(chance: Chance) -> tuple[int, ...]:
        ids: list[int] = []
        while len(ids) < tokens:
            ids += cycle(chance, ids)
        return tuple(ids[:tokens])

    return replay(program)


def total_variation(a: Law, b: Law) -> Fraction:
    words = {*a, *b}
    return sum((abs(Fraction(a.get(w, 0)) - Fraction(b.get(w, 0))) for w in words), Fraction(0)) / 2


# ---- laws of one token ---------------------------------------------------------------------------------------------


def target(tokens: int) -> Law:
    """The product of p: what a lossless decoder emits."""
    words: Law = {(): ONE}
    for _ in range(tokens):
        words = {(*w, x): m * px for w, m in words.items() for x, px in enumerate(row(p_exact, w)) if px}
    return words


def residual(p: Weights, q: Weights) -> list[Fraction]:
    """(p - q)+, not normalised."""
    return [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]


def normalise(weights: Weights) -> list[Fraction]:
    total = sum(weights)
    return [w / total for w in weights]


def cdf(weights: Weights) -> list[Fraction]:
    weights = normalise(weights)
    return [sum(weights[: i + 1], Fraction(0)) for i in range(len(weights))]


def invert(weights: Weights, u: Fraction) -> int:
    """The token whose cell of the cumulative weights holds u."""
    return next(i for i, edge in enumerate(cdf(weights)) if u < edge)


def ratio(p: Weights, q: Weights, x: int) -> Fraction:
    """min(1, p(x) / q(x)); a token that the drafter cannot draw never asks."""
    return min(ONE, p[x] / q[x]) if q[x] else ONE


# ---- cycles --------------------------------------------------------------------------------------------------------


def chain(
    drafts: int = 1,
    *,
    draft: Callable[[Weights], Weights] = lambda q: q,
    accept: Callable[[Weights, Weights, int], Fraction] = ratio,
    recover: Callable[[Weights, Weights], Weights] = residual,
    bonus: Callable[[Weights, Weights], Weights] = lambda p, q: p,
):
    """A cycle of `drafts` tokens: each accepted or recovered, one more after the last; every part can be replaced."""

    def cycle(chance: Chance, ids: list[int]) -> list[int]:
        new: list[int] = []
        for _ in range(drafts):
            p, q = row(p_exact, [*ids, *new]), row(q_exact, [*ids, *new])
            x = chance.choose(draft(q))
            if not chance.flip(accept(p, q, x)):
                return [*new, chance.choose(recover(p, q))]
            new.append(x)
        p, q = row(p_exact, [*ids, *new]), row(q_exact, [*ids, *new])
        return [*new, chance.choose(bonus(p, q))]

    return cycle


def race_twice(w: Weights, v: Weights) -> dict[tuple[int, int], Fraction]:
    """The joint law of (a, b) = (argmin E_i/w_i, argmin E_i/v_i) for one vector of independent Exp(1) variables E.

    a = b: all others lie above, E_i >= E_a max(w_i/w_a, v_i/v_a), so the probability is 1 / sum_i of those maxima.
    a != b: with x = E_a and y = r x = E_b the two wins ask w_b/w_a <= r <= v_b/v_a, and every other E_i must exceed
    max(w_i x/w_a, v_i y/v_b), which happens with probability exp(-x (A + B r)) where A and B change where r passes
    one of the ties of those maxima. Integrating x exp(-x (A + B r)) over x and a piece r1..r2 gives
    (r2 - r1) / ((A + B r1) (A + B r2)), or 1 / (B (A + B r1)) on a piece without end.
    """
    joint = {}
    for a in (i for i, x in enumerate(w) if x):
        for b in (i for i, x in enumerate(v) if x):
            joint[a, b] = _same_winner(w, v, a) if a == b else _two_winners(w, v, a, b)
    return joint


def _same_winner(w: Weights, v: Weights, a: int) -> Fraction:
    return 1 / sum(max(wi / w[a], vi / v[a]) for wi, vi in zip(w, v, strict=True))


def _two_winners(w: Weights, v: Weights, a: int, b: int) -> Fraction:
    others = [(w[i] / w[a], v[i] / v[b]) for i in range(len(w)) if i not in (a, b)]
    low, high = w[b] / w[a], v[b] / v[a] if v[a] else None
    if high is not None and high <= low:
        return Fraction(0)
    ties = sorted(by_w / by_v for by_w, by_v in others if by_v)
    inner = [t for t in ties if low < t and (high is None or t < high)]
    edges = [low, *inner]
    total = Fraction(0)
    for r1, r2 in zip(edges, [*inner, high], strict=True):
        # Inside a piece the larger of by_w and by_v r is the one that is larger just above r1.
        by_second = [by_v > 0 and by_w / by_v <= r1 for by_w, by_v in others]
        A = 1 + sum(by_w for (by_w, _), s in zip(others, by_second, strict=True) if not s)
        B = 1 + sum(by_v for (_, by_v), s in zip(others, by_second, strict=True) if s)
        total += 1 / (B * (A + B * r1)) if r2 is None else (r2 - r1) / ((A + B * r1) * (A + B * r2))
    return total


# ---- faults whose parts share their noise --------------------------------------------------------------------------


def noise_of_the_draft_recovers(chance: Chance, ids: list[int]) -> list[int]:
    """One vector of exponentials selects the draft and, if it is rejected, its replacement."""
    p, q = row(p_exact, ids), row(q_exact, ids)
    joint = race_twice(q, residual(p, q))
    x, y = list(joint)[chance.choose(list(joint.values()))]
    return [x if chance.flip(ratio(p, q, x)) else y]


def coin_recovers(chance: Chance, ids: list[int]) -> list[int]:
    """The coin that rejected is used again to invert the residual's cumulative law."""
    p, q = row(p_exact, ids), row(q_exact, ids)
    x = chance.choose(q)
    a = ratio(p, q, x)
    u = chance.uniform([a, *cdf(residual(p, q))])
    return [x] if u < a else [invert(residual(p, q), u)]


def one_coin_for_two_drafts(chance: Chance, ids: list[int]) -> list[int]:
    """Two drafts are judged by one uniform."""
    p0, q0 = row(p_exact, ids), row(q_exact, ids)
    x = chance.choose(q0)
    p1, q1 = row(p_exact, [x]), row(q_exact, [x])
    y = chance.choose(q1)
    a, b = ratio(p0, q0, x), ratio(p1, q1, y)
    u = chance.uniform([a, b])
    if u >= a:
        return [chance.choose(residual(p0, q0))]
    if u >= b:
        return [x, chance.choose(residual(p1, q1))]
    return [x, y, chance.choose(row(p_exact, [y]))]


def draft_and_coin_seeded_alike(chance: Chance, ids: list[int]) -> list[int]:
    """The uniform that drew the draft is also the coin that judges it."""
    p, q = row(p_exact, ids), row(q_exact, ids)
    u = chance.uniform([*cdf(q), *(ratio(p, q, x) for x in range(V))])
    x = invert(q, u)
    return [x] if u < ratio(p, q, x) else [chance.choose(residual(p, q))]


def distinct_siblings_claimed_independent(chance: Chance, ids: list[int]) -> list[int]:
    """The second sibling is drawn without the first but judged as if it could repeat it."""
    p, q = row(p_exact, ids), row(q_exact, ids)
    x = chance.choose(q)
    y = chance.choose([0 if i == x else w for i, w in enumerate(q)])
    for token in (x, y):
        if chance.flip(ratio(p, q, token)):
            return [token]
        p = normalise(residual(p, q))
    return [chance.choose(p)]


def residual_of_the_first_position(chance: Chance, ids: list[int]) -> list[int]:
    """Two drafts; whichever is rejected, the replacement comes from the residual of the first."""
    p0, q0 = row(p_exact, ids), row(q_exact, ids)
    x = chance.choose(q0)
    if not chance.flip(ratio(p0, q0, x)):
        return [chance.choose(residual(p0, q0))]
    p1, q1 = row(p_exact, [x]), row(q_exact, [x])
    y = chance.choose(q1)
    if not chance.flip(ratio(p1, q1, y)):
        return [x, chance.choose(residual(p0, q0))]
    return [x, y, chance.choose(row(p_exact, [y]))]


def row_after_the_rejected(chance: Chance, ids: list[int]) -> list[int]:
    """A rejection noticed one row late: the replacement is drawn from p after the rejected draft."""
    p, q = row(p_exact, ids), row(q_exact, ids)
    x = chance.choose(q)
    accepted = chance.flip(ratio(p, q, x))
    y = chance.choose(row(p_exact, [x]))
    return [x, y] if accepted else [y]
