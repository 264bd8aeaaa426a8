"""The best tokens of a layer: the same set as a plain topk, in order, in every dtype, cut anywhere."""

import pytest
import torch

from rheocheck.production.tops import block_width, by_blocks, given_law, top_law, working
from tests.production.toy_batch import rows


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("V", [129, 1023, 1024, 5003, 32000, 50257])
def test_blocks_find_what_topk_finds(V, dtype):
    logits = rows(2, 3, V, seed=V, dtype=dtype)
    logits[0, 0, : V // 2] = -torch.inf
    tokens, q = top_law(logits, None, 128, 11)
    best = logits.topk(128).values
    assert torch.equal(logits.gather(-1, tokens), best)
    assert (tokens.sort(-1).values.diff(dim=-1) > 0).all()  # no token twice
    assert q.dtype == working(dtype)
    torch.testing.assert_close(q, best.to(q.dtype).softmax(-1))


def test_large_vocabularies_go_through_blocks():
    assert [block_width(V, 128) > 1 for V in (129, 1000, 1024, 32000, 128256)] == [False, False, True, True, True]
    d, tokens = by_blocks(rows(1, 1, 128256, seed=0), 128)
    assert d.shape == tokens.shape == (1, 1, 128) and (d.diff(dim=-1) >= 0).all()


def test_equal_logits_stand_by_token_when_nothing_is_cut():
    logits = torch.zeros(1, 1, 40)
    logits[0, 0, 7] = 1.0
    tokens, _ = top_law(logits, None, 128, 5)
    assert tokens[0, 0].tolist() == [7, *range(7), *range(8, 40)]


def test_equal_logits_at_the_cut_enter_once_and_stay():
    """bfloat16 ties everywhere: whichever tokens enter, they are distinct and their law sums to 1."""
    logits = torch.zeros(1, 2, 4000, dtype=torch.bfloat16)
    logits[..., :100] = 1.0
    tokens, q = top_law(logits, None, 128, 5)
    assert all(len(set(row)) == 128 for row in tokens[0].tolist())
    assert set(range(100)) <= set(tokens[0, 0].tolist())
    torch.testing.assert_close(q.sum(-1), torch.ones(1, 2))


def test_a_temperature_scales_before_the_softmax():
    logits = rows(2, 1, 500, seed=3)
    _, q = top_law(logits, torch.tensor([[[1.0]], [[2.0]]]), 128, 5)
    torch.testing.assert_close(q[1, 0], (2 * logits[1, 0].topk(128).values).softmax(-1))


def test_short_laws_are_padded_by_tokens_that_nobody_proposes():
    tokens, q = given_law(torch.tensor([[[0.25, 0.75]]]), None, 128, 4)
    assert tokens[0, 0, :2].tolist() == [1, 0] and q[0, 0].tolist() == [0.75, 0.25, 0, 0]
