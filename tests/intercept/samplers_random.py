"""What the standard library's `random` draws, and how its stand-ins are tried."""

import bisect
import random

from tests.intercept.standins import EDGES, WEIGHTS, Samplers

SAMPLERS = Samplers(random.Random)
POPULATION = range(13)


def times(n, draw):
    """n words, one after the other."""
    return [draw() for _ in range(n)]


@SAMPLERS.followed("random.random", "float64")
def uniform_cell(n, g, dtype):
    """the cell of a uniform"""
    return times(n, lambda: bisect.bisect(EDGES, g.random()))


@SAMPLERS.followed("random.random", "float64")
def uniform_part(n, g, dtype):
    """the integer part of seven uniforms' worth"""
    return times(n, lambda: int(g.random() * 7))


@SAMPLERS.followed("random.uniform", "float64")
def uniform_between(n, g, dtype):
    """the cell of a uniform between -1 and 2"""
    return times(n, lambda: bisect.bisect(EDGES, g.uniform(-1, 2)))


@SAMPLERS.followed("random.choice", "int")
def one(n, g, dtype):
    """one of thirteen"""
    return times(n, lambda: g.choice(POPULATION))


@SAMPLERS.followed("random.choices", "int", tokens=2)
def choices(n, g, dtype):
    """two of thirteen"""
    return times(n, lambda: g.choices(POPULATION, k=2))


@SAMPLERS.followed("random.choices", "float64", tokens=2)
def weighted(n, g, dtype):
    """two of thirteen by weights"""
    return times(n, lambda: g.choices(POPULATION, WEIGHTS, k=2))


@SAMPLERS.followed("random.choices", "int")
def weighted_by_sums(n, g, dtype):
    """one of four by cumulative integer weights"""
    return times(n, lambda: g.choices(range(4), cum_weights=[3, 3, 4, 11])[0])


@SAMPLERS.followed("random.randrange", "int")
def steps(n, g, dtype):
    """one of 2, 5 .. 20"""
    return times(n, lambda: g.randrange(2, 23, 3))


@SAMPLERS.followed("random.randint", "int")
def dice(n, g, dtype):
    """one of -3..3, plus 3"""
    return times(n, lambda: g.randint(-3, 3) + 3)


@SAMPLERS.followed("random.shuffle", "int", tokens=4)
def shuffled(n, g, dtype):
    """an order of four"""

    def order():
        x = list(range(4))
        g.shuffle(x)
        return x

    return times(n, order)


@SAMPLERS.followed("random.sample", "int", tokens=2)
def sampled(n, g, dtype):
    """two of five without replacement"""
    return times(n, lambda: g.sample(range(5), 2))


@SAMPLERS.followed("random.sample", "int", tokens=2)
def sampled_of_many(n, g, dtype):
    """two of thirty without replacement, where another algorithm is used"""
    return times(n, lambda: g.sample(range(30), 2))
