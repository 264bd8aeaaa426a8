"""What JAX draws outside jit, and how its stand-ins are tried; float64 with its 64-bit types switched on."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tests.intercept.standins import COINS, EDGES, FLOATS, HALVES, WEIGHTS, Samplers, flat, in_order, law_of

SAMPLERS = Samplers(jax.random.key)
INTEGERS = ("int32", "uint32", "int16", "int8", "uint8")
ALL = (*FLOATS, *HALVES)


def wide(draw):
    """The program with 64-bit types where it is about one."""

    @functools.wraps(draw)
    def run(n, key, dtype):
        with jax.enable_x64("64" in dtype):
            return draw(n, key, dtype)

    return run


def each(n, key, draw):
    """n words, each from a key of its own."""
    return draw(key)[None] if n == 1 else jax.vmap(draw)(jax.random.split(key, n))


def weights(dtype):
    return jnp.asarray(WEIGHTS, dtype=dtype)


def logits(dtype, above=0):
    with np.errstate(divide="ignore"):
        return jnp.asarray(np.log(WEIGHTS) + above, dtype=dtype)


def of_logits(dtype, above=0):
    """The weights that the logits of a dtype stand for."""
    return np.exp(np.asarray(logits(dtype, above), np.float64))


def cells(u):
    """The cell that a number lies in."""
    return jnp.searchsorted(jnp.asarray(EDGES, jnp.float32), u, side="right")


# ---- indices by weights ---------------------------------------------------------------------------------------------


@SAMPLERS.followed("jax.random.categorical", *ALL)
@wide
def categorical(n, key, dtype):
    """one by logits"""
    return jax.random.categorical(key, logits(dtype), shape=(n,))


@SAMPLERS.followed("jax.random.categorical", *FLOATS, tokens=2)
@wide
def categorical_of_columns(n, key, dtype):
    """one of each of two different columns"""
    columns = jnp.stack([logits(dtype), logits(dtype)[::-1]], axis=1)
    return jax.random.categorical(key, columns, axis=0, shape=(n, 2))


@SAMPLERS.followed("jax.random.categorical", *FLOATS, tokens=2)
@wide
def categorical_broadcast(n, key, dtype):
    """two of one row, by a shape that is wider than the batch"""
    return jax.random.categorical(key, logits(dtype)[None], shape=(n, 2))


@SAMPLERS.followed("jax.random.categorical", *FLOATS)
@wide
def categorical_of_high_range(n, key, dtype):
    """one by logits, mode="high\""""
    return jax.random.categorical(key, logits(dtype), shape=(n,), mode="high")


@SAMPLERS.followed("jax.random.categorical", *FLOATS, tokens=2)
@wide
def categorical_without_replacement(n, key, dtype):
    """two by logits, without replacement"""
    return each(n, key, lambda k: jax.random.categorical(k, logits(dtype), shape=(2,), replace=False))


@SAMPLERS.followed("jax.random.choice", *ALL)
@wide
def choice(n, key, dtype):
    """one by weights"""
    return jax.random.choice(key, len(WEIGHTS), (n,), p=weights(dtype))


@SAMPLERS.followed("jax.random.choice", "int32", tokens=2)
def unweighted(n, key, dtype):
    """two of a population of thirteen, equally likely"""
    return jax.random.choice(key, jnp.arange(13) + 1, (n, 2))


@SAMPLERS.followed("jax.random.choice", *FLOATS, tokens=2)
@wide
def choice_without_replacement(n, key, dtype):
    """two by weights, without replacement"""
    return each(n, key, lambda k: jax.random.choice(k, len(WEIGHTS), (2,), replace=False, p=weights(dtype)))


@SAMPLERS.followed("jax.random.choice", "int32", tokens=2)
def unweighted_without_replacement(n, key, dtype):
    """two of five, equally likely, without replacement"""
    return each(n, key, lambda k: jax.random.choice(k, 5, (2,), replace=False))


@SAMPLERS.refused("jax.random.categorical", *HALVES, tokens=2, claimed=lambda dtype: in_order(of_logits(dtype)))
def half_categorical_without_replacement(n, key, dtype):
    """two by logits, without replacement"""
    return each(n, key, lambda k: jax.random.categorical(k, logits(dtype), shape=(2,), replace=False))


@SAMPLERS.refused("jax.random.categorical", *HALVES, claimed=lambda dtype: law_of(of_logits(dtype, above=40)))
def half_categorical_of_high_range(n, key, dtype):
    """one by logits around 40, mode="high\""""
    return jax.random.categorical(key, logits(dtype, above=40), shape=(n,), mode="high")


@SAMPLERS.followed("jax.random.categorical", *ALL)
@wide
def categorical_of_large_logits(n, key, dtype):
    """one by logits around 40"""
    return jax.random.categorical(key, logits(dtype, above=40), shape=(n,))


