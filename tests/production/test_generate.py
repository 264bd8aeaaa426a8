"""`generate` on tiny Llamas in float64: greedy search token by token, rows of a batch, cuts inside a block, errors."""

import dataclasses

import pytest
import torch

from rheocheck.adapters.tiny_models import tiny_llama
from rheocheck.core import Shape
from rheocheck.core.errors import InputError
from rheocheck.production import BUILDERS, VERIFIERS, Request, generate
from tests.production.llamas import one_thread, relatives  # noqa: F401

SHAPES = [
    Shape(leads=1, branching=3, depth=3, nodes=9),
    Shape(leads=0, branching=2, depth=4, nodes=3),
    Shape(leads=2, branching=4, depth=2, nodes=20, frontier=2),
    Shape(leads=1, branching=3, depth=3, nodes=0),
]
REQUESTS = (
    Request(prompt=(1, 2, 3), seed=3, max_new_tokens=21),
    Request(prompt=(4,), seed=4, temperature=0.5, top_k=3, max_new_tokens=13),
    Request(prompt=(1, 2, 3, 4, 5, 0, 7), seed=3, temperature=1.3, top_p=0.8, max_new_tokens=17),
)


@pytest.fixture(scope="module")
def models():
    return relatives(8)


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("builder", ["top_k", "rheo"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_cold_text_is_greedy_search(models, shape, builder, verifier):
    requests = [Request(prompt=r.prompt, temperature=T, max_new_tokens=24) for r in REQUESTS for T in (0.0, 1e-9)]
    found = generate(*models, requests, shape=shape, builder=builder, verifier=verifier)
    for request, tokens in zip(requests, found.tokens, strict=True):
        ids = torch.tensor([request.prompt])
        with torch.inference_mode():
            expected = models[0].generate(
                ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=request.max_new_tokens
            )
        assert list(tokens) == expected[0, len(request.prompt) :].tolist()


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_is_the_same_alone(models, shape, builder, verifier):
    how = {"shape": shape, "builder": builder, "verifier": verifier}
    together = generate(*models, REQUESTS, **how).tokens
    assert [len(tokens) for tokens in together] == [21, 13, 17]
    assert together == tuple(generate(*models, [request], **how).tokens[0] for request in REQUESTS)
    other = dataclasses.replace(REQUESTS[0], seed=5)
    assert generate(*models, [other, *REQUESTS[1:]], **how).tokens[1:] == together[1:]


def test_seeds_tell_rows_apart(models):
    requests = [dataclasses.replace(REQUESTS[0], seed=seed) for seed in (1, 1, 2)]
    first, again, other = generate(*models, requests).tokens
    assert first == again != other


@pytest.mark.parametrize("maximum", range(1, 9))
def test_a_maximum_cuts_inside_a_block(models, maximum):
    whole = generate(*models, REQUESTS, shape=SHAPES[0]).tokens
    short = [dataclasses.replace(request, max_new_tokens=maximum) for request in REQUESTS]
    assert generate(*models, short, shape=SHAPES[0]).tokens == tuple(tokens[:maximum] for tokens in whole)


@pytest.mark.parametrize("eos", range(8))
def test_eos_cuts_inside_a_block(models, eos):
    whole = generate(*models, REQUESTS, shape=SHAPES[0]).tokens
    asked = [dataclasses.replace(request, eos=(eos,)) for request in REQUESTS]
    for cut, tokens in zip(generate(*models, asked, shape=SHAPES[0]).tokens, whole, strict=True):
        assert cut == tokens[: tokens.index(eos) + 1 if eos in tokens else None]


def test_eos_is_that_of_the_target_unless_given(models, monkeypatch):
    whole = generate(*models, REQUESTS[:1]).tokens[0]
    for own in (whole[3], [whole[3], 99]):
        monkeypatch.setattr(models[0].generation_config, "eos_token_id", own)
        assert generate(*models, REQUESTS[:1]).tokens[0] == whole[: whole.index(whole[3]) + 1]
    assert generate(*models, [dataclasses.replace(REQUESTS[0], eos=())]).tokens[0] == whole


def test_tokens_come_as_a_stream(models):
    parts = [[], [], []]
    found = generate(*models, REQUESTS, on_tokens=lambda number, tokens: parts[number].append(tokens))
    assert found.tokens == tuple(sum(blocks, ()) for blocks in parts)
    assert all(1 <= len(block) <= 4 for blocks in parts for block in blocks)
    assert found.statistics.blocks.total() == sum(map(len, parts))


def test_statistics(models):
    deep = Shape(leads=1, branching=3, depth=3, nodes=30)
    found = generate(models[0], models[0], REQUESTS, shape=deep).statistics
    assert found.mean_block > 1.5 and max(found.blocks) <= 4
    assert found.probe_survival == 1.0  # nothing is cut from a tree that fits
    assert 0 < found.probe_acceptance < 1
    assert sorted(found.to_dict()) == ["blocks", "mean_block", "probe_acceptance", "probe_survival", "seconds"]
    assert all(seconds > 0 for seconds in found.seconds.values())
    plain = generate(*models, REQUESTS, builder="top_k").statistics
    assert plain.probe_survival is None and plain.probe_acceptance is None
    assert set(generate(*models, REQUESTS, shape=SHAPES[-1]).statistics.blocks) == {1}


def test_the_last_position_can_be_used(models):
    limit = models[0].config.max_position_embeddings
    long = Request(prompt=(1,) * (limit - 6), max_new_tokens=6, temperature=0.0)
    assert len(generate(*models, [long], shape=SHAPES[0]).tokens[0]) == 6


def test_nothing_asked_is_nothing_answered(models):
    assert generate(*models, []).tokens == ()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"prompt": ()}, "prompt must have at least one token, got none"),
        ({"temperature": -0.5}, r"temperature must be 0 \(greedy\) or a number in 1e-30..1e30, got -0.5"),
        ({"temperature": float("nan")}, "temperature must be 0"),
        ({"top_k": -1}, "top_k must be an integer of at least 0"),
        ({"top_p": 0.0}, r"top_p must be in \(0, 1\]"),
        ({"max_new_tokens": 0}, "max_new_tokens must be an integer of at least 1, got 0"),
        ({"seed": 0.5}, "seed must be an integer, got 0.5"),
        ({"prompt": (1, 8)}, r"prompt of request 1 must be ids in 0..7, got 8"),
        ({"prompt": (0,) * 250}, "prompt and new tokens of request 1 must fit 256 positions, got 250 [+] 21 = 271"),
    ],
)
def test_a_bad_request_is_one_line(models, wrong, message):
    with pytest.raises(InputError, match=message) as caught:
        generate(*models, [REQUESTS[0], dataclasses.replace(REQUESTS[0], **wrong)])
    assert "\n" not in str(caught.value)


