"""Verification at one node, on the dense target law p [V].

    matching    draw y ~ p; descend if y is a kept child
    recursive   children in slot order: accept x with probability min(1, r(x)/claim(x)), else r <- norm((r - claim)+);
                at the end emit y ~ r
    rheo        the probe Y survived: accept it with probability min(1, p(Y)/q~(Y)), else y ~ norm((p - q~)+); it did
                not: y ~ p. Descend if y is a kept child. Our reconstruction of RheoVerification from public
                descriptions (rheocheck.core.verifiers.rheo says more)

Coins [K+1]: the i-th coin asked for is coins[i], the draw's is coins[K]. Each gives (token, slot to descend to), slot K
when the block ends here.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Children(NamedTuple):
    """The slots of a node: their tokens, which are kept, which one was drawn, and from which law."""

    token: Int[Array, "K"]
    kept: Bool[Array, "K"]
    drawn: Bool[Array, "K"]
    claim: Float[Array, "V"]


Outcome = tuple[Int[Array, ""], Int[Array, ""]]
Verifier = Callable[[Float[Array, "V"], Children, Float[Array, "K1"]], Outcome]


def matching(p: Float[Array, "V"], children: Children, coins: Float[Array, "K1"]) -> Outcome:
    """Draw y ~ p; descend if y is a kept child."""
    return _descend(draw(p, children, coins[-1]), children)


def recursive(p: Float[Array, "V"], children: Children, coins: Float[Array, "K1"]) -> Outcome:
    """The first accepted child, elder first, or a draw from what is left of p."""
    K, V = len(children.token), len(p)
    r, slot = p, K
    asked = jnp.cumsum(children.kept) - 1
    for i in range(K):
        x = children.token[i]
        one_hot = (jnp.arange(V) == x).astype(p.dtype)
        claim = jnp.where(children.drawn[i], children.claim, one_hot)
        here = children.kept[i] & (slot == K)
        accepted = here & (coins[asked[i]] < r[x] / claim[x])
        r = jnp.where(here & ~accepted, residual(r, claim, p), r)
        slot = jnp.where(accepted, i, slot)
    token = jnp.where(slot < K, children.token[jnp.minimum(slot, K - 1)], draw(r, children, coins[-1]))
    return token, slot


def rheo(p: Float[Array, "V"], children: Children, coins: Float[Array, "K1"]) -> Outcome:
    """One coupled draw y from p, and the kept child that it is."""
    probe = children.kept & children.drawn
    x = children.token[jnp.argmax(probe)]
    accepted = probe.any() & (coins[0] < p[x] / children.claim[x])
    rest = jnp.where(probe.any(), residual(p, children.claim, p), p)
    return _descend(jnp.where(accepted, x, draw(rest, children, coins[-1])), children)


def residual(r: Float[Array, "V"], claim: Float[Array, "V"], p: Float[Array, "V"]) -> Float[Array, "V"]:
    """norm((r - claim)+), or p when nothing is left: that happens under false claims or rounding only."""
    left = jnp.maximum(r - claim, 0)
    mass = left.sum()
    return jnp.where(mass > 0, left / mass, p)


def draw(weights: Float[Array, "V"], children: Children, u: Float[Array, ""]) -> Int[Array, ""]:
    """Where u times their sum falls when the weights are laid end to end, kept children first."""
    V, K = len(weights), len(children.token)
    place = (jnp.arange(V) + K).at[jnp.where(children.kept, children.token, V)].set(jnp.arange(K), mode="drop")
    order = jnp.argsort(place)
    reached = jnp.cumsum(weights[order])
    return order[jnp.minimum((reached <= u * reached[-1]).sum(), V - 1)]


def _descend(y: Int[Array, ""], children: Children) -> Outcome:
    hit = children.kept & (children.token == y)
    return y, jnp.where(hit.any(), jnp.argmax(hit), len(hit))


VERIFIERS: dict[str, Verifier] = {"matching": matching, "recursive": recursive, "rheo": rheo}
