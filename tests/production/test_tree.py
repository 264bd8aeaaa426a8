"""The kept tree: parents, positions, mask, against a slow twin and against a sequential EAGLE-2."""

import pytest
import torch

from rheocheck.core import Shape
from rheocheck.production import BUILDERS, build, draw_noise
from tests.benchmarks import eagle_twin
from tests.production.toy_batch import blind_drafter, cycle, seeing_drafter

SHAPES = [
    Shape(leads=1, branching=4, depth=3, nodes=8),
    Shape(leads=1, branching=10, depth=8, nodes=59),
    Shape(leads=0, branching=6, depth=5, nodes=100, frontier=9),
    Shape(leads=2, branching=10, depth=10, nodes=500),
    Shape(leads=1, branching=2, depth=2, nodes=30),
    Shape(leads=1, branching=1, depth=1, nodes=1),
    Shape(leads=1, branching=3, depth=4, nodes=0),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_parents_positions_and_mask_say_the_same(shape):
    """More than 63 nodes, more than there are, one, none."""
    tree, _ = cycle(shape, 3, 40)
    N = shape.nodes
    for b in range(3):
        parent, position, valid = (part[b].tolist() for part in (tree.parent, tree.position, tree.valid))
        assert parent[0] == position[0] == 0 and valid[0]
        for n in range(1, N + 1):
            ancestors, at = {n}, n
            while at:
                at = parent[at]
                ancestors.add(at)
            assert set(tree.mask[b, n].nonzero().flatten().tolist()) == ancestors | {0}
            if valid[n]:
                assert parent[n] < n and position[n] == position[parent[n]] + 1
                assert tree.child[b, parent[n]].tolist().count(n) == 1
            else:
                assert (parent[n], position[n], tree.token[b, n]) == (0, 0, 0) and not tree.child[b, n].any()
        assert valid == sorted(valid, reverse=True)
        held = [n for n in tree.child[b].flatten().tolist() if n]
        assert sorted(held) == [n for n in range(1, N + 1) if valid[n]]
        for n in range(N + 1):  # siblings carry different tokens
            children = [c for c in tree.child[b, n].tolist() if c]
            assert len({int(tree.token[b, c]) for c in children}) == len(children)


def test_plain_trees_are_those_of_a_sequential_eagle():
    """V = 100, so nothing is truncated: tokens, mask and positions, one tree at a time."""
    shape = Shape(branching=10, depth=8, nodes=59)
    for seed in range(5):
        root, drafter = blind_drafter(shape, 1, 100, seed=seed)
        probe = draw_noise(shape, 1, 100).probe
        tree = build(root, drafter, shape, probe, builder=BUILDERS["top_k"])
        frontier = lambda layer, tokens, parents: drafter(_Layer(layer))[0]  # noqa: E731, B023
        twin = eagle_twin.build(root, frontier, 10, 8, 59)
        assert torch.equal(tree.token[0, 1:], twin.tokens[1:])
        assert torch.equal(tree.mask[0], twin.mask[0, 0].bool())
        assert torch.equal(tree.position[0], twin.positions)


class _Layer:
    def __init__(self, layer):
        self.layer = layer


def test_a_row_does_not_depend_on_its_batch():
    shape = SHAPES[1]
    generators = lambda: [torch.Generator().manual_seed(seed) for seed in (5, 6, 7)]  # noqa: E731
    root, drafter = seeing_drafter(shape, 3, 300)
    together = build(root, drafter, shape, draw_noise(shape, 3, 300, generator=generators()).probe)
    for b in range(3):
        alone = build(root[:1], drafter, shape, draw_noise(shape, 1, 300, generator=generators()[b : b + 1]).probe)
        assert torch.equal(alone.token[0], together.token[b]) and torch.equal(alone.mask[0], together.mask[b])


def test_a_drafter_vocabulary_is_mapped():
    """d2t: tokens, tails and what the drafter is asked about are target ids."""
    shape = Shape(leads=1, branching=3, depth=3, nodes=9)
    d2t = torch.randperm(1000, generator=torch.Generator().manual_seed(0))[:200]
    root, drafter = seeing_drafter(shape, 2, 200)
    back = torch.full((1000,), -1)
    back[d2t] = torch.arange(200)
    probe = draw_noise(shape, 2, 200).probe
    plain = build(root, drafter, shape, probe)
    mapped = build(root, lambda f: drafter(_Asked(back[f.token])), shape, probe, d2t=d2t)
    assert torch.equal(mapped.token[:, 1:], d2t[plain.token[:, 1:]])
    assert torch.equal(mapped.tail, d2t[plain.tail])


class _Asked:
    def __init__(self, token):
        assert (token >= 0).all()
        self.token = token
