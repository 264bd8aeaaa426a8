"""The traps of prototypes, each with the case that falls into it."""

import math

import pytest
import torch

from rheocheck.core import InputError, Shape
from rheocheck.production import BUILDERS, VERIFIERS, build, cut_at, draw_noise, verify
from rheocheck.production.slots import _probe_slot, _ranks, naive, rheo
from rheocheck.production.target import counted
from rheocheck.production.tops import _steps, top_law
from rheocheck.production.tree import _constants
from tests.benchmarks.counting import Counting
from tests.production.toy_batch import blind_drafter, cycle, markov_target, rows, seeing_drafter

SHAPE = Shape(leads=1, branching=10, depth=8, nodes=59)
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("m", [0, 1, 2, 9])
@pytest.mark.parametrize("scale", [0.0, 0.001, 3.0, 40.0])
def test_fills_rank_at_most_as_the_probe_and_it_as_its_leads(m, scale):
    """Near ties and peaked laws: rounding never puts a fill above the probe, whatever was drawn."""
    tokens, q = top_law(rows(50, 20, 128, seed=m, scale=scale), None, 128, 11)
    clocks = -torch.rand(q.shape, generator=torch.Generator().manual_seed(1)).log()
    weight = rheo(tokens, q, clocks, 10, m).weight
    probe = weight[..., m : m + 1]
    assert (weight[..., m + 1 :] <= probe).all()
    assert (weight[..., :m] >= probe).all()


