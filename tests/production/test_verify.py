"""Verification: all at once and the walk agree, rows keep to their temperature, greedy rows are greedy."""

import pytest
import torch

from rheocheck.core import Shape
from rheocheck.production import BUILDERS, VERIFIERS, build, draw_noise, verify
from rheocheck.production.target import PART, Logits
from tests.production.toy_batch import cycle, markov_target, rows, seeing_drafter, target_table

SHAPES = [
    Shape(leads=1, branching=10, depth=8, nodes=59),
    Shape(leads=0, branching=4, depth=4, nodes=20, frontier=6),
    Shape(leads=2, branching=10, depth=10, nodes=200),
    Shape(leads=1, branching=3, depth=4, nodes=0),
]
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_at_once_and_the_walk_emit_the_same(shape, verifier, dtype):
    temperature = torch.tensor([0.0, 0.5, 1.0, 2.0]).repeat(16)
    for builder in BUILDERS.values():
        how = {"builder": builder, "verifier": VERIFIERS[verifier], "temperature": temperature, "dtype": dtype}
        _, out = cycle(shape, 64, 50, **how)
        for exit_early in (False, True):
            _, walked = cycle(shape, 64, 50, walk=True, early_exit=exit_early, **how)
            for name in ("tokens", "length", "nodes"):
                assert torch.equal(getattr(out, name), getattr(walked, name))


def test_what_is_emitted_is_a_path_and_one_more():
    tree, out = cycle(SHAPES[0], 64, 12)
    assert len(set(out.length.tolist())) > 2
    for b in range(64):
        accepted = int(out.length[b]) - 1
        path = out.nodes[b].tolist()
        assert path[0] == 0 and path[accepted + 1 :] == [0] * (8 - accepted)
        for depth in range(1, accepted + 1):
            assert int(tree.parent[b, path[depth]]) == path[depth - 1]
            assert int(tree.token[b, path[depth]]) == int(out.tokens[b, depth - 1])
        assert (out.tokens[b, : accepted + 1] >= 0).all() and (out.tokens[b, accepted + 1 :] == -1).all()


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_greedy_rows_say_what_greedy_decoding_says(verifier, dtype):
    """In one batch with sampled rows, ties of bfloat16 going to the first token."""
    V, shape = 40, SHAPES[0]
    temperature = torch.tensor([0.0, 1.0]).repeat(20)
    _, out = cycle(shape, 40, V, dtype=dtype, verifier=VERIFIERS[verifier], temperature=temperature)
    table = target_table(V, dtype=dtype)
    for b in range(0, 40, 2):
        at = 0
        for token in out.tokens[b, : out.length[b]].tolist():
            assert token == int(table[at].argmax())
            at = token


def test_a_greedy_row_is_drafted_with_the_best_tokens():
    """Plain top-K: the tail's best token stands in the probe's slot."""
    shape = Shape(leads=1, branching=4, depth=3, nodes=12)
    root, drafter = seeing_drafter(shape, 6, 60)
    tree = build(root, drafter, shape, draw_noise(shape, 6, 60).probe, temperature=torch.zeros(6))
    assert (tree.token == tree.token[:1]).all()
    children = tree.token.gather(1, tree.child[:, 0])
    best = root.topk(4).indices
    assert all(c in (0, int(t)) for row, top in zip(children, best, strict=True) for c, t in zip(row, top, strict=True))


def test_a_row_keeps_to_its_own_temperature():
    shape, V = SHAPES[0], 200
    temperature = torch.tensor([0.3, 1.0, 1.7])
    root, drafter = seeing_drafter(shape, 3, V)
    noise = draw_noise(shape, 3, V, generator=torch.Generator().manual_seed(0))
    tree = build(root, drafter, shape, noise.probe, temperature=temperature)
    out = verify(tree, markov_target(tree, V), noise.coin, temperature=temperature)
    for b in range(3):
        own = slice(b, b + 1)
        alone = build(root[own], drafter, shape, noise.probe[own], temperature=temperature[own])
        assert torch.equal(alone.token, tree.token[own])
        one = verify(alone, markov_target(alone, V), noise.coin[own], temperature=temperature[own])
        assert torch.equal(one.tokens, out.tokens[own])


def test_a_small_temperature_costs_no_digits():
    """Large logits over a small T: the maximum is subtracted first."""
    logits = torch.tensor([[[3000.0, 3000.001, 2999.0]]])
    p = Logits(logits, torch.tensor([0.001])).dense()
    exact = (logits.double() * 1000).softmax(-1)[0]
    torch.testing.assert_close(p.double(), exact, rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_logits_are_taken_in_float32(dtype):
    logits = rows(1, 1, 5000, seed=0, dtype=dtype)
    p = Logits(logits).dense()
    assert p.dtype == torch.float32
    torch.testing.assert_close(p.double(), logits.double().softmax(-1)[0], rtol=1e-5, atol=1e-9)
    tokens = torch.arange(0, 5000, 50).expand(1, 1, -1)
    torch.testing.assert_close(Logits(logits).at(tokens)[0], p[:, ::50])


def test_large_batches_are_taken_in_parts(monkeypatch):
    logits, tokens = rows(3, 20, 70, seed=0), torch.arange(5).expand(3, 20, 5)
    whole = Logits(logits, torch.tensor([0.0, 1.0, 2.0])).at(tokens)
    monkeypatch.setitem(PART, "cpu", 1000)
    assert torch.equal(Logits(logits, torch.tensor([0.0, 1.0, 2.0])).at(tokens), whole)
