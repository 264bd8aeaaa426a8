"""A piece against `generate` on the same requests, and the watched mass against what it predicts."""

import dataclasses

import pytest
import torch

from rheocheck.bench.cells import plain, probed
from rheocheck.bench.coverage import coverage
from rheocheck.bench.measuring import measure
from rheocheck.bench.pieces import Piece, pieces
from rheocheck.bench.settings import QUICK
from rheocheck.bench.trees import _states, agreements, paths_of
from rheocheck.generation import Request, generate
from tests.generation.llamas import one_thread, relatives  # noqa: F401

V = 8
LONG = dataclasses.replace(QUICK.target, window=256)
SETTINGS = dataclasses.replace(
    QUICK, target=LONG, drafter=LONG, branching=3, depth=3, nodes=9, new_tokens=24, prompts=12, rows=12
)
PROMPTS = tuple((i % V, 3, (2 * i) % V) for i in range(12))


@pytest.fixture(scope="module")
def models():
    return relatives(V, torch.float32, layers=1)


@pytest.mark.parametrize("cell", [plain(1.0), probed(0.7, 1, "recursive"), probed(1.3, 0, "rheo")])
def test_a_piece_is_what_generate_does(models, cell):
    found = measure(Piece(cell, 2, 5), models, PROMPTS, SETTINGS)
    requests = [
        Request(prompt=PROMPTS[n], max_new_tokens=24, temperature=cell.temperature, seed=SETTINGS.seed + n, eos=())
        for n in range(2, 7)
    ]
    shape = SETTINGS.shape(cell.leads)
    theirs = generate(*models, requests, shape=shape, builder=cell.builder, verifier=cell.verifier).statistics
    assert [row.number for row in found.rows] == [2, 3, 4, 5, 6]
    for row, tally in zip(found.rows, theirs.requests.values(), strict=True):
        assert list(row.blocks) == tally.blocks and sum(row.blocks[:-1]) < 24 <= sum(row.blocks)
        assert sum(row.descended) == sum(row.blocks) - len(row.blocks)  # an accepted draft is a level gone down
        assert row.stood[0] == len(row.blocks)
        assert all(stood <= above for stood, above in zip(row.stood[1:], row.descended, strict=False))
        assert all(
            (mass > 0) == (stood > 0) and mass <= stood + 1e-4 for mass, stood in zip(row.mass, row.stood, strict=True)
        )
        assert (row.expanded, row.survived, row.accepted) == (tally.expanded, tally.survived, tally.accepted)
    assert (sum(row.expanded for row in found.rows) > 0) == (cell.builder == "rheo")
    assert found.seconds > 0 and all(seconds >= 0 for seconds in found.parts.values())


def test_the_mass_predicts_how_often_one_hot_claims_are_accepted(models):
    """Descents minus mass is a martingale. H0: it has mean 0; alpha 1e-4 (z = 3.9); power: the mass of RheoSampling,
    whose probe is accepted more often than p says, is far off."""
    settings = dataclasses.replace(SETTINGS, new_tokens=120)

    def z(cell):
        rows = measure(Piece(cell, 0, 12), models, PROMPTS, settings).rows
        down, mass, stood = (sum(sum(getattr(row, n)) for row in rows) for n in ("descended", "mass", "stood"))
        return (down - mass) / (0.25 * stood) ** 0.5  # a descent has variance 1/4 at most

    assert abs(z(plain(1.0))) < 3.9
    assert z(probed(1.0)) > 6


def test_pieces_cover_the_prompts_and_interleave():
    settings = dataclasses.replace(QUICK, prompts=40, rows=16)
    found = list(pieces(settings))
    core = [piece for piece in found if piece.cell == plain(1.0)]
    assert [(piece.first, piece.rows) for piece in core] == [(0, 16), (16, 16), (32, 8)]
    assert len(set(found)) == len(found)
    firsts = [piece.first for piece in found]
    assert firsts == sorted(firsts)


def test_cold_trees_with_no_lead_are_plain(models):
    found = {e.leads: e for e in agreements(models, PROMPTS, 0.0, (0, 1), SETTINGS)}
    assert found[0].equal == found[0].contexts > 50
    warm = {e.leads: e for e in agreements(models, PROMPTS, 1.0, (0,), SETTINGS)}
    assert 0 < warm[0].equal < 0.9 * warm[0].contexts


def test_trees_are_compared_where_cycles_began(models):
    """A prompt first, then longer and longer states of it, each by a block of at most depth + 1 tokens."""
    states = _states(models, PROMPTS[:2], 1.0, SETTINGS)
    for prompt in PROMPTS[:2]:
        mine = [state for state in states if state[:3] == prompt]
        assert mine[0] == prompt and len(mine) > 5
        for state, longer in zip(mine, mine[1:], strict=False):
            assert longer[: len(state)] == state and 0 < len(longer) - len(state) <= SETTINGS.depth + 1


def test_trees_at_a_context_do_not_depend_on_the_contexts_beside_it(models):
    contexts = [(1, 2, 3), (4,), (5, 6, 7, 0, 1)]
    how = ("top_k", 0, 1.0, SETTINGS)
    together = paths_of(models[1], contexts, *how, seed=1)
    assert together == [paths_of(models[1], [context], *how, seed=1)[0] for context in contexts]
    assert all(len(tree) == SETTINGS.nodes + 1 and () in tree for tree in together)


def test_coverage_by_hand(models, monkeypatch):
    monkeypatch.setattr("rheocheck.bench.coverage.TOP", 2)
    windows = torch.tensor([[1, 2, 3, 4], [0, 7, 7, 1]])
    (found,) = coverage(models, windows, [0.5], batch=1)
    p, q = ((model(input_ids=windows).logits.double() / 0.5).softmax(-1).flatten(0, 1) for model in models)
    sums = [0.0, 0.0, 0.0]
    for p_row, q_row in zip(p.tolist(), q.tolist(), strict=True):
        best = sorted(range(V), key=lambda x: -q_row[x])[:2]
        sums[0] += sum(q_row[x] for x in best)
        sums[1] += sum(p_row[x] for x in best)
        sums[2] += sum(map(min, p_row, q_row))
    assert found.positions == 8
    assert [found.drafter, found.target, found.overlap] == pytest.approx([s / 8 for s in sums], abs=1e-5)
