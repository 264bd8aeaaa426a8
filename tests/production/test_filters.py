"""Temperature, top-k and top-p against the law written from the definitions, and against transformers' own classes."""

import pytest
import torch

from rheocheck.adapters.sampling_parameters import SamplingParameters, next_token_law
from rheocheck.core import Shape
from rheocheck.production import build, draw_noise, verify
from rheocheck.production.filters import filtered
from rheocheck.production.target import Filtered, Logits, Parameters

ASKED = [
    (1.0, 0, 1.0), (0.7, 3, 1.0), (1.6, 0, 0.6), (0.3, 50, 0.95), (2.0, 4, 0.5), (1.0, 1, 0.01), (1e-30, 3, 0.9),
    (1.0, 0, 1e-12), (0.0, 2, 0.3),
]  # fmt: skip


def columns():
    temperature, top_k, top_p = zip(*ASKED, strict=True)
    return torch.tensor(temperature, dtype=torch.float64), torch.tensor(top_k), torch.tensor(top_p, dtype=torch.float64)


@pytest.mark.parametrize("ties", [False, True])
def test_rows_have_the_law_of_the_definitions(ties):
    logits = torch.randn(len(ASKED), 5, 12, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    logits = logits.round() + torch.arange(12) * 0.01 * (not ties) if ties else logits
    found = filtered(logits, *columns()).softmax(-1)
    for row, (T, k, top_p) in enumerate(ASKED):
        for node in range(5):
            if T > 0:
                law, boundary = next_token_law(logits[row, node].tolist(), (), SamplingParameters(T, k, top_p))
                if not boundary:
                    torch.testing.assert_close(found[row, node], torch.tensor(law), rtol=0, atol=1e-14)
    assert torch.equal(found[-1], logits[-1].softmax(-1))  # greedy: left as it is


@pytest.mark.parametrize("kind", ["plain", "ties", "impossible"])
@pytest.mark.parametrize("V", [2, 5, 300])
def test_float32_rows_are_those_of_transformers(V, kind):
    from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    generator = torch.Generator().manual_seed(4)
    logits = torch.randn(len(ASKED), 40, V, generator=generator) * 3
    if kind == "ties":
        logits = logits.round()
    if kind == "impossible":
        logits[..., 1:].masked_fill_(torch.rand(len(ASKED), 40, V - 1, generator=generator) < 0.4, -torch.inf)
    found = filtered(logits, *columns())
    for row, (T, k, top_p) in enumerate(ASKED[:-1]):
        scores = TemperatureLogitsWarper(T)(None, logits[row]) if T != 1 else logits[row]
        scores = TopKLogitsWarper(k)(None, scores) if k else scores
        scores = TopPLogitsWarper(top_p)(None, scores) if top_p < 1 else scores
        assert torch.equal(found[row].isinf(), scores.isinf())
        torch.testing.assert_close(found[row], scores)


@pytest.mark.parametrize("walk", [False, True])
def test_what_is_filtered_late_is_filtered_alike(walk):
    shape, V, B = Shape(leads=1, branching=3, depth=2, nodes=6), 12, len(ASKED)
    generator = torch.Generator().manual_seed(5)
    temperature, top_k, top_p = columns()
    root, target = torch.randn(B, V, generator=generator), torch.randn(B, 7, V, generator=generator)
    noise = draw_noise(shape, B, V, generator=generator)
    tree = build(root, lambda f: root[:, None].roll(f.layer, -1).expand(-1, 3, -1), shape, noise.probe)
    late = verify(tree, Filtered(target, Parameters(temperature, top_k, top_p)), noise.coin, walk=walk)
    at_once = Logits(filtered(target, temperature, top_k, top_p), (temperature > 0).float())
    assert torch.equal(late.tokens, verify(tree, at_once, noise.coin, walk=walk).tokens)
