"""`generate` on tiny Llamas in float64: greedy search token by token, rows of a batch, cuts inside a block, errors."""

import dataclasses
import inspect
import re
from types import SimpleNamespace

import pytest
import torch

from rheocheck.adapters.tiny_models import tiny_llama
from rheocheck.core import Shape
from rheocheck.core.errors import InputError
from rheocheck.generation import Request, against_greedy, generate
from rheocheck.generation.models import OTHERS, check_generation_config, positions, takes
from rheocheck.production import BUILDERS, VERIFIERS
from tests.generation.llamas import one_thread, relatives  # noqa: F401

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


def test_layers_that_no_node_can_be_in_are_not_drafted(models):
    """N nodes reach N layers: a deeper shape drafts no more, and without nodes nothing is drafted."""
    read = []
    hook = models[1].register_forward_hook(lambda *call: read.append(1))
    try:
        for nodes, passes in ((0, 0), (1, 1), (2, 2), (3, 3), (9, 3)):
            read.clear()
            found = generate(*models, REQUESTS[:1], shape=Shape(leads=1, branching=3, depth=3, nodes=nodes))
            assert len(read) == passes * found.statistics.blocks.total()
    finally:
        hook.remove()


def test_seeds_tell_rows_apart(models):
    requests = [dataclasses.replace(REQUESTS[0], seed=seed) for seed in (1, 1, 2)]
    first, again, other = generate(*models, requests).tokens
    assert first == again != other


def test_the_largest_top_k_is_off_and_the_smallest_seed_is_one(models):
    request = dataclasses.replace(REQUESTS[0], seed=-(2**63))
    assert generate(*models, [dataclasses.replace(request, top_k=2**70)]).tokens == generate(*models, [request]).tokens


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


def test_a_drafter_that_is_the_target_is_never_rejected(models):
    """Its law has the temperature of the row, the positions and the ancestors of the node; all are needed for it."""
    requests = [dataclasses.replace(request, top_k=0, top_p=1.0) for request in REQUESTS]
    chain = Shape(leads=0, branching=1, depth=3, nodes=3)
    found = generate(models[0], models[0], requests, shape=chain).statistics
    assert set(found.blocks) == {4} and found.probe_survival == found.probe_acceptance == 1.0


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
        ({"seed": 0.5}, "seed must be an integer of 64 bits, got 0.5"),
        ({"seed": 2**64}, "seed must be an integer of 64 bits, got 18446744073709551616"),
        ({"temperature": 1e-40}, "temperature must be 0 .greedy. or a number in 1e-30..1e30, got 1e-40"),
        ({"temperature": None}, "temperature must be 0 .* got None"),
        ({"top_p": "x"}, r"top_p must be in \(0, 1\] .1: off., got 'x'"),
        ({"eos": 5}, "eos must be a tuple of token ids, got 5"),
        ({"eos": ("a",)}, "eos must be token ids"),
        ({"prompt": 5}, "prompt must be a tuple of token ids, got 5"),
        ({"prompt": (1, 8)}, r"prompt of request 1 must be ids in 0..7, got 8"),
        ({"prompt": (1, -1)}, r"prompt of request 1 must be ids in 0..7, got -1"),
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
    short = tiny_llama(8, 1)
    short.config.max_position_embeddings = 20
    with pytest.raises(InputError, match="of request 0 must fit 20 positions, got 3 [+] 21 = 24"):
        generate(models[0], short, REQUESTS)
    with pytest.raises(InputError, match=r"drafter must not be in training mode.*drafter.eval\(\)"):
        generate(models[0], tiny_llama(8, 1).train(), REQUESTS)
    with pytest.raises(InputError, match="builder must be one of top_k, rheo, naive, got 'best'"):
        generate(*models, REQUESTS, builder="best")
    with pytest.raises(InputError, match="verifier must be one of"):
        generate(*models, REQUESTS, verifier="none")


@pytest.mark.parametrize("wrong", [[(1, 2, 3)], REQUESTS[0], iter(REQUESTS)])
def test_something_else_than_requests_is_one_line(models, wrong):
    with pytest.raises(InputError, match="requests must be a sequence of Request, got .*; try"):
        generate(*models, wrong)


