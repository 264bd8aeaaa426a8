"""Where a greedy answer and transformers' greedy search part: ties by rounding, and planted faults, told apart."""

import dataclasses

import pytest
import torch

from rheocheck.core import Shape
from rheocheck.core.errors import InputError
from rheocheck.generation import Request, against_greedy, generate
from rheocheck.generation.cache import CachedModel
from rheocheck.generation.greedy import GreedyDifference
from rheocheck.production import VERIFIERS
from rheocheck.production.decide import Decision
from tests.generation.llamas import one_thread, relatives  # noqa: F401

SHAPE = Shape(leads=1, branching=3, depth=3, nodes=9)
REQUESTS = tuple(
    Request(prompt=prompt, temperature=0.0, max_new_tokens=24)
    for prompt in ((1, 2, 3), (4,), (1, 2, 3, 4, 5, 0, 7), (6, 6))
)


def twins(dtype, apart=0.0):
    """Models in which token 3 has the output row of token 4, which greedy search likes, up to `apart`."""
    target, drafter = relatives(8, dtype)
    with torch.no_grad():
        for model in (target, drafter):
            model.lm_head.weight[3] = model.lm_head.weight[4] * (1 + apart)
    return target, drafter


def nudged(read, size):
    """Token 4 a little higher than the pass says: rounding, as another order of adding up may give it."""

    def nudge(self, *arguments):
        logits = read(self, *arguments)
        logits[..., 4] += size * logits[..., 4].abs().amax()
        return logits

    return nudge


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_in_float64_there_is_no_difference(verifier):
    models = relatives(8)
    found = against_greedy(*models, REQUESTS, shape=SHAPE, verifier=verifier)
    assert found.differences == () and not found.structural
    assert found.generated.tokens == generate(*models, REQUESTS, shape=SHAPE, verifier=verifier).tokens


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_near_tie_is_rounding(dtype, monkeypatch):
    monkeypatch.setattr(CachedModel, "read", nudged(CachedModel.read, torch.finfo(dtype).eps))
    found = against_greedy(*twins(dtype), REQUESTS, shape=SHAPE)
    assert found.differences and not found.structural
    first = found.differences[0]
    assert (first.ours, first.theirs, first.verdict) == (4, 3, "near-tie")
    assert 0 <= first.margin <= 2 * max(first.rounding, first.usual) and first.rounding > 0
    greedy = twins(dtype)[0].generate(
        torch.tensor([REQUESTS[first.request].prompt]), do_sample=False, max_new_tokens=24, pad_token_id=0
    )[0, len(REQUESTS[first.request].prompt) :]
    answer = found.generated.tokens[first.request]
    assert list(answer[: first.position]) == greedy[: first.position].tolist()
    assert (answer[first.position], greedy[first.position]) == (4, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("apart", [0.0, 1e-7, 1e-3])
def test_whatever_parts_by_itself_is_rounding(dtype, apart):
    assert not against_greedy(*twins(dtype, apart), REQUESTS, shape=SHAPE).structural


def test_impossible_tokens_are_alike(monkeypatch):
    """-inf in both passes is no rounding."""
    monkeypatch.setattr(CachedModel, "read", nudged(CachedModel.read, torch.finfo(torch.float32).eps))
    target, drafter = twins(torch.float32)
    target.lm_head.register_forward_hook(lambda *parts: parts[-1].index_fill(-1, torch.tensor([0]), -torch.inf))
    found = against_greedy(target, drafter, REQUESTS, shape=SHAPE)
    assert found.differences and not found.structural


def wrong_positions(read):
    return lambda self, tokens, place, among, *more: read(self, tokens, place * 0, among, *more)


def unmasked(read):
    """Nodes see their siblings."""
    return lambda self, tokens, place, among, *more: read(
        self, tokens, place, among | among.new_ones(among.shape).tril(), *more
    )


def stale(keep):
    """One column of the path is forgotten."""
    return lambda self, nodes, count: keep(self, nodes, count - (count > 1).long())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("method", "fault"), [("read", wrong_positions), ("read", unmasked), ("keep", stale)])
def test_a_wrong_pass_is_structural(method, fault, dtype, monkeypatch):
    monkeypatch.setattr(CachedModel, method, fault(getattr(CachedModel, method)))
    found = against_greedy(*relatives(8, dtype), REQUESTS, shape=SHAPE)
    assert found.structural
    worst = max(found.differences, key=lambda difference: difference.rounding)
    assert worst.verdict == "structural" and worst.rounding > 10 * worst.usual


def test_a_verifier_that_takes_no_largest_logit_is_structural():
    def eager(look):
        """Always the first kept child."""
        K = look.kept.shape[-1]
        place = torch.where(look.kept, torch.arange(K), K).amin(-1)
        return Decision(place, None, look.coin[..., -1])

    found = against_greedy(*relatives(8), REQUESTS, shape=SHAPE, verifier=eager)
    assert found.structural
    first = found.differences[0]
    assert first.margin > 100 * first.usual > 100 * first.rounding  # the pass is right, the choice is not


def test_a_text_that_ends_elsewhere_is_structural(monkeypatch):
    cut = Request.cut
    monkeypatch.setattr(Request, "cut", lambda self, block, before, eos: cut(self, block, before, frozenset()))
    models = relatives(8)
    whole = generate(*models, REQUESTS[:1]).tokens[0]
    found = against_greedy(*models, [dataclasses.replace(REQUESTS[0], eos=(whole[5],))])
    assert found.differences == (
        GreedyDifference(0, whole.index(whole[5]) + 1, whole[whole.index(whole[5]) + 1], None),
    )
    assert found.structural


@pytest.mark.parametrize(
    ("margin", "rounding", "usual", "verdict"),
    [
        (2.0, 1.0, 0.5, "near-tie"),
        (2.0, 1.0, 1.0, "near-tie"),
        (2.1, 1.0, 1.0, "structural"),
        (0.0, 4.0, 1.0, "near-tie"),
        (0.0, 4.1, 1.0, "structural"),
        (float("nan"), 1.0, 1.0, "structural"),
        (0.0, float("nan"), 1.0, "structural"),
        (None, None, None, "structural"),
    ],
)
def test_the_bounds_of_a_near_tie(margin, rounding, usual, verdict):
    assert GreedyDifference(0, 0, 1, 2, margin, rounding, usual).verdict == verdict


def test_requests_must_be_greedy():
    with pytest.raises(InputError, match="temperature must be 0 to compare with greedy search, got 0.5; ask for 0"):
        against_greedy(*relatives(8), [Request(prompt=(1,), temperature=0.5)])
