"""Small decoders on NumPy: the legacy functions of `numpy.random` and its Generator."""

import numpy as np

from tests.intercept import rational
from tests.intercept.entries import Table
from tests.intercept.tables import V, p_floats, q_floats, row

P = np.array(p_floats)
Q = np.array(q_floats)
with np.errstate(divide="ignore"):
    LOG_P, LOG_Q = np.log(P), np.log(Q)
    LOG_RESIDUAL = np.log(np.maximum(P - Q, 0))
NUMPY = Table("numpy")


def residual(p, q):
    """norm((p - q)+)."""
    r = np.maximum(p - q, 0)
    return r / r.sum()


def one_draft(ids, n_tokens, draw, accept):
    out = []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if accept(p[x], q[x]):
            out.append(x)
            out.append(draw(row(P, ids + out)))
        else:
            out.append(draw(residual(p, q)))
    return out


# ---- the legacy functions ------------------------------------------------------------------------------------------


@NUMPY.lossless(tokens=3)
def choice(context, n_tokens):
    def draw(weights):
        return int(np.random.choice(V, p=weights))

    def accept(px, qx):
        return np.random.random() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def choice_from_a_list(context, n_tokens):
    def draw(weights):
        return int(np.random.choice([0, 1, 2], size=1, p=weights)[0])

    def accept(px, qx):
        return px / qx >= np.random.rand()

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def multinomial(context, n_tokens):
    def draw(weights):
        return int(np.random.multinomial(1, weights).argmax())

    def accept(px, qx):
        return np.random.uniform() * qx < px

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def gumbel_argmax(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        log_p, log_q = row(LOG_P, ids + out), row(LOG_Q, ids + out)
        x = int(np.argmax(log_q + np.random.gumbel(size=V)))
        if np.log(np.random.rand()) < log_p[x] - log_q[x]:
            out.append(x)
        else:
            out.append(int(np.argmax(row(LOG_RESIDUAL, ids + out) + np.random.gumbel(size=V))))
    return out


@NUMPY.lossless()
def exponential_race(context, n_tokens):
    def draw(weights):
        return int((weights / np.random.exponential(size=V)).argmax())

    def accept(px, qx):
        return not (np.random.rand(1) > px / qx)[0]

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def searchsorted(context, n_tokens):
    def draw(weights):
        return int(np.searchsorted(np.cumsum(weights), np.random.random(), side="right"))

    def accept(px, qx):
        return np.random.uniform(-1, 1) < 2 * (px / qx) - 1

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def cumulative_law_argmax(context, n_tokens):
    def draw(weights):
        return int(np.argmax(weights.cumsum() > np.random.rand()))

    def accept(px, qx):
        return 1 - np.random.random_sample() <= px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def vector_of_coins(context, n_tokens):
    """Two drafts, their coins in one array, `np.where` on the mask."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        x = int(np.random.choice(V, p=row(Q, ids + out)))
        y = int(np.random.choice(V, p=Q[x]))
        p, q = np.stack([row(P, ids + out), P[x]]), np.stack([row(Q, ids + out), Q[x]])
        at, drafts = np.arange(2), np.array([x, y])
        accepted = np.random.rand(2) < p[at, drafts] / q[at, drafts]
        n = int(np.where(accepted, 1, 0).cumprod().sum())
        out += [x, y][:n]
        out.append(int(np.random.choice(V, p=residual(p[n], q[n]) if n < 2 else P[y])))
    return out[:n_tokens]


@NUMPY.lossless()
def coins_of_a_masked_array(context, n_tokens):
    """`np.flatnonzero` of the rejections, `.all()` for the bonus."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        x = int(np.random.choice(V, p=row(Q, ids + out)))
        y = int(np.random.choice(V, p=Q[x]))
        ratios = np.array([row(P, ids + out)[x] / row(Q, ids + out)[x], P[x, y] / Q[x, y]])
        accepted = np.random.uniform(size=2) < ratios
        if accepted.all():
            out += [x, y, int(np.random.choice(V, p=P[y]))]
            continue
        n = int(np.flatnonzero(~accepted)[0])
        rest = residual(P[x], Q[x]) if n else residual(row(P, ids + out), row(Q, ids + out))
        out += [x, y][:n]
        out.append(int(np.random.choice(V, p=rest)))
    return out[:n_tokens]


@NUMPY.lossless(may_raise=True)
def distinct_siblings(context, n_tokens):
    """Two candidates from `choice(replace=False)`, judged one after the other."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        for x in np.random.choice(V, size=2, replace=False, p=q).tolist():
            q = q / q.sum()
            if np.random.rand() < p[x] / q[x]:
                out.append(x)
                break
            p = residual(p, q)
            q = np.where(np.arange(V) == x, 0, q)
        else:
            out.append(int(np.random.choice(V, p=p)))
    return out


@NUMPY.lossless(may_raise=True)
def uniform_drafter(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p = row(P, ids + out)
        x = int(np.random.randint(V))
        if np.random.rand() < p[x] * V:
            out.append(x)
        else:
            out.append(int(np.random.choice(V, p=residual(p, np.full(V, 1 / V)))))
    return out


# ---- the Generator -------------------------------------------------------------------------------------------------


@NUMPY.lossless(tokens=3)
def generator_made_inside(context, n_tokens):
    rng = np.random.default_rng()

    def draw(weights):
        return int(rng.choice(V, p=weights))

    def accept(px, qx):
        return rng.random() < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def generator_from_the_seed(context, n_tokens, seed):
    rng = np.random.default_rng(seed)

    def draw(weights):
        return int(np.searchsorted(weights.cumsum(), rng.random(), side="right"))

    def accept(px, qx):
        return rng.uniform(0, qx) < px

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
class GeneratorMadeOnce:
    """The generator is as old as the decoder."""

    def __init__(self):
        self.rng = np.random.default_rng(7)

    def __call__(self, context, n_tokens):
        def draw(weights):
            return int(self.rng.multinomial(1, weights).argmax())

        def accept(px, qx):
            return self.rng.uniform() < px / qx

        return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless()
def generator_gumbels(context, n_tokens):
    rng = np.random.default_rng()
    ids, out = list(context), []
    while len(out) < n_tokens:
        log_p, log_q = row(LOG_P, ids + out), row(LOG_Q, ids + out)
        x = int((log_q + rng.gumbel(size=V)).argmax())
        if rng.random() < np.exp(log_p[x] - log_q[x]):
            out.append(x)
        else:
            out.append(int((row(LOG_RESIDUAL, ids + out) + rng.gumbel(size=V)).argmax()))
    return out


@NUMPY.lossless()
def generator_exponentials(context, n_tokens):
    rng = np.random.default_rng()

    def draw(weights):
        return int(np.argmax(weights / rng.exponential(size=V)))

    def accept(px, qx):
        return rng.random(1)[0] < px / qx

    return one_draft(list(context), n_tokens, draw, accept)


@NUMPY.lossless(may_raise=True)
def generator_spawned(context, n_tokens, seed):
    """A child generator for the drafter, another for the verifier."""
    drafter, verifier = np.random.default_rng(seed).spawn(2)
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(drafter.choice(V, p=q))
        out.append(x if verifier.random() < p[x] / q[x] else int(verifier.choice(V, p=residual(p, q))))
    return out


# ---- faults --------------------------------------------------------------------------------------------------------


@NUMPY.faulty(rational.chain(recover=lambda p, q: p))
def recovers_from_p(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(np.random.choice(V, p=q))
        if np.random.rand() < p[x] / q[x]:
            out += [x, int(np.random.choice(V, p=P[x]))]
        else:
            out.append(int(np.random.choice(V, p=p)))
    return out


@NUMPY.faulty(rational.coin_recovers)
def coin_reused_for_recovery(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = int(np.random.choice(V, p=q))
        u = np.random.random()
        if u >= p[x] / q[x]:
            x = int(np.searchsorted(residual(p, q).cumsum(), u, side="right"))
        out.append(x)
    return out


@NUMPY.faulty(rational.one_coin_for_two_drafts, tokens=3)
def one_coin_for_two_drafts(context, n_tokens):
    rng = np.random.default_rng()
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        u = rng.random()
        x = int(rng.choice(V, p=q))
        y = int(rng.choice(V, p=Q[x]))
        if u >= p[x] / q[x]:
            out.append(int(rng.choice(V, p=residual(p, q))))
        elif u >= P[x, y] / Q[x, y]:
            out += [x, int(rng.choice(V, p=residual(P[x], Q[x])))]
        else:
            out += [x, y, int(rng.choice(V, p=P[y]))]
    return out[:n_tokens]


@NUMPY.faulty(rational.noise_of_the_draft_recovers, may_raise=True)
def gumbels_reused_for_recovery(context, n_tokens):
    rng = np.random.default_rng()
    ids, out = list(context), []
    while len(out) < n_tokens:
        log_p, log_q = row(LOG_P, ids + out), row(LOG_Q, ids + out)
        gumbel = rng.gumbel(size=V)
        x = int((log_q + gumbel).argmax())
        if np.log(rng.random()) >= log_p[x] - log_q[x]:
            x = int((row(LOG_RESIDUAL, ids + out) + gumbel).argmax())
        out.append(x)
    return out
