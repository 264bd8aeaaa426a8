"""Two draws in one state of a generator are the same noise only where the sampler makes the same numbers of both.

Each pair is drawn twice in one state, really and intercepted. `ALIKE` makes the same numbers and is taken for the same
noise; `OTHER` makes other numbers and must be refused. What is alike may be refused too where nobody would draw so.
"""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rheocheck.intercept import NotUnderstood, enumerate_law

SEEDS = range(8)
W = np.array([0.2, 0.3, 0.5])
LOGITS = jnp.log(jnp.asarray([[0.2, 0.8], [0.5, 0.5]]))


def modern(seed):
    return np.random.Generator(np.random.MT19937(seed))


def legacy(seed):
    return np.random.RandomState(np.random.MT19937(seed))


def generator(seed):
    return torch.Generator().manual_seed(seed)


@contextlib.contextmanager
def default_type(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def rand_by_default(seed, dtype):
    with default_type(dtype):
        return torch.rand(3, generator=generator(seed))


ALIKE = {
    "torch.rand": (lambda s: torch.rand(3, generator=generator(s)), lambda s: torch.rand(3, generator=generator(s))),
    "torch.multinomial of rows in other tensors": (
        lambda s: torch.multinomial(torch.tensor(W).repeat(4, 1), 1, generator=generator(s)),
        lambda s: torch.multinomial(torch.tensor(W).repeat(4, 2)[:, :3], 1, generator=generator(s)),
    ),
    "torch.bernoulli of one probability, whatever stood there": (
        lambda s: torch.bernoulli(torch.zeros(5), 0.3, generator=generator(s)),
        lambda s: torch.bernoulli(torch.ones(5), 0.3, generator=generator(s)),
    ),
    "numpy random and uniform": (lambda s: modern(s).random(3), lambda s: modern(s).uniform(size=3)),
    "numpy integers of 32 and 64 bits": (
        lambda s: modern(s).integers(10, size=4), lambda s: modern(s).integers(10, size=4, dtype=np.int32),
    ),
    "numpy exponential, standard or not": (
        lambda s: modern(s).standard_exponential(3), lambda s: modern(s).exponential(size=3),
    ),
    "numpy permutation and shuffle": (lambda s: modern(s).permutation(5), lambda s: shuffled(modern(s))),
    "uniforms of Generator and RandomState": (lambda s: modern(s).random(3), lambda s: legacy(s).random_sample(3)),
    "orders of Generator and RandomState": (lambda s: modern(s).permutation(20), lambda s: legacy(s).permutation(20)),
    "jax.random.categorical": (
        lambda s: jax.random.categorical(jax.random.key(s), LOGITS),
        lambda s: jax.random.categorical(jax.random.key(s), LOGITS, mode="low"),
    ),
}  # fmt: skip
OTHER = {
    "torch.rand of another default type": (
        lambda s: rand_by_default(s, torch.float32), lambda s: rand_by_default(s, torch.float64),
    ),
    "torch uniform_ into the transpose": (
        lambda s: torch.empty(2, 3).uniform_(generator=generator(s)),
        lambda s: torch.empty(3, 2).T.uniform_(generator=generator(s)),
    ),
    "torch.multinomial of the transpose": (
        lambda s: torch.multinomial(torch.ones(20, 3), 1, generator=generator(s)),
        lambda s: torch.multinomial(torch.ones(3, 20).T, 1, generator=generator(s)),
    ),
    "numpy integers of 8 and 64 bits": (
        lambda s: modern(s).integers(10, size=4), lambda s: modern(s).integers(10, size=4, dtype=np.int8),
    ),
    "exponentials of Generator and RandomState": (
        lambda s: modern(s).exponential(size=3), lambda s: legacy(s).exponential(size=3),
    ),
    "integers of Generator and RandomState": (
        lambda s: modern(s).integers(10, size=4), lambda s: legacy(s).randint(10, size=4),
    ),
    "counts of Generator and RandomState": (
        lambda s: modern(s).multinomial(40, W), lambda s: legacy(s).multinomial(40, W[::-1])[::-1],
    ),
    "numpy standard_exponential by another method": (
        lambda s: modern(s).standard_exponential(3), lambda s: modern(s).standard_exponential(3, method="inv"),
    ),
    "numpy choice of equal weights, given or not": (
        lambda s: modern(s).choice(4, 5), lambda s: modern(s).choice(4, 5, p=[0.25] * 4),
    ),
    "jax.random.choice of equal weights, given or not": (
        lambda s: jax.random.choice(jax.random.key(s), 3, (5,)),
        lambda s: jax.random.choice(jax.random.key(s), 3, (5,), p=jnp.ones(3)),
    ),
    "jax.random.categorical along another axis": (
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((5, 3))),
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((3, 5)), axis=0),
    ),
    "jax.random.categorical of another mode": (
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((5, 3))),
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((5, 3)), mode="high"),
    ),
    "jax.random.categorical in another type": (
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((5, 2))),
        lambda s: jax.random.categorical(jax.random.key(s), jnp.zeros((5, 2), jnp.bfloat16)),
    ),
    "jax.random.bernoulli in another type": (
        lambda s: jax.random.bernoulli(jax.random.key(s), jnp.float32(0.5), (5,)),
        lambda s: jax.random.bernoulli(jax.random.key(s), jnp.bfloat16(0.5), (5,)),
    ),
    "jax.random.gumbel of another mode": (
        lambda s: jax.random.gumbel(jax.random.key(s), (3,)),
        lambda s: jax.random.gumbel(jax.random.key(s), (3,), mode="high"),
    ),
}  # fmt: skip


def shuffled(g):
    x = np.arange(5)
    g.shuffle(x)
    return x


def alike(pair):
    """Whether the two really draw the same numbers, for every seed."""
    return all(np.array_equal(np.asarray(pair[0](seed)), np.asarray(pair[1](seed))) for seed in SEEDS)


def enumerated(pair):
    """A program that draws both in one state; the law of what it emits does not matter."""

    def program(context, n_tokens, seed):
        for draw in pair:
            draw(seed)
        return [0]

    return enumerate_law(program, tokens=1, max_paths=5)


@pytest.mark.parametrize("name", ALIKE)
def test_the_same_numbers_are_the_same_noise(name):
    assert alike(ALIKE[name])
    enumerated(ALIKE[name])


@pytest.mark.parametrize("name", OTHER)
def test_other_numbers_are_other_noise(name):
    assert not alike(OTHER[name])
    with pytest.raises(NotUnderstood, match="share numbers of one stream"):
        enumerated(OTHER[name])
