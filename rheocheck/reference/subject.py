"""The JAX reference as a subject: whole batches of words from a toy pair, cycle after cycle.

rheocheck audit rheocheck.reference:subject --target toy_models.survival_bias:pair --set builder=naive
"""

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.formats.loading import load_attribute
from rheocheck.reference.cycle import PairArrays, cycles
from rheocheck.reference.ranking import expanded_nodes
from rheocheck.reference.slots import BUILDERS, Builder
from rheocheck.reference.verifiers import VERIFIERS, Verifier


def tables_of(pair: Pair) -> PairArrays:
    """The arrays of a pair, one row a state; float64 when x64 is on."""
    words = pair.states.words
    draft, target = (np.array([[float(x) for x in law(word)] for word in words]) for law in (pair.q, pair.p))
    return PairArrays(jnp.asarray(draft), jnp.asarray(target), jnp.asarray(pair.states.step))


@dataclass(frozen=True)
class ReferenceSubject:
    """A decoder of the reference on a pair; `sample` draws batches, a call draws one word."""

    pair: Pair
    builder: Builder
    verifier: Verifier
    shape: Shape

    @cached_property
    def _tables(self) -> PairArrays:
        with jax.enable_x64(True):
            return tables_of(self.pair)

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new tokens after `context`."""
        return [int(x) for x in self.sample(context, n_tokens, 1, seed)[0]]

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent words [samples, n_tokens] after `context`, over as many cycles as they take."""
        shape, V = self.shape, self.pair.vocab_size
        rows = -(-samples // 256) * 256  # a compiled cycle is made for one batch size: keep them few
        with jax.enable_x64(True):
            tables = self._tables
            key = jax.random.key(seed)
            state = jnp.full(rows, self.pair.state(context))
            words, filled = np.full((rows, n_tokens), -1), np.zeros(rows, dtype=int)
            while filled.min() < n_tokens:
                key, for_probe, for_coin = jax.random.split(key, 3)
                probe = jax.random.uniform(for_probe, (rows, expanded_nodes(shape), V))
                coin = jax.random.uniform(for_coin, (rows, shape.nodes + 1, shape.branching + 1))
                _, block = cycles(tables, self.builder, self.verifier, shape, state, probe, coin)
                state = block.state
                for place in range(shape.depth + 1):
                    token = np.asarray(block.tokens[:, place])
                    here = np.flatnonzero((token >= 0) & (filled < n_tokens))
                    words[here, filled[here]] = token[here]
                    filled[here] += 1
        return words[:samples].astype(np.int64)


def subject(
    *,
    pair: str = "toy_models.survival_bias:pair",
    builder: str = "rheo",
    verifier: str = "rheo",
    leads: int = 1,
    branching: int = 3,
    depth: int = 2,
    nodes: int = 4,
) -> ReferenceSubject:
    """A factory for the command line; the pair is named as `module:attr`."""
    for name, value, known in (("builder", builder, BUILDERS), ("verifier", verifier, VERIFIERS)):
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}; try rheo")
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes)
    return ReferenceSubject(load_attribute(pair, "pair"), BUILDERS[builder], VERIFIERS[verifier], shape)
