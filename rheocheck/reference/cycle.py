"""One cycle: grow a tree, then walk it from the root.

    at the root, and then at every node descended to: ask the verifier for (token, slot); emit the token; go on below
    the slot, or end the block

`cycles` is the cycle jitted and mapped over a batch of starts and noise. Noise per sequence, by the contract of
`rheocheck.formats.noise`: probe [E, V], coin [N+1, K+1].
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.reference.ranking import ArrayTree, expanded_nodes, grow
from rheocheck.reference.slots import Builder
from rheocheck.reference.verifiers import Children, Verifier


class PairArrays(NamedTuple):
    """A drafter and a target as an automaton: laws per state, and the state after each token."""

    draft: Float[Array, "S V"]
    target: Float[Array, "S V"]
    step: Int[Array, "S V"]


class Block(NamedTuple):
    """What a cycle emits: `length` tokens, then -1; and the state after them."""

    tokens: Int[Array, "D1"]
    length: Int[Array, ""]
    state: Int[Array, ""]


def cycle(
    tables: PairArrays,
    builder: Builder,
    verifier: Verifier,
    shape: Shape,
    start: Int[Array, ""],
    probe: Float[Array, "E V"],
    coin: Float[Array, "N1 K1"],
) -> tuple[ArrayTree, Block]:
    """The tree and the block of one cycle from state `start`."""
    _check(probe, coin, tables.draft.shape[-1], shape)
    tree = grow(builder, lambda s: tables.draft[s], lambda s, x: tables.step[s, x], start, probe, shape)
    return tree, walk(tree, tables, verifier, start, coin, shape)


def walk(
    tree: ArrayTree,
    tables: PairArrays,
    verifier: Verifier,
    start: Int[Array, ""],
    coin: Float[Array, "N1 K1"],
    shape: Shape,
) -> Block:
    """The accepted path and one more token."""
    K, E = shape.branching, expanded_nodes(shape)

    def at_node(carry: tuple, _: None) -> tuple[tuple, Array]:
        row, node, state, going = carry
        children = Children(tree.token[row], tree.kept[row], tree.drawn[row], tree.claim[row])
        token, slot = verifier(tables.target[state], children, coin[node])
        emitted = jnp.where(going, token, -1)
        state = jnp.where(going, tables.step[state, token], state)
        going = going & (slot < K)
        inside = jnp.minimum(slot, K - 1)
        row, node = jnp.where(going, tree.below[row, inside], E), jnp.where(going, tree.number[row, inside], 0)
        return (row, node, state, going), emitted

    root = (jnp.zeros_like(start), jnp.zeros_like(start), start, jnp.array(True))
    (*_, state, _), tokens = jax.lax.scan(at_node, root, None, length=shape.depth + 1)
    return Block(tokens, (tokens >= 0).sum(), state)


def _check(probe: Array, coin: Array, V: int, shape: Shape) -> None:
    """JAX would clamp an index past the end, and read one coin for many nodes."""
    sizes = (expanded_nodes(shape), V), (shape.nodes + 1, shape.branching + 1)
    for name, array, size in (("probe", probe, sizes[0]), ("coin", coin, sizes[1])):
        if array.shape != size:
            raise InputError(f"{name} must have shape {size} a sequence, got {array.shape}; draw it by this shape")


@partial(jax.jit, static_argnums=(1, 2, 3))
def cycles(
    tables: PairArrays,
    builder: Builder,
    verifier: Verifier,
    shape: Shape,
    starts: Int[Array, "B"],
    probe: Float[Array, "B E V"],
    coin: Float[Array, "B N1 K1"],
) -> tuple[ArrayTree, Block]:
    """`cycle` on a batch: one start state and one set of noise arrays a sequence."""
    one = partial(cycle, tables, builder, verifier, shape)
    return jax.vmap(one)(starts, probe, coin)
