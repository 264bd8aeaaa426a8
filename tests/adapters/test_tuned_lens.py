"""A drafter of the target's own first layers: what it shares, what it computes, and what least squares finds."""

import pytest
import torch

from rheocheck.adapters.tiny_models import TARGET_SEED, tiny_llama
from rheocheck.adapters.tuned_lens import Lens, drafter, fit, sampled_texts
from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.generation import Request, generate

TEXTS = torch.randint(8, (40, 12), generator=torch.Generator().manual_seed(3)).tolist()
TEXT = torch.tensor([[1, 5, 2, 2, 7, 0]])


@pytest.fixture
def target():
    return tiny_llama(8, TARGET_SEED, layers=3).double()


@torch.inference_mode()
def test_plain_early_exit(target):
    model = drafter(target, 2)
    states = target.model(TEXT, output_hidden_states=True).hidden_states
    assert torch.equal(model(TEXT).logits, target.lm_head(target.model.norm(states[2])))
    assert {id(weight) for weight in model.parameters()} < {id(weight) for weight in target.parameters()}
    assert model.config.num_hidden_layers == 2 and target.config.num_hidden_layers == 3 and not model.training


@torch.inference_mode()
def test_the_lens_is_applied(target):
    lens = Lens(1, torch.linspace(-1, 1, 256).view(16, 16).sin().double(), torch.linspace(0, 1, 16).double())
    model = drafter(target, 1, lens)
    assert drafter(tiny_llama(8, TARGET_SEED, layers=3), 1, lens)(TEXT).logits.dtype == torch.float32
    normed = target.model.norm(target.model(TEXT, output_hidden_states=True).hidden_states[1])
    wanted = target.lm_head(normed @ lens.weight.T + lens.bias)
    torch.testing.assert_close(model(TEXT).logits, wanted, rtol=1e-12, atol=1e-12)
    own = {id(weight) for weight in model.parameters()} - {id(weight) for weight in target.parameters()}
    assert len(own) == 2


@torch.inference_mode()
def test_layers_that_do_nothing_have_the_identity_as_their_lens(target):
    """And not if one of them does something: then the drafter is another model."""
    active = fit(target, TEXTS, 1, ridge=1e-9)
    for layer in target.model.layers[1:]:
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    lens = fit(target, TEXTS, 1, ridge=1e-9)
    torch.testing.assert_close(lens.weight, torch.eye(16).double(), rtol=0, atol=1e-4)
    torch.testing.assert_close(lens.bias, torch.zeros(16).double(), rtol=0, atol=1e-4)
    torch.testing.assert_close(drafter(target, 1, lens)(TEXT).logits, target(TEXT).logits, rtol=0, atol=1e-3)
    assert (active.weight - torch.eye(16).double()).abs().max() > 0.1


@torch.inference_mode()
@pytest.mark.parametrize("ridge", [1e-6, 0.1])
def test_least_squares(target, ridge):
    """The gradient of the penalised sum of squares is zero: residuals times inputs = penalty times the weight."""
    lens = fit(target, TEXTS, 1, ridge=ridge)
    found = [target.model(torch.tensor([text]), output_hidden_states=True) for text in TEXTS]
    x = torch.cat([target.model.norm(f.hidden_states[1])[0] for f in found])
    y = torch.cat([f.last_hidden_state[0] for f in found])
    residual = y - x @ lens.weight.T - lens.bias
    x = x - x.mean(0)
    penalty = ridge * (x * x).sum(0).mean()
    torch.testing.assert_close(residual.T @ x, penalty * lens.weight, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(residual.mean(0), torch.zeros(16).double(), rtol=0, atol=1e-12)


def test_it_drafts_for_its_target(target):
    """Greedy texts are the target's, and the fitted lens drafts better than the bare early exit."""
    ids = torch.tensor([[1, 2, 3]])
    greedy = target.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=30)
    for lens in (None, fit(target, TEXTS, 1)):
        found = generate(
            target, drafter(target, 1, lens), [Request(prompt=(1, 2, 3), max_new_tokens=30, temperature=0)],
            shape=Shape(branching=2, nodes=4),
        )  # fmt: skip
        assert list(found.tokens[0]) == greedy[0, 3:].tolist()
    with torch.inference_mode():
        rows = torch.tensor(TEXTS)
        p, bare, q = (m(rows).logits.softmax(-1) for m in (target, drafter(target, 1), drafter(target, 1, lens)))
    assert torch.minimum(p, q).sum(-1).mean() > torch.minimum(p, bare).sum(-1).mean()


@pytest.mark.parametrize("ends", [7, [6, 7]])
def test_sampled_texts_end_with_their_end(target, ends):
    target.generation_config.eos_token_id, target.generation_config.pad_token_id = ends, 0
    state = torch.get_rng_state()
    texts = sampled_texts(target, [[7, 1]] * 20, 9, seed=4)
    assert torch.equal(torch.get_rng_state(), state)
    assert texts == sampled_texts(target, [[7, 1]] * 20, 9, seed=4) != sampled_texts(target, [[7, 1]] * 20, 9, seed=5)
    stop = {7} | set(ends if isinstance(ends, list) else ())
    assert all(text[:2] == [7, 1] and not stop & set(text[2:-1]) for text in texts)
    assert all(len(text) == 11 or text[-1] in stop for text in texts) and len({len(text) for text in texts}) > 1


def test_bad_layers(target):
    for call in (lambda: drafter(target, 3), lambda: fit(target, TEXTS, 3)):
        with pytest.raises(InputError, match="layers must be an integer in 1..2, got 3"):
            call()
    with pytest.raises(InputError, match="the lens must be of 2 layers, got 1; fit it there"):
        drafter(target, 2, fit(target, TEXTS, 1))
