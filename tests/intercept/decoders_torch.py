"""Small decoders on torch, in the ways people write them; each says which source and which comparison it uses."""

import bisect

import torch
import torch.nn.functional as F
from torch.distributions import Categorical

from tests.intercept import rational
from tests.intercept.entries import Table
from tests.intercept.tables import V, p_floats, q_floats, row

P = torch.tensor(p_floats, dtype=torch.float64)
Q = torch.tensor(q_floats, dtype=torch.float64)
TORCH = Table("torch")


def residual(p, q):
    return (p - q).clamp(min=0)


def draw(weights):
    return torch.multinomial(weights, 1).item()


# ---- one draft and a coin: where the token comes from, how the coin is compared ------------------------------------


def one_draft(ids, n_tokens, draw, accept):
    """The textbook loop: draft, accept with min(1, p/q), otherwise recover; a bonus token after an accepted draft."""
    out = []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if accept(p, q, x):
            out.append(x)
            out.append(draw(row(P, ids + out)))
        else:
            out.append(draw(residual(p, q)))
    return out


@TORCH.lossless(tokens=3)
def multinomial(context, n_tokens):
    def accept(p, q, x):
        return torch.rand(()) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def multinomial_of_a_batch_of_one(context, n_tokens):
    def draw(weights):
        return int(torch.multinomial(weights.unsqueeze(0), num_samples=1)[0, 0])

    def accept(p, q, x):
        return bool(torch.rand(1) <= p[x] / q[x])

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def tensor_multinomial_ratio_on_the_left(context, n_tokens):
    def draw(weights):
        return weights.multinomial(1).item()

    def accept(p, q, x):
        return (p / q)[x] > torch.rand_like(p[x])

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def several_draws_with_replacement(context, n_tokens):
    """Draws three tokens and uses the last."""

    def draw(weights):
        return torch.multinomial(weights, 3, replacement=True)[-1].item()

    def accept(p, q, x):
        return not torch.rand(1, dtype=torch.float64) >= p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
class GeneratorMadeOnce:
    """A generator that lives as long as the decoder."""

    def __init__(self):
        self.generator = torch.Generator()
        self.generator.manual_seed(1234)

    def draw(self, weights):
        return torch.multinomial(weights, 1, generator=self.generator).item()

    def accept(self, p, q, x):
        return torch.rand(1, generator=self.generator) < p[x] / q[x]

    def __call__(self, context, n_tokens):
        return one_draft(list(context), n_tokens, self.draw, self.accept)