@SAMPLERS.refused("jax.random.choice", *HALVES, tokens=2, claimed=lambda dtype: in_order(weights(dtype)))
def half_choice_without_replacement(n, key, dtype):
    """two by weights, without replacement"""
    return each(n, key, lambda k: jax.random.choice(k, len(WEIGHTS), (2,), replace=False, p=weights(dtype)))


# ---- coins ----------------------------------------------------------------------------------------------------------


@SAMPLERS.followed("jax.random.bernoulli", *ALL, tokens=len(COINS))
@wide
def coins(n, key, dtype):
    """four coins"""
    return jax.random.bernoulli(key, jnp.asarray(COINS, dtype), (n, 4)).astype(int)


@SAMPLERS.followed("jax.random.bernoulli", *ALL, tokens=len(COINS))
@wide
def coins_of_high_range(n, key, dtype):
    """four coins, mode="high\""""
    return jax.random.bernoulli(key, jnp.asarray(COINS, dtype), (n, 4), mode="high").astype(int)


# ---- uniforms, clocks and their races -------------------------------------------------------------------------------


@SAMPLERS.followed("jax.random.uniform", *FLOATS, tokens=2)
@wide
def uniform_cells(n, key, dtype):
    """the cells of two uniforms"""
    return cells(jax.random.uniform(key, (n, 2), dtype))


@SAMPLERS.followed("jax.random.uniform", *FLOATS)
@wide
def uniform_between(n, key, dtype):
    """the cell of a uniform between -1 and 2"""
    return cells(jax.random.uniform(key, (n,), dtype, -1, 2))


@SAMPLERS.followed("jax.random.exponential", *FLOATS)
@wide
def exponential_cell(n, key, dtype):
    """the cell of a clock"""
    return cells(jax.random.exponential(key, (n,), dtype))


@SAMPLERS.followed("jax.random.exponential", *FLOATS)
@wide
def exponential_race(n, key, dtype):
    """a race of clocks"""
    return jnp.argmax(weights(dtype) / jax.random.exponential(key, (n, len(WEIGHTS)), dtype), axis=1)


@SAMPLERS.followed("jax.random.gumbel", *FLOATS)
@wide
def gumbel_race(n, key, dtype):
    """a race of Gumbel noise"""
    return jnp.argmax(logits(dtype) + jax.random.gumbel(key, (n, len(WEIGHTS)), dtype), axis=1)


@SAMPLERS.followed("jax.random.gumbel", "float32")
def gumbel_race_of_high_range(n, key, dtype):
    """a race of Gumbel noise, mode="high\""""
    return jnp.argmax(logits(dtype) + jax.random.gumbel(key, (n, len(WEIGHTS)), dtype, mode="high"), axis=1)


@SAMPLERS.refused("jax.random.gumbel", *HALVES, claimed=lambda dtype: law_of(of_logits(dtype)))
def half_gumbel_race(n, key, dtype):
    """a race of Gumbel noise"""
    return jnp.argmax(logits(dtype) + jax.random.gumbel(key, (n, len(WEIGHTS)), dtype), axis=1)


@SAMPLERS.refused("jax.random.exponential", *HALVES, claimed=lambda dtype: law_of(weights(dtype)))
def half_exponential_race(n, key, dtype):
    """a race of clocks"""
    return jnp.argmax(weights(dtype) / jax.random.exponential(key, (n, len(WEIGHTS)), dtype), axis=1)


@SAMPLERS.refused("jax.random.uniform", *HALVES, claimed=lambda dtype: flat(2))
def odd_step_of_a_uniform(n, key, dtype):
    """whether a uniform lies in an odd step of 2^-12"""
    return (jax.random.uniform(key, (n,), dtype).astype(jnp.float32) * 2**12).astype(int) % 2


# ---- integers and orders --------------------------------------------------------------------------------------------


@SAMPLERS.followed("jax.random.randint", *INTEGERS, "int64", tokens=2)
@wide
def integers(n, key, dtype):
    """two of 0..12"""
    return jax.random.randint(key, (n, 2), 0, 13, dtype)


@SAMPLERS.followed("jax.random.randint", "int32", "int8")
def integers_from_below_zero(n, key, dtype):
    """one of -50..49, plus 50"""
    return jax.random.randint(key, (n,), -50, 50, dtype).astype(int) + 50


@SAMPLERS.followed("jax.random.permutation", "int32", tokens=4)
def order(n, key, dtype):
    """an order of four"""
    return each(n, key, lambda k: jax.random.permutation(k, 4))


@SAMPLERS.followed("jax.random.permutation", "int32", tokens=6)
def order_of_columns(n, key, dtype):
    """an order of three columns of two"""
    return each(n, key, lambda k: jax.random.permutation(k, jnp.arange(6).reshape(2, 3), axis=1))
