"""Training lowers the loss, is the same again, and a drafter learns its target rather than the text."""

import dataclasses

import pytest
import torch

from rheocheck.bench.settings import Size
from rheocheck.bench.training import (
    distillation,
    first_layers,
    held_out_loss,
    new_model,
    text_loss,
    train,
    windows,
    written,
)
from tests.generation.llamas import one_thread  # noqa: F401

TINY = Size(layers=1, hidden=32, heads=2, steps=60, batch=8, window=16, rate=1e-2)
V = 24
TEXTS = [[(3 * i + j * j) % V for j in range(40)] for i in range(30)]


def trained(seed=0, **changes):
    size = dataclasses.replace(TINY, **changes)
    model = new_model(size, V, seed)
    return model, train(model, TEXTS, size, text_loss, seed)


@pytest.fixture(scope="module")
def target():
    return trained()


def test_the_loss_falls(target):
    model, losses = target
    assert len(losses) == TINY.steps and losses[0] > 3.0  # log 24 = 3.18
    assert held_out_loss(model, TEXTS, 16) < losses[0] - 1
    assert not model.training


def test_a_rate_of_zero_would_show():
    _, losses = trained(rate=0.0)
    assert abs(losses[-1] - losses[0]) < 0.3


def test_it_is_the_same_again_and_another_with_another_seed(target):
    again, losses = trained()
    assert losses == target[1]
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), target[0].parameters(), strict=True))
    assert trained(seed=1)[1] != losses


def test_a_drafter_learns_the_target(target):
    """The target here is not the text: its embeddings are shuffled, so that only its own law can teach it."""
    odd = new_model(TINY, V, 0)
    odd.load_state_dict(target[0].state_dict())
    with torch.no_grad():
        odd.model.embed_tokens.weight.copy_(odd.model.embed_tokens.weight.roll(1, 0))
    odd.eval()
    loss = distillation(odd)
    drafter = new_model(TINY, V, 5)
    before = held_out_loss(drafter, TEXTS, 16, loss)
    train(drafter, TEXTS, TINY, loss, 5)
    after, least = held_out_loss(drafter, TEXTS, 16, loss), held_out_loss(odd, TEXTS, 16, loss)
    assert least < after < before - 0.3
    assert after < held_out_loss(target[0], TEXTS, 16, loss)  # who learned the text does worse


def test_a_drafter_begins_as_the_first_layers():
    deep = new_model(dataclasses.replace(TINY, layers=2), V, 3)
    first = first_layers(deep, TINY)
    assert torch.equal(first.model.layers[0].mlp.up_proj.weight, deep.model.layers[0].mlp.up_proj.weight)
    assert torch.equal(first.lm_head.weight, deep.model.embed_tokens.weight)
    with torch.no_grad():
        first.model.embed_tokens.weight.zero_()
    assert deep.model.embed_tokens.weight.abs().sum() > 0  # a copy: training it leaves the target alone


def test_the_target_writes_by_its_own_law(target):
    """H0: each token was drawn from p, so that sums of -log p - entropy over all of them have mean 0; |z| < 4."""
    model, _ = target
    texts = written(model, [[i % V, 3] for i in range(300)], 12, seed=2)
    assert [text[:2] for text in texts] == [[i % V, 3] for i in range(300)] and {len(text) for text in texts} == {12}
    assert texts == written(model, [[i % V, 3] for i in range(300)], 12, seed=2)
    ids = torch.tensor(texts)
    with torch.no_grad():
        log_p = model(input_ids=ids).logits[:, 1:-1].log_softmax(-1)

    def z(tokens):
        surprise = -log_p.gather(-1, tokens[..., None])[..., 0]
        centred = surprise + (log_p.exp() * log_p).sum(-1)
        variance = (log_p.exp() * log_p**2).sum(-1) - (log_p.exp() * log_p).sum(-1) ** 2
        return float(centred.sum() / variance.sum().sqrt())

    assert abs(z(ids[:, 2:])) < 4
    assert z(ids[:, 2:].flip(0)) > 8  # of another text


def test_windows_share_one_token_with_the_next():
    found = windows([[0, 1, 2], [3, 4, 5, 6, 7]], 3)
    assert found.tolist() == [[0, 1, 2, 3], [3, 4, 5, 6]]
