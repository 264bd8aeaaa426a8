"""One node of the JAX reference against the rules of the core, for every winner of its race."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rheocheck.core import BUILDERS as RULES
from rheocheck.core.ranking import held_token
from rheocheck.core.rule import Slot
from rheocheck.reference import BUILDERS
from rheocheck.reference.slots import race, sequential_sum
from tests.shared_noise import grid_pair


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def expected(slots, probe):
    """[(token, weight)] of the slots that hold something."""
    held = [(slot, held_token(slot, probe)) for slot in slots]
    return [(token, float(slot.weight_of(token))) for slot, token in held if token is not None]


@pytest.mark.parametrize("m", [0, 1, 2, 3])
@pytest.mark.parametrize("K", [1, 3, 5])
@pytest.mark.parametrize("name", BUILDERS)
def test_slots_are_those_of_the_rule(name, K, m):
    """Tokens, weights, who is drawn, and the claim; laws with zeros, more slots than tokens."""
    V = 4
    slots_of = jax.jit(lambda q, clocks: BUILDERS[name](q, clocks, K, m))
    for seed in range(12):
        q = grid_pair(random.Random(seed), V, 0, 64).q(())
        slots: list[Slot] = RULES[name](q, K, m)
        law = next((slot.law for slot in slots if slot.law is not None), None)
        tail = [] if law is None else sorted((x for x in range(V) if law[x]), key=lambda x: (-law[x], x))
        for place in range(max(len(tail), 1)):
            clocks = jnp.full(V, 1e-300).at[place].set(1 - 2.0**-53)
            found = slots_of(jnp.array([float(x) for x in q]), clocks)
            held = [(int(t), float(w)) for t, w in zip(found.token, found.weight, strict=True) if w > 0]
            assert held == expected(slots, tail[place] if tail else None), (q, place)
            drawn = law is not None and len(tail) > 1
            assert found.drawn.tolist() == [drawn and slot == m for slot in range(K)]
            if law is not None:
                np.testing.assert_allclose(found.claim, [float(x) for x in law], rtol=1e-15)


def test_the_race_is_over_the_tail():
    assert int(race(jnp.array([0.2, 0.8]), jnp.array([0.5, 0.5]))) == 1
    assert int(race(jnp.array([0.2, 0.0]), jnp.array([1e-9, 0.999]))) == 0


def test_a_sequential_sum_is_never_below_an_entry():
    values = jnp.array(np.random.default_rng(0).random(50) ** 40)
    total = float(sequential_sum(values))
    assert total == sum(values.tolist()) and total >= float(values.max())
