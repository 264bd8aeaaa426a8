"""Tiny Llamas for the tests of `generate`."""

import pytest
import torch

from rheocheck.adapters.tiny_models import TARGET_SEED, tiny_llama


def relatives(vocab_size, dtype=torch.float64, *, layers=2, apart=0.1):
    """A target, and a drafter whose weights are a little off: it is accepted often, and seldom to the end.

    With sdpa attention, since eager attention takes its softmax in float32, of float64 scores too.
    """
    target, drafter = (tiny_llama(vocab_size, TARGET_SEED, layers=layers) for _ in range(2))
    for model in (target, drafter):
        model.set_attn_implementation("sdpa")
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in drafter.parameters():
            weight += apart * torch.randn(weight.shape, generator=generator)
    return target.to(dtype), drafter.to(dtype)


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny tensors on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
