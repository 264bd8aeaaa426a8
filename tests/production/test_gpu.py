"""On a GPU: the same trees and tokens as on the CPU, a captured cycle, one law. `pytest -m gpu tests/production`."""

import pytest
import torch

from rheocheck.core import Shape
from rheocheck.production import BUILDERS, VERIFIERS, CycleNoise, build, draw_noise, verify
from rheocheck.production.subject import PairTensors, toy_cycle
from tests.production.toy_batch import blind_drafter, rows
from tests.shared_noise import case

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
SHAPE = Shape(leads=1, branching=10, depth=8, nodes=59)


@pytest.mark.parametrize("walk", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_cpu_and_gpu_agree(seed, walk):
    one = case(seed)
    probe, coin = (torch.from_numpy(part) for part in one.noise(2000))
    runs = []
    for device in ("cpu", "cuda"):
        tables = PairTensors.of(one.pair, torch.float64, laws=True).to(device)
        noise = CycleNoise(probe.to(device), coin.to(device))
        start = torch.zeros(2000, dtype=torch.long, device=device)
        names = BUILDERS[one.builder], VERIFIERS[one.verifier]
        runs.append(toy_cycle(tables, start, one.shape, noise, *names, walk=walk))
    for name in ("token", "mask", "child"):
        assert torch.equal(getattr(runs[0][0], name), getattr(runs[1][0], name).cpu())
    assert torch.equal(runs[0][1].tokens, runs[1][1].tokens.cpu())


@pytest.mark.parametrize("walk", [False, True])
def test_a_cycle_is_captured_and_replayed_with_new_noise(walk):
    V = 32000
    root, drafter = blind_drafter(SHAPE, 2, V)
    root, table = root.cuda(), {}
    target = rows(2, 60, V, seed=5).cuda()
    noise = draw_noise(SHAPE, 2, V, device="cuda")

    def answer(frontier):
        if frontier.layer not in table:
            table[frontier.layer] = drafter(frontier).cuda()
        return table[frontier.layer]

    def cycle():
        tree = build(root, answer, SHAPE, noise.probe)
        return verify(tree, target, noise.coin, walk=walk).tokens

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # constants are made and kernels loaded before the capture
        for _ in range(3):
            cycle()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = cycle()
    for seed in range(5):
        fresh = draw_noise(SHAPE, 2, V, generator=torch.Generator("cuda").manual_seed(seed), device="cuda")
        noise.probe.copy_(fresh.probe)
        noise.coin.copy_(fresh.coin)
        graph.replay()
        assert torch.equal(captured, cycle())


@pytest.mark.distribution
def test_the_first_token_has_the_targets_law():
    n, V = 200_000, 60
    shape = Shape(leads=1, branching=4, depth=2, nodes=6)
    q, p = rows(2, 1, V, seed=9, scale=1.0).cuda()
    noise = draw_noise(shape, n, V, generator=torch.Generator("cuda").manual_seed(1), device="cuda")
    tree = build(q.expand(n, V), lambda f: q.expand(n, 4, V), shape, noise.probe)
    out = verify(tree, p.expand(n, 7, V), noise.coin)
    found = torch.bincount(out.tokens[:, 0], minlength=V).double()
    expected = n * p[0].double().softmax(-1)
    chi = ((found - expected) ** 2 / expected).sum().item()
    assert abs(chi - V) < 5 * (2 * V) ** 0.5
