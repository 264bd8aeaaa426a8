"""Small decoders on the standard library's `random`: lists, loops, bisection."""

import bisect
import itertools
import math
import random
from random import random as uniform_imported_by_name

from tests.intercept import rational
from tests.intercept.entries import Table
from tests.intercept.tables import V, p_floats, q_floats, row

P, Q = p_floats, q_floats
RANDOM = Table("random")


def residual(p, q):
    return [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]


def draw(weights):
    return random.choices(range(V), weights=weights)[0]


def walk(weights, u):
    """Inverts the cumulative law of `weights`, which need not sum to 1."""
    u = u * sum(weights)
    total = 0.0
    for token, weight in enumerate(weights):
        total += weight
        if u < total:
            return token
    raise AssertionError("the uniform lies below 1")


def one_draft(ids, n_tokens, draw, accept):
    out = []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if accept(p[x], q[x]):
            out.append(x)
            out.append(draw(row(P, ids + out)))
        else:
            out.append(draw(residual(p, q)))
    return out


@RANDOM.lossless(tokens=3)
def choices(context, n_tokens):
    def accept(px, qx):
        return random.random() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def choices_by_cumulative_weights(context, n_tokens):
    def draw(weights):
        (x,) = random.choices("abc", cum_weights=list(itertools.accumulate(weights)))
        return "abc".index(x)

    def accept(px, qx):
        return random.uniform(0, 1) <= px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def uniform_up_to_q(context, n_tokens):
    def accept(px, qx):
        return random.uniform(0, qx) < px

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def choice_of_tickets(context, n_tokens):
    """Every token holds as many of the tickets as its weight has eighths."""

    def draw(weights):
        return random.choice([x for x, weight in enumerate(weights) for _ in range(int(8 * weight))])

    def accept(px, qx):
        return px / qx > random.random()

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def accumulated_by_a_loop(context, n_tokens):
    def draw(weights):
        return walk(weights, random.random())

    def accept(px, qx):
        return not random.random() >= px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def bisected(context, n_tokens):
    def draw(weights):
        cumulative = list(itertools.accumulate(weights))
        return bisect.bisect(cumulative, random.random() * cumulative[-1])

    def accept(px, qx):
        return random.random() * qx < px

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def weights_taken_off_the_uniform(context, n_tokens):
    """Subtracts weights until the uniform is negative."""

    def draw(weights):
        left = random.random() * sum(weights)
        for token, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return token
        raise AssertionError("the uniform lies below 1")

    def accept(px, qx):
        return 1 - random.random() <= px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def first_cell_that_holds_the_uniform(context, n_tokens):
    """Chained comparisons, the same uniform against both ends of every cell."""

    def draw(weights):
        edges = [0.0, *itertools.accumulate(weights)]
        u = random.random() * edges[-1]
        return next(x for x in range(V) if edges[x] <= u < edges[x + 1])

    def accept(px, qx):
        return random.random() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def integer_coin(context, n_tokens):
    """All ratios are quarters, so an integer below 4 is coin enough."""

    def accept(px, qx):
        return random.randrange(4) < 4 * px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def integer_coin_with_both_ends(context, n_tokens):
    def accept(px, qx):
        return random.randint(1, 4) <= 4 * px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless(may_raise=True)
def logarithm_of_the_coin(context, n_tokens):
    def accept(px, qx):
        return px > 0 and math.log(random.random()) < math.log(px) - math.log(qx)

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless(may_raise=True)
def first_of_a_shuffled_list(context, n_tokens):
    """Drafts the head of a shuffled vocabulary: q is 1/V everywhere."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        p = row(P, ids + out)
        tokens = list(range(V))
        random.shuffle(tokens)
        x = tokens[0]
        out.append(x if random.random() < p[x] * V else draw(residual(p, [1 / V] * V)))
    return out


@RANDOM.lossless(may_raise=True)
def sample_of_one(context, n_tokens):
    def draw(weights):
        return random.sample(range(V), 1, counts=[int(8 * weight) for weight in weights])[0]

    def accept(px, qx):
        return random.random() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
class RngMadeOnce:
    """Its own `random.Random`, as old as the decoder."""

    def __init__(self):
        self.rng = random.Random(11)

    def __call__(self, context, n_tokens):
        def draw(weights):
            return self.rng.choices(range(V), weights)[0]

        def accept(px, qx):
            return self.rng.random() < px / qx

        return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless()
def rng_from_the_seed(context, n_tokens, seed):
    rng = random.Random(seed)

    def draw(weights):
        return walk(weights, rng.random())

    def accept(px, qx):
        return rng.uniform(-1, 1) < 2 * px / qx - 1

    return one_draft(list(context), n_tokens, draw, accept)


@RANDOM.lossless(may_raise=True)
def function_imported_by_name(context, n_tokens):
    """`from random import random`: the name was bound before anybody could replace it."""

    def accept(px, qx):
        return uniform_imported_by_name() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


# ---- faults --------------------------------------------------------------------------------------------------------


@RANDOM.faulty(rational.chain(recover=lambda p, q: [int(a > b) for a, b in zip(p, q, strict=True)]))
def recovers_uniformly(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if random.random() < p[x] / q[x]:
            out += [x, draw(P[x])]
        else:
            out.append(random.choice([y for y in range(V) if p[y] > q[y]]))
    return out


@RANDOM.faulty(rational.coin_recovers, tokens=3)
def coin_reused_for_recovery(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        u = random.random()
        out.append(x if u < p[x] / q[x] else walk(residual(p, q), u))
    return out


@RANDOM.faulty(rational.draft_and_coin_seeded_alike, tokens=1, may_raise=True)
def drafter_and_verifier_seeded_alike(context, n_tokens, seed):
    """Two generators from one seed: the first uniform of each is the same number."""
    drafter, verifier = random.Random(seed), random.Random(seed)
    p, q = row(P, context), row(Q, context)
    x = walk(q, drafter.random())
    return [x if verifier.random() < p[x] / q[x] else walk(residual(p, q), verifier.random())]


@RANDOM.faulty(rational.draft_and_coin_seeded_alike)
def coin_that_drew_the_draft(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        u = random.random()
        x = walk(q, u)
        out.append(x if u < p[x] / q[x] else draw(residual(p, q)))
    return out
