"""What a cycle of the JAX reference refuses."""

import jax.numpy as jnp
import pytest

from rheocheck.core import InputError, Shape
from rheocheck.formats import load_pair
from rheocheck.reference import BUILDERS, VERIFIERS, cycles, tables_of


@pytest.mark.parametrize(
    ("E", "V", "nodes", "coins", "name"),
    [(2, 4, 4, 3, "probe"), (3, 3, 4, 3, "probe"), (3, 4, 3, 3, "coin"), (3, 4, 4, 2, "coin")],
)
def test_noise_of_the_wrong_size_is_refused(E, V, nodes, coins, name):
    """JAX clamps an index past the end: a short array would be a wrong law without a word."""
    tables, shape = tables_of(load_pair("toy_models.exact_ties:pair")), Shape(leads=0, branching=2, depth=2, nodes=3)
    noise = jnp.full((2, E, V), 0.5), jnp.full((2, nodes, coins), 0.5)
    with pytest.raises(InputError, match=f"{name} must have shape"):
        cycles(tables, BUILDERS["rheo"], VERIFIERS["rheo"], shape, jnp.zeros(2, int), *noise)
