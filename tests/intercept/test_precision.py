"""Half precision and the rims of samplers: followed as they are, or refused; each once gave an untrue law.

The one test that compares frequencies of real draws has a fixed seed, and tells what is five standard errors apart.
"""

import itertools
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rheocheck.core.errors import InputError
from rheocheck.intercept import NotUnderstood, enumerate_law, jax_halves
from rheocheck.intercept.errors import HALVES
from rheocheck.intercept.words import FAILED

DRAWS = 40_000
RATIO = torch.tensor([0.9961], dtype=torch.bfloat16)  # 0.99609375
NARROW = np.array([0.9961], dtype=np.float16)


def law(program, tokens=1):
    found = enumerate_law(lambda context, n_tokens, seed: [int(x) for x in program(seed)], tokens=tokens)
    return {word: float(mass) for word, mass in found.law.items()}


# ---- a single number beside a tensor of halves is rounded to that type ---------------------------------------------

ROUNDED = {
    "random.random() < a tensor": lambda: random.random() < RATIO[0],
    "a tensor of one dimension >= random.random()": lambda: RATIO >= random.random(),
    "torch.rand(()) < a tensor of one dimension": lambda: torch.rand(()) < RATIO,
    "torch.rand(()) on the right": lambda: RATIO.gt(torch.rand(())),
    "torch.rand(1).item()": lambda: torch.rand(1).item() < RATIO[0],
    "a product before the comparison": lambda: torch.rand(()) * RATIO < RATIO * RATIO,
    "numpy's scalar": lambda: random.random() < NARROW[0],
    "numpy's array": lambda: (NARROW > random.random())[0],
    "jax's array": lambda: jnp.asarray(0.9961, jnp.bfloat16) > random.random(),
}
NOT_ROUNDED = {
    "two numbers without dimensions": lambda: torch.rand(()) < RATIO[0],
    "tensors of one dimension": lambda: torch.rand(1) < RATIO,
    "an item": lambda: random.random() < RATIO.item(),
    "float32": lambda: random.random() < RATIO.float(),
}


def test_torch_rounds_a_single_number_to_the_type_of_halves():
    """Reals above 0.99414 round to 0.99609 (bfloat16) or above: the coin is off by five standard errors."""
    coins = random.Random(1)
    seen = sum(bool(coins.random() < RATIO[0]) for _ in range(DRAWS)) / DRAWS
    assert abs(seen - 0.99414) < 0.00098 < abs(seen - 0.99609)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_rounded_coin_is_refused(name):
    with pytest.raises(NotUnderstood, match="rounded to b?float16.*float32"):
        law(lambda seed: [ROUNDED[name]()])


@pytest.mark.parametrize("name", NOT_ROUNDED)
def test_a_coin_that_is_not_rounded_is_followed(name):
    assert law(lambda seed: [NOT_ROUNDED[name]()])[1,] == RATIO.item()


# ---- JAX's halves ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HALVES)
def test_the_gumbel_variables_of_halves_are_jax_s_own(dtype):
    """Every value of the table comes in 2^17 draws but with probability 1e-52, and no other one ever."""
    drawn = np.asarray(jax.random.gumbel(jax.random.key(3), (2**17,), dtype), np.float64)
    assert set(drawn.tolist()) == set(np.asarray(jax_halves.gumbels(dtype), np.float64).tolist())


def test_the_first_of_the_largest_against_brute_force():
    scores = np.random.default_rng(5).integers(0, 4, (4, 3)).astype(float)
    expected = np.zeros(4)
    for row in itertools.product(*scores):
        expected[int(np.argmax(row))] += 1 / 3**4
    assert jax_halves.first_of_the_largest(scores) == pytest.approx(expected, abs=1e-15)


def test_a_categorical_of_bfloat16_is_found_biased():
    """Its law is off by 0.017, as its real draws are: 0.0165 was measured at a million."""
    weights = [0.4224, 0.2059, 0.1119, 0.0641, 0.04, 0.0383, 0.0239, 0.0107, 0.0408, 0.042]
    logits = jnp.log(jnp.asarray(weights)).astype(jnp.bfloat16)
    p = np.exp(np.asarray(logits, np.float64))
    p /= p.sum()
    found = law(lambda seed: [jax.random.categorical(jax.random.key(seed), logits)])
    assert sum(abs(found[(i,)] - p[i]) for i in range(10)) / 2 == pytest.approx(0.0170, abs=5e-4)