def test_bad_models_are_one_line(models):
    with pytest.raises(InputError, match="one vocabulary, got 8 and 7 tokens"):
        generate(models[0], tiny_llama(7, 1), REQUESTS)
    with pytest.raises(InputError, match=r"drafter must not be in training mode.*drafter.eval\(\)"):
        generate(models[0], tiny_llama(8, 1).train(), REQUESTS)
    with pytest.raises(InputError, match="builder must be one of top_k, rheo, naive, got 'best'"):
        generate(*models, REQUESTS, builder="best")
    with pytest.raises(InputError, match="verifier must be one of"):
        generate(*models, REQUESTS, verifier="none")


def other_family(name, seed):
    """A random model of a family with positions of its own: learned, rotary on a part, rotary with biases."""
    import transformers

    config = {
        "GPT2": dict(n_embd=16, n_layer=2, n_head=2, n_positions=40, bos_token_id=None, eos_token_id=None),
        "GPTNeoX": dict(hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2),
        "Qwen2": dict(
            hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
        ),
    }[name]
    size = {} if name == "GPT2" else {"max_position_embeddings": 40}
    config = getattr(transformers, f"{name}Config")(
        vocab_size=8, initializer_range=0.5, pad_token_id=None, **config, **size
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return (
            getattr(transformers, f"{name}ForCausalLM" if name != "GPT2" else "GPT2LMHeadModel")(config).double().eval()
        )


@pytest.mark.parametrize("name", ["GPT2", "GPTNeoX", "Qwen2"])
def test_other_families_and_a_pair_of_two(name):
    target, short = other_family(name, 1), other_family("GPT2", 2)
    requests = [
        Request(prompt=prompt, temperature=0.0, max_new_tokens=30, eos=()) for prompt in ((1, 2, 3), (4,), (5, 6) * 5)
    ]
    for drafter in (target, short):
        found = generate(target, drafter, requests, shape=SHAPES[0])
        for request, tokens in zip(requests, found.tokens, strict=True):
            ids = torch.tensor([request.prompt])
            with torch.inference_mode():
                expected = target.generate(
                    ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=30, eos_token_id=None
                )
            assert list(tokens) == expected[0, len(request.prompt) :].tolist()
        assert found.statistics.mean_block > (2.5 if drafter is target else 1.0)


def test_a_sliding_window_is_refused():
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, sliding_window=4, max_position_embeddings=64,
    )  # fmt: skip
    sliding = MistralForCausalLM(config).eval()
    with pytest.raises(InputError, match="must hold all keys and values, got that of MistralForCausalLM"):
        generate(sliding, sliding, [Request(prompt=(1, 2, 3), max_new_tokens=9)])
