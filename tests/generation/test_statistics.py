"""Tallies by request, and by level, against a walk counted by hand."""

import torch

from rheocheck.core import Shape
from rheocheck.generation import Request, Statistics, generate
from rheocheck.production import build, draw_noise, verify
from tests.generation.llamas import one_thread, relatives  # noqa: F401

SHAPE = Shape(leads=1, branching=3, depth=3, nodes=9)


def cycle(seed):
    """One tree a row, and what came out of it."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(8, 8, generator=generator)
    noise = draw_noise(SHAPE, 4, 8, generator=generator)
    tree = build(logits[:4], lambda frontier: logits[frontier.token], SHAPE, noise.probe)
    return tree, verify(tree, logits[tree.token], noise.coin)


def test_levels_by_hand():
    found = Statistics()
    stood, descended = {}, {}
    for seed in range(30):
        tree, out = cycle(seed)
        found.add(tree, out, out.length.tolist(), (5, 6, 7, 8))
        for row in range(4):
            for level in range(int(out.length[row])):
                if bool((tree.child[row, out.nodes[row, level]] > 0).any()):
                    stood[level] = stood.get(level, 0) + 1
                    descended[level] = descended.get(level, 0) + (level + 1 < int(out.length[row]))
    assert sorted(found.requests) == [5, 6, 7, 8]
    assert found.level_acceptance == {level: descended[level] / stood[level] for level in sorted(stood)}
    assert 0 < found.level_acceptance[0] < 1 and len(stood) > 1
    assert sum(found.requests[6].stood.values()) == found.requests[6].expanded
    assert found.blocks.total() == 120


def test_each_request_has_its_own():
    models = relatives(8, torch.float32, layers=1)
    requests = [Request(prompt=(1, n), seed=n, max_new_tokens=9 + 8 * n) for n in range(3)]
    together = generate(*models, requests, shape=SHAPE).statistics.requests
    for number, request in enumerate(requests):
        alone = generate(*models, [request], shape=SHAPE).statistics.requests[0]
        assert together[number] == alone and sum(alone.blocks) >= request.max_new_tokens
