"""What NumPy draws, by Generator and by RandomState, and how its stand-ins are tried."""

import numpy as np

from tests.intercept.standins import COINS, EDGES, FLOATS, WEIGHTS, Samplers

MODERN = Samplers(lambda seed: np.random.default_rng(seed))  # interception replaces the functions of the module
LEGACY = Samplers(lambda seed: np.random.RandomState(seed))
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
W = np.array(WEIGHTS) / np.sum(WEIGHTS)


def times(n, draw):
    """n words, one after the other."""
    return np.stack([draw() for _ in range(n)])


def cells(u):
    """The cell that a number lies in."""
    return np.searchsorted(EDGES, u, side="right")


def both(sampler, *dtypes, tokens=1):
    """Adds a program that is the same for Generator and RandomState."""

    def add(draw):
        MODERN.followed(f"numpy Generator.{sampler}", *dtypes, tokens=tokens)(draw)
        return LEGACY.followed(f"numpy RandomState.{sampler}", *dtypes, tokens=tokens)(draw)

    return add


# ---- uniforms, clocks and their races -------------------------------------------------------------------------------


@MODERN.followed("numpy Generator.random", *FLOATS, tokens=2)
def uniform_cells(n, g, dtype):
    """the cells of two uniforms"""
    return cells(g.random((n, 2), dtype=dtype))


@MODERN.followed("numpy Generator.random", *FLOATS)
def uniform_part(n, g, dtype):
    """the integer part of seven uniforms' worth"""
    return (g.random(n, dtype=dtype) * 7).astype(int)


@both("uniform", "float64")
def uniform_between(n, g, dtype):
    """the cell of a uniform between -1 and 2"""
    return cells(g.uniform(-1, 2, n))


@LEGACY.followed("numpy RandomState.random_sample", "float64")
def legacy_uniform(n, g, dtype):
    """the cell of a uniform"""
    return cells(g.random_sample(n))


@LEGACY.followed("numpy RandomState.rand", "float64", tokens=2)
def legacy_rand(n, g, dtype):
    """the cells of two uniforms"""
    return cells(g.rand(n, 2))


@both("exponential", "float64")
def exponential_cell(n, g, dtype):
    """the cell of a clock of mean 0.5"""
    return cells(g.exponential(0.5, n))


@both("exponential", "float64")
def exponential_race(n, g, dtype):
    """a race of clocks"""
    with np.errstate(divide="ignore"):
        return np.argmin(g.exponential(size=(n, len(W))) * (1 / W), axis=1)


@both("standard_exponential", "float64", tokens=2)
def exponential_places(n, g, dtype):
    """the first two of a race of four clocks"""
    return np.argsort(g.standard_exponential((n, 4)) / np.array([0.4, 0.3, 0.2, 0.1]), axis=1)[:, :2]


@MODERN.followed("numpy Generator.standard_exponential", *FLOATS)
def exponential_by_inversion(n, g, dtype):
    """the cell of a clock, method="inv\""""
    return cells(g.standard_exponential(n, dtype=dtype, method="inv"))


@both("gumbel", "float64")
def gumbel_race(n, g, dtype):
    """a race of Gumbel noise"""
    with np.errstate(divide="ignore"):
        return np.argmax(np.log(W) + g.gumbel(size=(n, len(W))), axis=1)


# ---- indices by weights, counts, coins ------------------------------------------------------------------------------


@both("choice", "float64", tokens=2)
def weighted(n, g, dtype):
    """two by weights"""
    return g.choice(len(W), (n, 2), p=W)


@both("choice", "int64", tokens=2)
def unweighted(n, g, dtype):
    """two of a population of thirteen, equally likely"""
    return g.choice(np.arange(13) + 1, (n, 2))


@both("choice", "float64", tokens=2)
def weighted_without_replacement(n, g, dtype):
    """two by weights, without replacement"""
    return times(n, lambda: g.choice(len(W), 2, replace=False, p=W))


@both("choice", "float64", tokens=3)
def three_of_three_without_replacement(n, g, dtype):
    """three of three by weights, without replacement"""
    return times(n, lambda: g.choice(3, 3, replace=False, p=[0.9, 0.07, 0.03]))


@both("choice", "int64", tokens=2)
def unweighted_without_replacement(n, g, dtype):
    """two of five, equally likely, without replacement"""
    return times(n, lambda: g.choice(5, 2, replace=False))


@both("multinomial", "float64", tokens=4)
def counts(n, g, dtype):
    """the counts of three draws by four weights"""
    return g.multinomial(3, [0.4224, 0.0107, 0, 0.5669], n)


@both("binomial", "float64", tokens=len(COINS))
def coins(n, g, dtype):
    """four coins"""
    return g.binomial(1, COINS, (n, 4))


# ---- integers and orders --------------------------------------------------------------------------------------------


@MODERN.followed("numpy Generator.integers", *INTEGERS, tokens=2)
def integers(n, g, dtype):
    """two of 0..12"""
    return g.integers(13, size=(n, 2), dtype=dtype)


@MODERN.followed("numpy Generator.integers", "int64", "int8")
def integers_and_the_last(n, g, dtype):
    """one of -5..5, plus 5"""
    return g.integers(-5, 5, n, dtype=dtype, endpoint=True) + 5


@LEGACY.followed("numpy RandomState.randint", *INTEGERS, tokens=2)
def legacy_integers(n, g, dtype):
    """two of 0..12"""
    return g.randint(13, size=(n, 2), dtype=dtype)


@LEGACY.followed("numpy RandomState.randint", "int64", "int8")
def legacy_integers_from_below_zero(n, g, dtype):
    """one of -5..4, plus 5"""
    return g.randint(-5, 5, n, dtype=dtype) + 5


@both("permutation", "int64", tokens=4)
def order(n, g, dtype):
    """an order of four"""
    return times(n, lambda: g.permutation(4))


@both("permutation", "int64", tokens=6)
def order_of_rows(n, g, dtype):
    """an order of three rows of two"""
    return times(n, lambda: g.permutation(np.arange(6).reshape(3, 2)))


@MODERN.followed("numpy Generator.permutation", "int64", tokens=6)
def order_of_columns(n, g, dtype):
    """an order of three columns of two"""
    return times(n, lambda: g.permutation(np.arange(6).reshape(2, 3), axis=1))


@both("shuffle", "int64", tokens=4)
def shuffled_list(n, g, dtype):
    """a list of four"""

    def one():
        x = list(range(4))
        g.shuffle(x)
        return x

    return times(n, one)


@both("shuffle", "int64", tokens=6)
def shuffled_rows(n, g, dtype):
    """three rows of two"""

    def one():
        x = np.arange(6).reshape(3, 2)
        g.shuffle(x)
        return x

    return times(n, one)


@MODERN.followed("numpy Generator.shuffle", "int64", tokens=6)
def shuffled_columns(n, g, dtype):
    """three columns of two"""

    def one():
        x = np.arange(6).reshape(2, 3)
        g.shuffle(x, axis=1)
        return x

    return times(n, one)


SAMPLERS = [*MODERN, *LEGACY]