@TORCH.lossless()
def generator_from_the_seed(context, n_tokens, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(weights):
        return torch.multinomial(weights, 1, generator=generator).item()

    def accept(p, q, x):
        u = torch.empty(1, dtype=torch.float64).uniform_(generator=generator)
        return u < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def manual_seed_with_the_seed(context, n_tokens, seed):
    torch.manual_seed(seed)

    def accept(p, q, x):
        return torch.rand(()) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def uniform_scaled_by_q(context, n_tokens):
    def accept(p, q, x):
        u = torch.empty((), dtype=torch.float64).uniform_()
        return u * q[x] < p[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def uniform_between_two_bounds(context, n_tokens):
    def accept(p, q, x):
        u = torch.zeros(1, dtype=torch.float64).uniform_(-1, 1)
        return u.item() < 2 * (p[x] / q[x]).item() - 1

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def shifted_and_scaled(context, n_tokens):
    def accept(p, q, x):
        u = 2 * torch.rand((), dtype=torch.float64) - 1
        return (u + 1) / 2 < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def one_minus_the_coin(context, n_tokens):
    def accept(p, q, x):
        return (1 - torch.rand(1, dtype=torch.float64)).item() <= p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def negated_coin(context, n_tokens):
    def accept(p, q, x):
        return -torch.rand((), dtype=torch.float64) > -(p[x] / q[x])

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def logarithm_of_the_coin(context, n_tokens):
    def accept(p, q, x):
        u = torch.rand(1, dtype=torch.float64)
        return torch.log(u) < p[x].log() - q[x].log()

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def logarithm_method_of_the_coin(context, n_tokens):
    def accept(p, q, x):
        return bool(p.log()[x] - q.log()[x] >= torch.rand((), dtype=torch.float64).log())

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def bernoulli(context, n_tokens):
    def accept(p, q, x):
        return torch.bernoulli((p[x] / q[x]).clamp(max=1)).item() == 1

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def bernoulli_in_place(context, n_tokens):
    def accept(p, q, x):
        coin = torch.zeros(1).bernoulli_(min(1.0, (p[x] / q[x]).item()))
        return coin.item() > 0

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def bernoulli_method(context, n_tokens):
    """A coin for every token of the vocabulary; only the drafted one is looked at."""

    def accept(p, q, x):
        return (p / q.clamp(min=1e-9)).clamp(max=1).bernoulli().bool()[x].item()

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def exponential_race(context, n_tokens):
    def draw(weights):
        return (weights / torch.empty_like(weights).exponential_()).argmax(-1).item()

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def exponential_race_to_the_minimum(context, n_tokens):
    def draw(weights):
        return int(torch.argmin(torch.zeros(V, dtype=torch.float64).exponential_(1.0) / weights))

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def gumbel_argmax(context, n_tokens):
    def draw(weights):
        gumbel = -torch.log(-torch.log(torch.rand(V, dtype=torch.float64)))
        return (weights.log() + gumbel).argmax().item()

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def gumbel_max_indices(context, n_tokens):
    def draw(weights):
        u = torch.rand_like(weights)
        return (weights.log() - (-u.log()).log()).max(dim=-1).indices.item()

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def categorical_of_probs(context, n_tokens):
    def draw(weights):
        return Categorical(probs=weights).sample().item()

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def categorical_of_logits(context, n_tokens):
    def draw(weights):
        return int(Categorical(logits=weights.log()).sample())

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless(may_raise=True)
def hard_gumbel_softmax(context, n_tokens):
    def draw(weights):
        return F.gumbel_softmax(weights.log(), hard=True).argmax().item()

    def accept(p, q, x):
        return torch.rand(1) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def cumulative_law_argmax(context, n_tokens):
    def draw(weights):
        cdf = weights.cumsum(0)
        return int((cdf > torch.rand(1, dtype=torch.float64) * cdf[-1]).int().argmax())

    def accept(p, q, x):
        return torch.rand(()) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def cumulative_law_searchsorted(context, n_tokens):
    def draw(weights):
        cdf = weights.cumsum(0) / weights.sum()
        return torch.searchsorted(cdf, torch.rand(1, dtype=torch.float64), right=True).item()

    def accept(p, q, x):
        return torch.rand(()) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def cumulative_laws_in_rows(context, n_tokens):
    """Two rows searched at once, as a batch is: the token is drawn from p, in the second row; the first is not read."""
    ids, out = list(context), []
    for _ in range(n_tokens):
        cdf = torch.stack([row(Q, ids + out), row(P, ids + out)]).cumsum(-1)
        drawn = torch.searchsorted(cdf, torch.rand(2, 1, dtype=torch.float64) * cdf[:, -1:], right=True)
        out.append(drawn[1, 0].item())
    return out


@TORCH.lossless()
def cumulative_law_counted(context, n_tokens):
    """The token is the number of cumulative values that the uniform has passed."""

    def draw(weights):
        u = torch.rand((), dtype=torch.float64)
        return (u * weights.sum() >= weights.cumsum(-1)).sum().item()

    def accept(p, q, x):
        return torch.rand(()) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.lossless()
def three_uniforms_at_once(context, n_tokens):
    """One vector per cycle: an item for the draft by bisection, one for the coin, one for the last token."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        r = torch.rand(3, dtype=torch.float64)
        p, q = row(P, ids + out), row(Q, ids + out)
        x = bisect.bisect_right(q.cumsum(0).tolist(), r[0].item())
        if r[1] < p[x] / q[x]:
            out.append(x)
            weights = row(P, ids + out)
        else:
            weights = residual(p, q)
        out.append(torch.searchsorted(weights.cumsum(0), r[2:] * weights.sum(), right=True).item())
    return out


@TORCH.lossless()
def list_of_uniforms(context, n_tokens):
    """`tolist` and plain Python from there on."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        first, coin, last = torch.rand(3, dtype=torch.float64).tolist()
        p, q = row(P, ids + out).tolist(), row(Q, ids + out).tolist()
        x = walk(q, first)
        if coin < p[x] / q[x]:
            out.append(x)
            out.append(walk(row(P, ids + out).tolist(), last))
        else:
            rest = [max(a - b, 0.0) for a, b in zip(p, q, strict=True)]
            out.append(walk(rest, last * sum(rest)))
    return out


def walk(weights, u):
    total = 0.0
    for token, weight in enumerate(weights):
        total += weight
        if u < total:
            return token
    raise AssertionError("the uniform lies below 1")


@TORCH.lossless()
def uniform_drafter(context, n_tokens):
    """Drafts with `randint`: q is 1/V everywhere."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        p = row(P, ids + out)
        x = torch.randint(0, V, (1,)).item()
        if torch.rand(1) < p[x] * V:
            out.append(x)
        else:
            out.append(draw((p - 1 / V).clamp(min=0)))
    return out


@TORCH.lossless()
def one_uniform_two_thresholds(context, n_tokens):
    """No drafts: one uniform per token, compared with two thresholds."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        p = row(P, ids + out)
        u = torch.rand((), dtype=torch.float64)
        if u < p[0]:
            out.append(0)
        elif u < p[0] + p[1]:
            out.append(1)
        else:
            out.append(2)
    return out


@TORCH.lossless()
def masks_of_one_uniform(context, n_tokens):
    """Masks instead of branches: masked assignment, `~`, `&`."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        p = row(P, ids + out)
        u = torch.rand(1, dtype=torch.float64)
        x = torch.full((1,), 2)
        x[u < p[0]] = 0
        x[~(u < p[0]) & (u < p[0] + p[1])] = 1
        out.append(x.item())
    return out


# ---- two drafts judged at once: how the accepted ones are counted --------------------------------------------------


def two_drafts(ids, n_tokens, count):
    """Drafts two tokens; `count(ratios)` says how many are accepted; one more token from the residual or from p."""
    out = []
    while len(out) < n_tokens:
        drafts = []
        for _ in range(2):
            drafts.append(draw(row(Q, ids + out + drafts)))
        p = torch.stack([row(P, ids + out + drafts[:i]) for i in range(3)])
        q = torch.stack([row(Q, ids + out + drafts[:i]) for i in range(2)])
        x = torch.tensor(drafts).unsqueeze(-1)
        n = int(count((p[:2].gather(1, x) / q.gather(1, x)).squeeze(-1)))
        out += drafts[:n]
        out.append(draw(residual(p[n], q[n]) if n < 2 else p[2]))
    return out[:n_tokens]


@TORCH.lossless(tokens=3)
def counted_by_cumprod(context, n_tokens):
    def count(ratios):
        return (torch.rand(2, dtype=torch.float64) < ratios).int().cumprod(0).sum()

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_cumsum_of_rejections(context, n_tokens):
    def count(ratios):
        accepted = torch.rand_like(ratios) <= ratios
        return ((~accepted).cumsum(dim=-1) < 1).sum()

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_argmin(context, n_tokens):
    def count(ratios):
        accepted = torch.cat([torch.rand(2) < ratios, torch.tensor([False])])
        return accepted.int().argmin()

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_nonzero(context, n_tokens):
    def count(ratios):
        rejected = (torch.rand(2, dtype=torch.float64) >= ratios).nonzero()
        return rejected[0].item() if len(rejected) else 2

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_all_and_any(context, n_tokens):
    def count(ratios):
        r = torch.rand(4, dtype=torch.float64)
        accepted = r[:2] < ratios
        if accepted.all():
            return 2
        return 1 if accepted[:1].any() else 0

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_where(context, n_tokens):
    def count(ratios):
        keep = torch.where(torch.rand(2, dtype=torch.float64) < ratios, torch.ones(2), torch.zeros(2))
        return keep.cumprod(0).sum().item()

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def counted_by_masked_assignment(context, n_tokens):
    def count(ratios):
        u = torch.rand(2, dtype=torch.float64)
        keep = torch.zeros(2, dtype=torch.long)
        keep[u < ratios] = 1
        return keep[0] + keep[0] * keep[1]

    return two_drafts(list(context), n_tokens, count)


@TORCH.lossless()
def batched_recovery(context, n_tokens):
    """Recovers every position in one two-row `multinomial`; the row of the first rejection is used."""
    ids, out = list(context), []
    while len(out) < n_tokens:
        first = draw(row(Q, ids + out))
        drafts = torch.tensor([first, draw(Q[first])])
        p = torch.stack([row(P, ids + out), P[first]])
        q = torch.stack([row(Q, ids + out), Q[first]])
        recovered = torch.multinomial(residual(p, q), num_samples=1).squeeze(-1)
        at = torch.arange(2)
        accepted = torch.rand(2, dtype=torch.float64) < p[at, drafts] / q[at, drafts]
        n = accepted.int().cumprod(0).sum().item()
        out += torch.where(accepted, drafts, recovered)[: n + 1].tolist()
    return out[:n_tokens]


# ---- two siblings --------------------------------------------------------------------------------------------------


def two_siblings(ids, n_tokens, draw_two, without_elder):
    """Recursive rejection of two siblings; `without_elder`: they were drawn without replacement, and it is claimed."""
    out = []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        for x in draw_two(q):
            q = q / q.sum()
            if torch.rand((), dtype=torch.float64) * q[x] < p[x]:
                out.append(x)
                break
            p = residual(p, q)
            p = p / p.sum()
            if without_elder:
                q = q.index_fill(0, torch.tensor(x), 0)
        else:
            out.append(draw(p))
    return out


@TORCH.lossless()
def siblings_with_replacement(context, n_tokens):
    def draw_two(q):
        return torch.multinomial(q, 2, replacement=True).tolist()

    return two_siblings(list(context), n_tokens, draw_two, without_elder=False)


@TORCH.lossless()
def siblings_without_replacement(context, n_tokens):
    def draw_two(q):
        return torch.multinomial(q, num_samples=2).tolist()

    return two_siblings(list(context), n_tokens, draw_two, without_elder=True)


@TORCH.lossless()
def siblings_by_gumbel_top_two(context, n_tokens):
    def draw_two(q):
        gumbel = -torch.empty_like(q).exponential_().log()
        return (q.log() + gumbel).topk(2).indices.tolist()

    return two_siblings(list(context), n_tokens, draw_two, without_elder=True)


# ---- faults --------------------------------------------------------------------------------------------------------


@TORCH.faulty(rational.chain(accept=lambda p, q, x: min(1, q[x] / p[x]) if p[x] else 1))
def inverted_ratio(context, n_tokens):
    def accept(p, q, x):
        return torch.rand(()) < q[x] / p[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.faulty(rational.chain(2, accept=lambda p, q, x: 1))
def every_draft_accepted(context, n_tokens):
    """The negation stands inside: rejections are counted as if none had happened."""

    def count(ratios):
        rejected = torch.rand(2) >= ratios
        return (rejected | ~rejected).sum()

    return two_drafts(list(context), n_tokens, count)


@TORCH.faulty(rational.chain(accept=lambda p, q, x: int(p[x] > q[x] / 2)))
def constant_coin(context, n_tokens):
    def accept(p, q, x):
        return torch.full((), 0.5) < p[x] / q[x]

    return one_draft(list(context), n_tokens, draw, accept)


@TORCH.faulty(rational.chain(draft=lambda q: [int(i == q.index(max(q))) for i in range(V)]))
def greedy_draft_judged_by_soft_q(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = q.argmax().item()
        if torch.rand(1) < p[x] / q[x]:
            out.append(x)
            out.append(draw(P[x]))
        else:
            out.append(draw(residual(p, q)))
    return out


@TORCH.faulty(rational.chain(recover=lambda p, q: p))
def recovers_from_p(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if torch.rand(()) <= p[x] / q[x]:
            out += [x, draw(P[x])]
        else:
            out.append(draw(p))
    return out


@TORCH.faulty(rational.chain(bonus=rational.residual), tokens=3)
def bonus_from_the_residual(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if torch.rand(()) < p[x] / q[x]:
            out += [x, draw(residual(P[x], Q[x]))]
        else:
            out.append(draw(residual(p, q)))
    return out[:n_tokens]


@TORCH.faulty(rational.residual_of_the_first_position)
def residual_of_position_zero(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        y = draw(Q[x])
        accepted = torch.rand(2) < torch.stack([p[x] / q[x], P[x, y] / Q[x, y]])
        n = accepted.int().cumprod(0).sum().item()
        out += [x, y][:n]
        out.append(draw(residual(p, q)) if n < 2 else draw(P[y]))
    return out[:n_tokens]


@TORCH.faulty(rational.row_after_the_rejected)
def rejection_noticed_late(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        if torch.rand(()) < p[x] / q[x]:
            out.append(x)
        out.append(draw(P[x]))
    return out[:n_tokens]


@TORCH.faulty(rational.coin_recovers)
def coin_reused_for_recovery(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        x = draw(q)
        u = torch.rand((), dtype=torch.float64)
        if u >= p[x] / q[x]:
            cdf = residual(p, q).cumsum(0) / residual(p, q).sum()
            x = (cdf > u).int().argmax().item()
        out.append(x)
    return out


@TORCH.faulty(rational.one_coin_for_two_drafts)
def one_coin_broadcast_over_two_drafts(context, n_tokens):
    def count(ratios):
        return (torch.rand(1, dtype=torch.float64) < ratios).int().cumprod(0).sum()

    return two_drafts(list(context), n_tokens, count)


@TORCH.faulty(rational.noise_of_the_draft_recovers, tokens=1, may_raise=True)
def exponentials_reused_for_recovery(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        noise = torch.empty_like(q).exponential_()
        x = (q / noise).argmax().item()
        if torch.rand(()) >= p[x] / q[x]:
            x = (residual(p, q) / noise).argmax().item()
        out.append(x)
    return out


@TORCH.faulty(rational.noise_of_the_draft_recovers, may_raise=True)
def gumbels_reused_for_recovery(context, n_tokens):
    ids, out = list(context), []
    while len(out) < n_tokens:
        p, q = row(P, ids + out), row(Q, ids + out)
        gumbel = -torch.log(-torch.log(torch.rand(V, dtype=torch.float64)))
        x = (q.log() + gumbel).argmax().item()
        if torch.rand(()) >= p[x] / q[x]:
            x = (residual(p, q).log() + gumbel).argmax().item()
        out.append(x)
    return out


@TORCH.faulty(rational.distinct_siblings_claimed_independent)
def siblings_without_replacement_claimed_independent(context, n_tokens):
    def draw_two(q):
        return torch.multinomial(q, 2, replacement=False).tolist()

    return two_siblings(list(context), n_tokens, draw_two, without_elder=False)


# ---- probability zero ----------------------------------------------------------------------------------------------


@TORCH.emits({(0,): rational.ONE}, tokens=1)
def banned_token_accepted_when_the_coin_is_zero(context, n_tokens):
    """Token 2 is banned and always drafted; `<=` lets it pass when the coin is exactly 0."""
    p = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    x = 2
    return [x if torch.rand((), dtype=torch.float64) <= p[x] else 0]


@TORCH.emits({(0,): rational.ONE}, tokens=1)
def banned_token_refused_when_the_coin_is_zero(context, n_tokens):
    p = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)
    x = 2
    return [x if torch.rand((), dtype=torch.float64) < p[x] else 0]