@pytest.mark.parametrize("who", ["target", "drafter"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_no_law_are_one_line(who, value):
    models = relatives(8)
    broken = models[who == "drafter"]
    asked = [Request(prompt=(1,), max_new_tokens=30, temperature=0.0), Request(prompt=(5,), max_new_tokens=30)]
    seen = []

    def spoil(_, inputs, kwargs, out):
        """Late, in the second row alone, and once: the drafter's pass is not the last one of its cycle."""
        seen.append(kwargs["input_ids"].shape)
        if len(seen) == 8:
            out.logits[1, -1, 3] = value

    broken.register_forward_hook(spoil, with_kwargs=True)
    with pytest.raises(
        InputError, match=rf"logits of the {who} must be finite.*request 1 after [1-9]\d* new tokens"
    ) as caught:
        generate(*models, asked)
    assert "\n" not in str(caught.value)


def test_tokens_that_cannot_come(models):
    """A logit of -inf is a probability of 0, in the target as in the drafter."""
    for banned in models:
        hook = banned.lm_head.register_forward_hook(
            lambda *parts: parts[-1].index_fill_(-1, torch.tensor([3]), -torch.inf)
        )
        found = generate(*models, REQUESTS)
        hook.remove()
        assert (3 in sum(found.tokens, ())) == (banned is models[1])


OTHER_LAWS = {
    "repetition_penalty": 1.1, "min_p": 0.1, "no_repeat_ngram_size": 2, "bad_words_ids": [[3]], "min_new_tokens": 5,
    "suppress_tokens": [1], "typical_p": 0.9, "eta_cutoff": 1e-3, "sequence_bias": [[[3], 1.0]], "min_length": 9,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_LAWS)
def test_what_transformers_would_apply_is_refused(models, name, monkeypatch):
    monkeypatch.setattr(models[0].generation_config, name, OTHER_LAWS[name])
    with pytest.raises(InputError, match=rf"{name} of the target's generation config must be off, got .*{name} = None"):
        generate(*models, REQUESTS)
    monkeypatch.setattr(models[0].generation_config, name, None)
    assert generate(*models, REQUESTS).tokens


def test_the_defaults_of_transformers_are_no_other_law(models):
    """And whatever of its settings makes a logits processor is known: a new one would be applied there alone."""
    from transformers import GenerationConfig

    defaults = GenerationConfig(**GenerationConfig._get_default_generation_params())
    check_generation_config(SimpleNamespace(generation_config=defaults))
    source = inspect.getsource(models[0]._get_logits_processor)
    asked = set(re.findall(r"generation_config\.([a-z]\w*)", source))
    ours = {"temperature", "top_k", "top_p", "do_sample"}
    harmless = {"renormalize_logits", "remove_invalid_values", "use_cache", "num_return_sequences", "max_length"}
    assert asked - ours - harmless == set(OTHERS)


def test_a_long_prompt_asks_for_few_logits():
    models = relatives(8)
    widths = [[], []]
    for model, seen in zip(models, widths, strict=True):
        model.lm_head.register_forward_hook(lambda module, inputs, out, seen=seen: seen.append(out.shape[1]))
    requests = [Request(prompt=(1, 2) * (n + 1), max_new_tokens=5, temperature=0.0) for n in (1, 40, 60, 60)]
    found = generate(*models, requests, shape=SHAPES[0])
    assert max(widths[0]) == 10 and max(widths[1]) <= 4  # the tree; the block, where 122 tokens were read
    for request, tokens in zip(requests, found.tokens, strict=True):
        assert tokens == generate(*models, [request], shape=SHAPES[0]).tokens[0]
    expected = models[0].generate(torch.tensor([requests[2].prompt]), do_sample=False, max_new_tokens=5, pad_token_id=0)
    assert list(found.tokens[2]) == expected[0, 122:].tolist()


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


@pytest.mark.parametrize(("name", "implementation"), [("Granite", "eager"), ("Granite", "sdpa"), ("Cohere", "sdpa")])
def test_scaled_logits_and_other_attentions(name, implementation):
    """Logit scales, tied weights, eager attention; prompts of 1 and 200 tokens in one batch."""
    import transformers

    extra = {"logits_scaling": 0.1} if name == "Granite" else {}
    config = getattr(transformers, f"{name}Config")(
        vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, initializer_range=0.5, bos_token_id=None, eos_token_id=None, pad_token_id=None, **extra,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        model = getattr(transformers, f"{name}ForCausalLM")(config).double().eval()
    model.set_attn_implementation(implementation)
    requests = [Request(prompt=prompt, temperature=0.0, max_new_tokens=20) for prompt in ((1,), (2, 3, 4, 5) * 50)]
    found = against_greedy(model, model, requests, shape=SHAPES[0])
    assert found.differences == () and found.generated.statistics.mean_block > 2.5


def test_positions_that_depend_on_a_neighbour_are_not_used():
    """Phi-3's rotary embedding becomes another one for a whole batch as soon as one row is longer than 16."""
    from transformers import Phi3Config, Phi3ForCausalLM

    rope = {
        "rope_type": "longrope", "rope_theta": 10.0, "short_factor": [1.0] * 4, "long_factor": [4.0, 3.0, 9.0, 20.0],
        "original_max_position_embeddings": 16,
    }  # fmt: skip
    config = Phi3Config(
        vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, original_max_position_embeddings=16, rope_parameters=rope,
        initializer_range=0.5, bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        model = Phi3ForCausalLM(config).double().eval()
    requests = [Request(prompt=(1, 2), temperature=0.0, max_new_tokens=n) for n in (14, 3)]
    assert against_greedy(model, model, requests, shape=SHAPES[0]).differences == ()  # drafts end at the 16th position
    with pytest.raises(InputError, match="of request 1 must fit 16 positions, got 10 [+] 7 = 17"):
        generate(model, model, [requests[0], Request(prompt=(3,) * 10, max_new_tokens=7)])


@pytest.mark.parametrize(("kind", "last"), [("default", 64), ("yarn", 64), ("dynamic", 16), ("longrope", 16)])
def test_rotary_embeddings_that_depend_on_the_batch(kind, last):
    rope = {"rope_type": kind, "original_max_position_embeddings": 16}
    text = SimpleNamespace(max_position_embeddings=64, rope_parameters=rope)
    assert positions(SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: text))) == last


class Wrapped:
    """As PEFT wraps a model: what its forward pass takes is behind **kwargs."""

    def __init__(self, model):
        self._model = model

    def __getattr__(self, name):
        return getattr(self._model, name)

    def __call__(self, *args, **kwargs):
        return self._model(*args, **kwargs)

    forward = __call__

    def get_base_model(self):
        return self._model


def test_a_wrapped_model_is_the_model(models):
    target, drafter = map(Wrapped, models)
    assert generate(target, drafter, REQUESTS[:1]).tokens == generate(*models, REQUESTS[:1]).tokens
    assert takes(torch.compile(models[0], backend="eager"), "position_ids")


def test_models_that_read_no_tree_are_refused():
    from transformers import BloomConfig, BloomForCausalLM, FalconConfig, FalconForCausalLM, MptConfig, MptForCausalLM

    small = {"vocab_size": 8, "hidden_size": 16, "n_layer": 1, "n_head": 2}
    for model in (
        BloomForCausalLM(BloomConfig(**small)),
        MptForCausalLM(MptConfig(vocab_size=8, d_model=16, n_layers=1, n_heads=2)),
        FalconForCausalLM(
            FalconConfig(vocab_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, alibi=True)
        ),
    ):
        with pytest.raises(InputError, match=rf"target must take .*, {type(model).__name__} lacks pos"):
            generate(model.eval(), model, [Request(prompt=(1, 2))])


def test_a_sliding_window_is_refused():
    """Gemma2 says so in its config, Mistral by its cache; RecurrentGemma has other layers still.

    GPT-Neo has windows of columns, which are no positions here, over a cache that is kept whole.
    """
    import transformers

    small = {
        "vocab_size": 8, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 1,
        "num_key_value_heads": 1, "head_dim": 16,
    }  # fmt: skip
    neo = {"num_layers": 2, "num_heads": 2, "window_size": 4}
    for family, more, message in (
        ("Gemma2", {}, "target must have full attention in all layers, Gemma2ForCausalLM has sliding_attention"),
        ("Mistral", {"sliding_window": 4}, "must hold all keys and values, got that of MistralForCausalLM"),
        ("RecurrentGemma", {}, "target must have full attention in all layers, .* has linear_attention"),
        ("GPTNeo", {**neo, "attention_types": [[["global", "local"], 1]]}, "GPTNeoForCausalLM has local"),
    ):
        config = getattr(transformers, f"{family}Config")(**{**small, **more})
        model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
        with pytest.raises(InputError, match=message):
            generate(model, model, [Request(prompt=(1, 2, 3), max_new_tokens=9)])