def test_a_coin_of_bfloat16_falls_by_the_grid():
    p = jnp.asarray(0.001, jnp.bfloat16)
    assert law(lambda seed: [jax.random.bernoulli(jax.random.key(seed), p)])[1,] == 1 / 128


# ---- rims -----------------------------------------------------------------------------------------------------------

KEY = jax.random.key
UNDEFINED = {
    "torch fills up with tokens without weight": lambda s: torch.multinomial(torch.tensor([0.5, 0.5, 0, 0]), 3),
    "jax by NaN": lambda s: [jax.random.categorical(KEY(s), jnp.asarray([0.0, float("nan")]))],
    "jax by NaN in bfloat16": lambda s: [jax.random.categorical(KEY(s), jnp.asarray([0.0, jnp.nan], jnp.bfloat16))],
    "jax by less than nothing in bfloat16": lambda s: [
        jax.random.choice(KEY(s), 2, p=jnp.asarray([1.5, -0.5], jnp.bfloat16))
    ],
    "jax by infinity": lambda s: [jax.random.categorical(KEY(s), jnp.asarray([0.0, float("inf")]))],
    "jax by nothing": lambda s: [jax.random.choice(KEY(s), 2, p=jnp.zeros(2))],
    "jax by less than nothing": lambda s: [jax.random.choice(KEY(s), 2, p=jnp.asarray([1.5, -0.5]))],
    "jax draws more than have a weight": lambda s: jax.random.choice(
        KEY(s), 3, (2,), replace=False, p=jnp.asarray([1.0, 0, 0])
    ),
    "rows that jax permutes apart": lambda s: jax.random.permutation(
        KEY(s), jnp.arange(4).reshape(2, 2), axis=1, independent=True
    ).ravel(),
    "jax in 8 bits": lambda s: [jax.random.bernoulli(KEY(s), jnp.asarray(0.3, jnp.float8_e5m2))],
}
RAISING = {
    "a coin of torch above 1": (lambda s: torch.bernoulli(torch.tensor([1.5])), RuntimeError),
    "a coin of torch filled in": (lambda s: torch.empty(2).bernoulli_(torch.tensor([0.5, -0.1])), RuntimeError),
    "a coin of torch, NaN": (lambda s: torch.bernoulli(torch.tensor([float("nan")])), RuntimeError),
    "a coin of numpy above 1": (lambda s: [np.random.default_rng(s).binomial(1, 1.5)], ValueError),
    "numpy by a weight below 0": (lambda s: [np.random.default_rng(s).choice(2, p=[1.5, -0.5])], ValueError),
    "numpy draws more than have a weight": (
        lambda s: np.random.default_rng(s).choice(3, 2, replace=False, p=[1, 0, 0]), ValueError,
    ),
    "numpy in half precision": (lambda s: [np.random.default_rng(s).random(dtype=np.float16) < 0.5], TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_no_law_is_known_of_is_refused(name):
    with pytest.raises(NotUnderstood, match="must"):
        law(UNDEFINED[name])


@pytest.mark.parametrize("name", RAISING)
def test_what_raises_raises_the_same(name):
    program, error = RAISING[name]
    with pytest.raises(error):
        list(program(1))
    if error is TypeError:
        with pytest.raises(InputError, match=error.__name__):
            law(program)
    else:  # a sampler that refuses its weights: the call has no output
        assert {word[0] for word in law(program)} == {FAILED}


def test_small_integers_keep_their_type():
    """Beyond it they wrap around, as the real ones do."""
    assert law(lambda s: [jax.random.randint(KEY(s), (), 100, 101, jnp.int8) + jnp.int8(100) + 56]) == {(0,): 1}
    assert law(lambda s: [np.random.default_rng(s).integers(2, 3, dtype=np.uint8).itemsize]) == {(1,): 1}


def test_numpy_uniforms_between_arrays_of_bounds():
    found = law(lambda s: [np.random.default_rng(s).uniform(0, np.array([1.0, 4.0]))[1] < 1])
    assert found[1,] == 0.25
