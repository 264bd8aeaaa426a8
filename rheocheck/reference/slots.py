"""What one node proposes (arXiv 2609.21827, the builder), as arrays over its K slots.

    q        drafter law at the node, [V]           x1, x2, ...  its tokens by (-q, token id)
    m, K     leads and slots                        z            mass of the tail x_{m+1}, x_{m+2}, ...
    clocks   uniforms of the race, [V]: the i-th belongs to the i-th tail token

    slots 1..m    leads x1..xm               weight q(xi)           claim one-hot
    slot  m+1     probe Y ~ q~ = q/z         weight min{q(xm), z}   claim q~      (m = 0: weight q(x1))
    slots m+2..K  best tail tokens but Y     weight q(x)            claim one-hot

A slot of weight 0 holds nothing: tokens with q = 0 are never proposed. The probe's weight never looks at Y.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class SlotArrays(NamedTuple):
    """The slots of one node: tokens, rank weights, which one was drawn, and the law it was drawn from."""

    token: Int[Array, "K"]
    weight: Float[Array, "K"]
    drawn: Bool[Array, "K"]
    claim: Float[Array, "V"]


Builder = Callable[[Float[Array, "V"], Float[Array, "V"], int, int], SlotArrays]


def top_k(q: Float[Array, "V"], clocks: Float[Array, "V"], K: int, m: int) -> SlotArrays:
    """The K best tokens, none drawn; the clocks and m play no role."""
    order, s = ranked(q, K)
    return SlotArrays(order[:K], s[:K], jnp.zeros(K, bool), jnp.zeros_like(q))


def rheo(q: Float[Array, "V"], clocks: Float[Array, "V"], K: int, m: int) -> SlotArrays:
    """Leads, a probe ranked without a look at it, fills; plain top-K without room or tail for a probe."""
    return _with_probe(q, clocks, K, m, lambda s, z, y: jnp.minimum(s[m - 1], z) if m else s[0])


def naive(q: Float[Array, "V"], clocks: Float[Array, "V"], K: int, m: int) -> SlotArrays:
    """The negative control: the probe is ranked by its own q(Y), which biases what survives."""
    return _with_probe(q, clocks, K, m, lambda s, z, y: s[m + y])


def _with_probe(q: Float[Array, "V"], clocks: Float[Array, "V"], K: int, m: int, weight: Callable) -> SlotArrays:
    if K <= m or len(q) <= m:
        return top_k(q, clocks, K, m)
    order, s = ranked(q, K)
    tail = s[m:]
    z = sequential_sum(tail)
    y = race(tail, clocks)
    slot = jnp.arange(K)
    fill = slot - 1 + (slot - m - 1 >= y)  # the (slot-m-1)-th tail token, one further once Y is passed
    rank = jnp.where(slot < m, slot, jnp.where(slot == m, m + y, fill))
    weights = jnp.where(slot == m, weight(s, z, y), s[rank])
    claim = jnp.where(z > 0, tail / z, 0.0)  # an empty tail: every weight from slot m+1 on is 0, nothing is drawn
    claims = jnp.zeros_like(q).at[order[m:]].add(claim)
    drawn = (slot == m) & (s[m + 1] > 0)  # a tail of one token is no draw: its claim is one-hot
    return SlotArrays(order[rank], jnp.where(z > 0, weights, jnp.where(slot < m, s[slot], 0.0)), drawn, claims)


def ranked(q: Float[Array, "V"], K: int) -> tuple[Int[Array, "R"], Float[Array, "R"]]:
    """Tokens by (-q, token id) and their q, with zeros appended up to K + 1 entries."""
    order = jnp.argsort(-q, stable=True)
    empty = max(K + 1 - len(q), 0)
    return jnp.pad(order, (0, empty)), jnp.pad(q[order], (0, empty))


def race(tail: Float[Array, "T"], clocks: Float[Array, "V"]) -> Int[Array, ""]:
    """The winner of a race of exponential clocks with rates q: index i with probability tail[i] / sum(tail)."""
    u = jnp.pad(clocks, (0, max(len(tail) - len(clocks), 0)))[: len(tail)]
    return jnp.argmin(jnp.where(tail > 0, -jnp.log(u) / tail, jnp.inf))


def sequential_sum(values: Float[Array, "T"]) -> Float[Array, ""]:
    """The sum from left to right: rounding is monotone, so it is never below an entry."""
    return jax.lax.fori_loop(0, len(values), lambda i, z: z + values[i], jnp.zeros((), values.dtype))


BUILDERS: dict[str, Builder] = {"top_k": top_k, "rheo": rheo, "naive": naive}