@pytest.mark.parametrize("shape", [Shape(leads=m, branching=m + 1, depth=6, nodes=40, frontier=8) for m in (1, 3, 9)])
@pytest.mark.parametrize("scale", [0.0, 3.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_shape_of_a_tree_does_not_look_at_draws(shape, scale, dtype):
    """No fills and a drafter that does not see its tokens: one shape under any noise. Equal logits: ties everywhere."""
    root, drafter = blind_drafter(shape, 1, 3000, scale=scale, dtype=dtype)
    root, many = root.expand(64, -1), lambda frontier: drafter(frontier).expand(64, -1, -1)
    probe = draw_noise(shape, 64, 3000, generator=torch.Generator().manual_seed(0)).probe
    for builder, blind in (("rheo", True), ("naive", scale == 0.0)):
        tree = build(root, many, shape, probe, builder=BUILDERS[builder])
        same = (tree.parent == tree.parent[:1]).all() and (tree.child == tree.child[:1]).all()
        assert bool(same) == blind
        assert len(set(tree.token[:, 1:].sum(-1).tolist())) > 1  # though the draws did differ


def test_tokens_without_probability_fill_no_slot():
    root, drafter = seeing_drafter(SHAPE, 2, 300)
    mask = torch.zeros(300)
    mask[5:] = -torch.inf
    tree = build(root + mask, lambda f: drafter(f) + mask, SHAPE, draw_noise(SHAPE, 2, 300).probe)
    assert (tree.token[tree.valid] < 5).all()


@pytest.mark.parametrize("m", [0, 1, 3])
@pytest.mark.parametrize("finite", [1, 2])
def test_an_empty_tail_is_no_tail(m, finite):
    """z = 0: one token left. Also: a tail of one token, whose claim is one-hot. A chain, and nothing breaks."""
    shape = Shape(leads=m, branching=4, depth=3, nodes=10)
    logits = torch.full((2, 50), -torch.inf)
    logits[:, 7 : 7 + finite] = 0.0
    noise = draw_noise(shape, 2, 50)
    tree = build(logits, lambda f: logits[:, None].expand(-1, 4, -1), shape, noise.probe)
    assert tree.valid.sum(-1).tolist() == [1 + (3 if finite == 1 else 10)] * 2
    out = verify(tree, logits[:, None].expand(-1, 11, -1), noise.coin)
    assert set(out.tokens[out.tokens >= 0].tolist()) <= {7, 8}


def test_a_tail_too_light_to_race_is_no_tail():
    """Probabilities near 1e-40 are denormal in float32: clocks would overflow and claims lose their digits."""
    tokens, q = top_law(torch.tensor([[[0.0, -92.0, -92.5, -93.0]]]), None, 128, 4)
    slots = rheo(tokens, q, torch.ones(1, 1, 4), 3, 1)
    assert slots.z.item() == 0.0 and slots.weight.tolist() == [[[1.0, 0.0, 0.0]]]


@pytest.mark.parametrize("m", [4, 5])
def test_no_room_for_a_probe_is_plain_top_k(m):
    shape = Shape(leads=m, branching=4, depth=3, nodes=10)
    root, drafter = seeing_drafter(shape, 2, 60)
    probe = draw_noise(shape, 2, 60).probe
    trees = [build(root, drafter, shape, probe, builder=BUILDERS[name]) for name in ("rheo", "top_k")]
    assert torch.equal(trees[0].token, trees[1].token) and trees[0].tail is None


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_missing_children_do_not_collide_with_a_real_token(verifier):
    """The root's token is 0 and so are the missing children's: a real child 0 that was refused must not come back."""
    shape = Shape(leads=3, branching=3, depth=1, nodes=1)
    logits = torch.tensor([[3.0, 0.0, 0.0, 0.0]]).expand(4000, 4)
    noise = draw_noise(shape, 4000, 4, generator=torch.Generator().manual_seed(0))
    tree = build(logits, None, shape, noise.probe)
    assert tree.token[0].tolist() == [0, 0]
    out = verify(tree, torch.zeros(4000, 2, 4), noise.coin, verifier=VERIFIERS[verifier])
    first = torch.bincount(out.tokens[:, 0], minlength=4)
    assert (out.length[out.tokens[:, 0] == 0] == 2).all() and (out.length[out.tokens[:, 0] != 0] == 1).all()
    assert (first - 1000).abs().max() < 6 * math.sqrt(4000 * 3 / 16)


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_target_equal_to_the_claim_cancels_without_harm(verifier, dtype):
    """p = q~ on the tail: residuals vanish to rounding, and tokens stay tokens."""
    shape = Shape(leads=0, branching=3, depth=4, nodes=12)
    logits = rows(1, 1, 100, seed=4, dtype=dtype)[0].expand(3000, 100)
    noise = draw_noise(shape, 3000, 100, generator=torch.Generator().manual_seed(1))
    tree = build(logits, lambda f: logits[:, None].expand(-1, 3, -1), shape, noise.probe)
    for walk in (False, True):
        target = logits[:, None].expand(-1, 13, -1)
        out = verify(tree, target, noise.coin, verifier=VERIFIERS[verifier], walk=walk)
        emitted = out.tokens[out.tokens >= 0]
        assert (emitted < 100).all() and out.length.min() >= 1
        if verifier != "matching":
            assert (out.length >= 2).float().mean() > 0.999  # the probe is always taken


@pytest.mark.distribution
def test_the_race_draws_from_its_claim():
    """300,000 draws over a tail of 127 tokens in float32, chi-square over those expected at least 20 times."""
    n = 300_000
    q = (-0.08 * torch.arange(128.0)).softmax(-1)
    noise = torch.rand(n, 1, 128, generator=torch.Generator().manual_seed(8))
    slots = naive(torch.arange(128).expand(n, 1, -1), q.expand(n, 1, -1), -noise.log(), 2, 1)
    found = torch.bincount(slots.token[:, 0, 1], minlength=128)[1:].double()
    expected = n * (q[1:] / q[1:].sum()).double()
    big = expected >= 20
    chi = ((found - expected) ** 2 / expected)[big].sum()
    assert abs(chi - big.sum()) < 5 * math.sqrt(2 * big.sum())


@pytest.mark.distribution
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_ties_at_rank_128_keep_the_law(dtype):
    """A flat drafter over 200 tokens, 128 of which enter arbitrarily: the first token still has the target's law."""
    n, V, shape = 30_000, 200, Shape(leads=1, branching=4, depth=2, nodes=5)
    p = torch.linspace(0, 2, V).to(dtype)
    flat = torch.zeros(n, V, dtype=dtype)
    noise = draw_noise(shape, n, V, generator=torch.Generator().manual_seed(3))
    tree = build(flat, lambda f: flat[:, None].expand(-1, 4, -1), shape, noise.probe)
    out = verify(tree, p.expand(n, 6, -1), noise.coin, walk=True)
    found = torch.bincount(out.tokens[:, 0], minlength=V).double()
    expected = n * p.double().softmax(-1)
    chi = ((found - expected) ** 2 / expected).sum()
    assert abs(chi - V) < 5 * math.sqrt(2 * V)


def test_masked_target_tokens_are_never_emitted():
    """Filtered logits (top-k, top-p of the target) arrive as -inf."""
    tree, _ = cycle(SHAPE, 64, 500)
    target = markov_target(tree, 500)
    kept = target.topk(3).values[..., -1:]
    target = target.masked_fill(target < kept, -torch.inf)
    noise = draw_noise(SHAPE, 64, 500)
    for verifier in VERIFIERS.values():
        for walk in (False, True):
            out = verify(tree, target, noise.coin, verifier=verifier, walk=walk)
            at = out.nodes.gather(1, (out.length - 1)[:, None])
            last = out.tokens.gather(1, (out.length - 1)[:, None])
            row = target.gather(1, at[..., None].expand(-1, -1, 500))[:, 0]
            assert torch.isfinite(row.gather(1, last)).all()


def test_eos_ends_a_block():
    _, out = cycle(SHAPE, 64, 12)
    stop = int(out.tokens[out.length > 1][0, 0])
    cut = cut_at(out, stop)
    for tokens, length, before in zip(cut.tokens.tolist(), cut.length.tolist(), out.tokens.tolist(), strict=True):
        whole = [x for x in before if x >= 0]
        expected = whole[: whole.index(stop) + 1] if stop in whole else whole
        assert tokens[:length] == expected and set(tokens[length:]) <= {-1}


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("walk", [False, True])
def test_a_cycle_asks_the_host_nothing(builder, walk):
    """No dispatched read, and the whole cycle runs on `meta` tensors, which have no values to read."""
    temperature = torch.tensor([0.0, 0.7])
    with Counting() as count:
        cycle(SHAPE, 2, 2000, builder=BUILDERS[builder], walk=walk, temperature=temperature)
    assert count.syncs == 0
    root, noise = torch.empty(2, 2000, device="meta"), draw_noise(SHAPE, 2, 2000, device="meta")
    drafter = lambda frontier: torch.empty(*frontier.token.shape, 2000, device="meta")  # noqa: E731
    tree = build(root, drafter, SHAPE, noise.probe, builder=BUILDERS[builder], temperature=temperature.to("meta"))
    target = torch.empty(2, 60, 2000, device="meta")
    for verifier in VERIFIERS.values():
        out = verify(tree, target, noise.coin, verifier=verifier, walk=walk, temperature=temperature.to("meta"))
        assert out.tokens.shape == (2, 9)


def test_the_counter_sees_a_host_read():
    with Counting() as count:
        torch.ones(2).sum().item()
        torch.ones(2).nonzero()
        torch.ones(2).tolist()
        torch.ones(2)[torch.tensor([True, False])]
    assert count.syncs == 4


def test_wrong_sizes_are_one_line():
    root, drafter = seeing_drafter(SHAPE, 2, 50)
    noise = draw_noise(SHAPE, 2, 50)
    with pytest.raises(InputError, match=r"probe must have shape \(2, 71, 50\), got \(2, 70, 50\); try"):
        build(root, drafter, SHAPE, noise.probe[:, 1:])
    tree = build(root, drafter, SHAPE, noise.probe)
    with pytest.raises(InputError, match="target must have shape"):
        verify(tree, torch.zeros(2, 59, 50), noise.coin)
    with pytest.raises(InputError, match="coin must have shape"):
        verify(tree, torch.zeros(2, 60, 50), noise.coin[:, 1:])
    with pytest.raises(InputError, match="one a row, got 1 for 2 rows"):
        draw_noise(SHAPE, 2, 50, generator=[torch.Generator()])
    with pytest.raises(InputError, match="branching must be at most top = 4, got 10"):
        build(root, drafter, SHAPE, noise.probe, top=4)
    for wrong, got in ((0.8, "0.8"), (torch.tensor(0.8), r"\(\)"), (torch.ones(3), r"\(3,\)")):
        with pytest.raises(InputError, match=rf"temperature must be a tensor of shape \(2,\), got {got}; try"):
            build(root, drafter, SHAPE, noise.probe, temperature=wrong)
        with pytest.raises(InputError, match=rf"temperature must be a tensor of shape \(2,\), got {got}; try"):
            verify(tree, torch.zeros(2, 60, 50), noise.coin, temperature=wrong)


def test_constants_stay_where_they_are():
    """A captured graph reads them there: one that is made anew for other sizes would leave it with freed memory."""
    device = torch.device("cpu")
    makers = [
        lambda n: counted(n, 3, device),
        lambda n: _steps(0, n, 1, device),
        lambda n: _ranks(n, 2, 1, device),
        lambda n: _probe_slot(n, 1, device),
        lambda n: _constants(Shape(nodes=n), device),
    ]
    for make in makers:
        first = make(2)
        for n in range(3, 300):
            make(n)
        assert make(2) is first


@pytest.mark.distribution
@pytest.mark.parametrize(
    ("verifier", "walk", "dtype"), [("rheo", True, torch.float32), ("recursive", False, torch.bfloat16)]
)
def test_the_law_at_a_vocabulary_that_is_searched_by_blocks(verifier, walk, dtype):
    """V = 2048, 12,000 cycles: first and second tokens, where there is one, against p; cells of 20 and more."""
    V, B, shape = 2048, 1000, Shape(leads=1, branching=4, depth=2, nodes=6)
    q = -1.2 * torch.log(torch.randperm(V, generator=torch.Generator().manual_seed(0)) + 1.0)
    p = (q + 0.7 * torch.randn(V, generator=torch.Generator().manual_seed(1))).to(dtype)
    q, g = q.to(dtype), torch.Generator().manual_seed(2)
    found = torch.zeros(2, V, dtype=torch.double)
    for _ in range(12):
        noise = draw_noise(shape, B, V, generator=g)
        tree = build(q.expand(B, V), lambda f: q.expand(B, 4, V), shape, noise.probe)
        out = verify(tree, p.expand(B, 7, V), noise.coin, verifier=VERIFIERS[verifier], walk=walk)
        for place in (0, 1):
            found[place] += torch.bincount(out.tokens[out.length > place, place], minlength=V)
    for counts in found:
        expected = counts.sum() * p.double().softmax(-1)
        big = expected >= 20
        counts, expected = (torch.cat([part[big], part[~big].sum()[None]]) for part in (counts, expected))
        chi = ((counts - expected) ** 2 / expected).sum()
        assert abs(chi - len(counts)) < 5 * math.sqrt(2 * len(counts)), (len(counts), chi)
