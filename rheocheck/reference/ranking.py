"""The ranking loop (EAGLE-2's, with a strict order) on one sequence.

    score(root) = 1,  score(child) = score(parent) * rank weight
    layer d   the children of the F best nodes of layer d-1, d = 1..D
    kept      the N best nodes of all layers

Rows are expanded nodes e = 0..E-1, the root first, then F a layer; E = 1 + (D-1) F. Position (e, slot) in reading
order is (layer, rank of the parent, slot), so a stable sort by -score is the strict order and looks at no token.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from rheocheck.core.shape import Shape
from rheocheck.reference.slots import Builder


class ArrayTree(NamedTuple):
    """A tree with claims. Row E is empty: what a node without children points to.

    token, kept, drawn  per slot of every expanded node
    number              of a kept node: 1, 2, ... in reading order, the root being 0; 0 where nothing is kept
    below               the row that holds a slot's children
    claim               per expanded node: the law its probe was drawn from
    """

    token: Int[Array, "E1 K"]
    kept: Bool[Array, "E1 K"]
    drawn: Bool[Array, "E1 K"]
    number: Int[Array, "E1 K"]
    below: Int[Array, "E1 K"]
    claim: Float[Array, "E1 V"]


def expanded_nodes(shape: Shape) -> int:
    """E, the rows of a tree: the root and F nodes of every layer but the last."""
    return 1 + (shape.depth - 1) * shape.width


def grow(
    builder: Builder,
    law: Callable[[Int[Array, ""]], Float[Array, "V"]],
    step: Callable[[Int[Array, ""], Int[Array, ""]], Int[Array, ""]],
    start: Int[Array, ""],
    probe: Float[Array, "E V"],
    shape: Shape,
) -> ArrayTree:
    """The tree below state `start`; `law(state)` is the drafter and `step(state, token)` the next state."""
    K, F, E = shape.branching, shape.width, expanded_nodes(shape)
    states, scores, first = start[None], jnp.ones(1, probe.dtype), 0
    layers, below = [], jnp.full((E + 1) * K, E)
    for layer in range(shape.depth):
        rows = len(states)
        propose = jax.vmap(lambda state, clocks: builder(law(state), clocks, K, shape.leads))
        slots = propose(states, probe[first : first + rows])
        score = scores[:, None] * slots.weight
        layers.append((slots.token, score, slots.drawn, slots.claim))
        if layer == shape.depth - 1:
            break
        best = jnp.argsort(-score.ravel(), stable=True)[:F]
        scores = jnp.pad(score.ravel()[best], (0, F - len(best)))  # rows past the last node have score 0
        best = jnp.pad(best, (0, F - len(best)))
        states = jax.vmap(step)(states[best // K], slots.token.ravel()[best])
        here = jnp.where(scores > 0, first * K + best, E * K)
        first += rows
        below = below.at[here].set(jnp.where(scores > 0, first + jnp.arange(F), E))
    token, score, drawn, claim = (_with_empty_row(jnp.concatenate(part)) for part in zip(*layers, strict=True))
    best = jnp.argsort(-score.ravel(), stable=True)[: shape.nodes]
    kept = jnp.zeros(score.size, bool).at[best].set(True).reshape(score.shape) & (score > 0)
    number = jnp.where(kept, jnp.cumsum(kept.ravel()).reshape(kept.shape), 0)
    return ArrayTree(token, kept, drawn, number, below.reshape(E + 1, K), claim)


def _with_empty_row(rows: Array) -> Array:
    return jnp.pad(rows, ((0, 1), (0, 0)))
