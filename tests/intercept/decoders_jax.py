"""Small decoders on JAX, outside jit and in double precision; keys are split as its documentation asks, or not."""

import functools

import jax
import jax.numpy as jnp

from tests.intercept import rational
from tests.intercept.entries import Table
from tests.intercept.tables import V, p_floats, q_floats, row

JAX = Table("jax")


def double(subject):
    """Runs the decoder with 64-bit floats, whatever the rest of the process uses."""

    @functools.wraps(subject)
    def run(context, n_tokens, seed):
        with jax.enable_x64(True):
            return subject(list(context), n_tokens, seed, jnp.array(p_floats), jnp.array(q_floats))

    del run.__wrapped__  # its signature is the shorter one
    return run


def residual(p, q):
    return jnp.maximum(p - q, 0)


def one_draft(ids, n_tokens, seed, P, Q, draw, accept):
    key = jax.random.PRNGKey(seed)
    out = []
    while len(out) < n_tokens:
        key, key_draft, key_coin, key_last = jax.random.split(key, 4)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(draw(key_draft, q))
        if accept(key_coin, p[x], q[x]):
            out.append(x)
            out.append(int(draw(key_last, row(P, ids + out))))
        else:
            out.append(int(draw(key_last, residual(p, q))))
    return out


@JAX.lossless(tokens=3)
@double
def categorical(ids, n_tokens, seed, P, Q):
    def draw(key, weights):
        return jax.random.categorical(key, jnp.log(weights))

    def accept(key, px, qx):
        return jax.random.uniform(key) < px / qx

    return one_draft(ids, n_tokens, seed, P, Q, draw, accept)


@JAX.lossless()
@double
def choice(ids, n_tokens, seed, P, Q):
    def draw(key, weights):
        return jax.random.choice(key, V, p=weights / weights.sum())

    def accept(key, px, qx):
        return jax.random.bernoulli(key, jnp.minimum(1, px / qx))

    return one_draft(ids, n_tokens, seed, P, Q, draw, accept)


@JAX.lossless()
@double
def gumbel_argmax(ids, n_tokens, seed, P, Q):
    def draw(key, weights):
        return jnp.argmax(jnp.log(weights) + jax.random.gumbel(key, (V,)))

    def accept(key, px, qx):
        return jnp.log(jax.random.uniform(key)) < jnp.log(px) - jnp.log(qx)

    return one_draft(ids, n_tokens, seed, P, Q, draw, accept)


@JAX.lossless()
@double
def cumulative_law(ids, n_tokens, seed, P, Q):
    def draw(key, weights):
        cdf = jnp.cumsum(weights)
        return jnp.argmax(cdf > jax.random.uniform(key) * cdf[-1])

    def accept(key, px, qx):
        return px / qx >= 1 - jax.random.uniform(key, ())

    return one_draft(ids, n_tokens, seed, P, Q, draw, accept)


@JAX.lossless()
@double
def searchsorted(ids, n_tokens, seed, P, Q):
    def draw(key, weights):
        cdf = jnp.cumsum(weights)
        return jnp.searchsorted(cdf, jax.random.uniform(key, maxval=cdf[-1]), side="right")

    def accept(key, px, qx):
        return jax.random.uniform(key, (1,))[0] * qx < px

    return one_draft(ids, n_tokens, seed, P, Q, draw, accept)


@JAX.lossless()
@double
def vector_of_coins(ids, n_tokens, seed, P, Q):
    """Two drafts, their coins in one array, `jnp.where` and `cumprod` on the mask; keys by `fold_in`."""
    key = jax.random.PRNGKey(seed)
    out = []
    while len(out) < n_tokens:
        keys = jax.random.split(jax.random.fold_in(key, len(out)), 4)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(jax.random.categorical(keys[0], jnp.log(q)))
        y = int(jax.random.categorical(keys[1], jnp.log(Q[x])))
        ratios = jnp.array([p[x] / q[x], P[x, y] / Q[x, y]])
        accepted = jax.random.uniform(keys[2], (2,)) < ratios
        n = int(jnp.where(accepted, 1, 0).cumprod().sum())
        last = (residual(p, q), residual(P[x], Q[x]), P[y])[n]
        out += [x, y][:n]
        out.append(int(jax.random.categorical(keys[3], jnp.log(last))))
    return out[:n_tokens]


# ---- faults --------------------------------------------------------------------------------------------------------


@JAX.faulty(rational.chain(recover=lambda p, q: q))
@double
def recovers_from_q(ids, n_tokens, seed, P, Q):
    key = jax.random.key(seed)
    out = []
    while len(out) < n_tokens:
        key, key_draft, key_coin, key_last = jax.random.split(key, 4)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(jax.random.categorical(key_draft, jnp.log(q)))
        if jax.random.uniform(key_coin) < p[x] / q[x]:
            out += [x, int(jax.random.categorical(key_last, jnp.log(P[x])))]
        else:
            out.append(int(jax.random.categorical(key_last, jnp.log(q))))
    return out


@JAX.faulty(rational.noise_of_the_draft_recovers, tokens=1, may_raise=True)
@double
def key_of_the_draft_recovers(ids, n_tokens, seed, P, Q):
    """`categorical` adds the same Gumbel noise whenever it gets the same key."""
    key_draft, key_coin = jax.random.split(jax.random.PRNGKey(seed))
    p, q = row(P, ids), row(Q, ids)
    x = jax.random.categorical(key_draft, jnp.log(q))
    if jax.random.uniform(key_coin) < p[x] / q[x]:
        return [int(x)]
    return [int(jax.random.categorical(key_draft, jnp.log(residual(p, q))))]


@JAX.faulty(rational.one_coin_for_two_drafts, may_raise=True)
@double
def key_of_the_first_coin_used_again(ids, n_tokens, seed, P, Q):
    key = jax.random.PRNGKey(seed)
    out = []
    while len(out) < n_tokens:
        key, key_x, key_y, key_coin, key_last = jax.random.split(key, 5)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(jax.random.categorical(key_x, jnp.log(q)))
        y = int(jax.random.categorical(key_y, jnp.log(Q[x])))
        if jax.random.uniform(key_coin) >= p[x] / q[x]:
            new, last = [], residual(p, q)
        elif jax.random.uniform(key_coin) >= P[x, y] / Q[x, y]:
            new, last = [x], residual(P[x], Q[x])
        else:
            new, last = [x, y], P[y]
        out += [*new, int(jax.random.categorical(key_last, jnp.log(last)))]
    return out[:n_tokens]


@JAX.refused()
@double
def one_key_for_two_different_draws(ids, n_tokens, seed, P, Q):
    """A uniform and a Gumbel vector from one key are dependent in a way that only the generator knows."""
    key = jax.random.PRNGKey(seed)
    out = []
    while len(out) < n_tokens:
        key, used_twice, key_last = jax.random.split(key, 3)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(jax.random.categorical(used_twice, jnp.log(q)))
        if jax.random.uniform(used_twice) < p[x] / q[x]:
            out.append(x)
        else:
            out.append(int(jax.random.categorical(key_last, jnp.log(residual(p, q)))))
    return out


@JAX.refused()
@double
def one_key_for_two_shapes(ids, n_tokens, seed, P, Q):
    key = jax.random.PRNGKey(seed)
    coins, last = jax.random.uniform(key, (2,)), jax.random.uniform(key, (3,))
    return [int(coins[0] < row(P, ids)[0]), int(last[1] < P[0, 0])]


@JAX.refused()
@double
def key_without_the_seed(ids, n_tokens, seed, P, Q):
    """Every call uses the same key: the same text every time."""
    return one_draft(
        ids, n_tokens, 0, P, Q, lambda key, w: jax.random.categorical(key, jnp.log(w)),
        lambda key, px, qx: jax.random.uniform(key) < px / qx,
    )  # fmt: skip


@JAX.refused()
@double
def normal_as_a_coin(ids, n_tokens, seed, P, Q):
    keys = jax.random.split(jax.random.PRNGKey(seed), n_tokens)
    return [int(jax.random.normal(key) < 0) for key in keys]
