"""Models by name, .gguf file or module:attr, and the tokenizer that goes with them; tiny ones, nothing downloaded."""

import sys
from types import ModuleType

import pytest
import torch

from rheocheck.adapters.causal_models import load, load_tokenizer
from rheocheck.adapters.tiny_models import DRAFTER_SEED, TARGET_SEED, tiny_llama
from rheocheck.cli import main
from rheocheck.core.errors import InputError, MissingExtra


class Letters:
    """A tokenizer of one letter a token."""

    def get_vocab(self):
        return {letter: i for i, letter in enumerate("abcdefgh")}

    def __call__(self, text):
        result = ModuleType("encoding")
        result.input_ids = [self.get_vocab()[letter] for letter in text]
        return result

    def decode(self, ids):
        return "".join("abcdefgh"[i] for i in ids)


class OtherLetters(Letters):
    def get_vocab(self):
        return {letter: i for i, letter in enumerate("hgfedcba")}


@pytest.fixture
def modules(monkeypatch):
    """`made`: a model, a function that makes one, two that are no models, a tokenizer. `bare`, `other`: less."""

    def module(name, **attributes):
        found = ModuleType(name)
        vars(found).update(attributes)
        monkeypatch.setitem(sys.modules, name, found)

    models = {"target": tiny_llama(8, TARGET_SEED), "drafter": lambda: tiny_llama(8, DRAFTER_SEED).train()}
    wrong = {"number": 3, "nothing": lambda: None, "linear": torch.nn.Linear(2, 2), "failing": lambda: 1 // 0}
    module("made", **models, **wrong, tokenizer=lambda: Letters())
    module("bare", **models)
    module("other", **models, tokenizer=OtherLetters())


def test_a_model_and_a_function_that_makes_one(modules):
    made = sys.modules["made"]
    assert load("made:target") is made.target
    drafter = load("made:drafter", dtype="float64")
    assert drafter.dtype == torch.float64 and not drafter.training and made.target.dtype == torch.float32


def test_the_tokenizer_of_the_module(modules):
    assert load_tokenizer("made:target", "made:drafter").get_vocab() == Letters().get_vocab()
    with pytest.raises(InputError, match="made:target and other:drafter number their tokens differently"):
        load_tokenizer("made:target", "other:drafter")


def test_generate_takes_them(modules, capsys):
    arguments = ["generate", "made:target", "made:drafter", "--prompt", "bcd", "--max-new-tokens", "9", "-T", "0"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    ids = torch.tensor([[1, 2, 3]])
    greedy = tiny_llama(8, TARGET_SEED).generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=9
    )
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[0] == Letters().decode(greedy[0, 3:].tolist())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("made:number", "or a function without arguments that returns one, got int; name another attribute"),
        ("made:nothing", "got NoneType"),
        ("made:linear", "got Linear"),
        ("made:missing", "has no attribute 'missing'"),
        ("made:failing", "made:failing must return when called without arguments, got ZeroDivisionError: integer div"),
        ("nowhere_at_all:target", "importing 'nowhere_at_all' failed"),
        ("bare:target", "bare must have a tokenizer, got NoneType: name it tokenizer; give the prompt by --prompt-ids"),
        ("lost.gguf", "lost.gguf must be a file, got none of that name; check the path"),
    ],
)
def test_bad_names_are_one_line(modules, capsys, name, message):
    prompt = ["--prompt", "abc"] if name.startswith(("bare", "lost")) else ["--prompt-ids", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["generate", name, name, *prompt])
    printed = capsys.readouterr()
    assert ended.value.code == 2 and message in printed.err and printed.err.count("\n") == 1


def test_a_module_that_is_not_there_has_no_tokenizer_either():
    with pytest.raises(InputError, match="importing 'nowhere_at_all' failed"):
        load_tokenizer("nowhere_at_all:target", "nowhere_at_all:drafter")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", b"garbage" * 9, "Error while deserializing header"),
        ("config.json", None, "ignore_mismatched_sizes"),
    ],
)
def test_a_damaged_model_is_one_line(tmp_path, file, content, message):
    """Weights that are none, weights of another shape than the config says."""
    tiny_llama(8, TARGET_SEED).save_pretrained(tmp_path)
    path = tmp_path / file
    path.write_bytes(content or path.read_bytes().replace(b'"hidden_size": 16', b'"hidden_size": 32'))
    with pytest.raises(
        InputError, match=f"must be a causal model of transformers, transformers says: .*{message}"
    ) as caught:
        load(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_model_that_lacks_weights_is_refused(tmp_path):
    """transformers would go on with random ones."""
    from safetensors.torch import load_file, save_file

    tiny_llama(8, TARGET_SEED).save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["model.layers.0.self_attn.q_proj.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"must hold all weights of LlamaForCausalLM, it lacks 1, such as model\.lay"):
        load(str(tmp_path))


@pytest.mark.parametrize("missing", ["gguf", "accelerate"])
@pytest.mark.parametrize("loader", [load, lambda name: load_tokenizer(name, name)])
def test_what_reads_gguf_is_asked_for(monkeypatch, tmp_path, missing, loader):
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    for package in ("gguf", "accelerate"):
        monkeypatch.setitem(sys.modules, package, None if package == missing else ModuleType(package))
    with pytest.raises(MissingExtra, match=rf"{missing} is missing: pip install 'rheocheck\[smollm2\]'"):
        loader(str(tmp_path / "model.gguf"))


@pytest.mark.parametrize(("dtype", "asked"), [("auto", "float32"), ("bfloat16", "bfloat16")])
def test_a_gguf_file_is_a_folder_and_a_name(monkeypatch, tmp_path, dtype, asked):
    from transformers import AutoModelForCausalLM

    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    for package in ("gguf", "accelerate"):
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
    seen, model = {}, tiny_llama(4, 1)
    loaded = model, {"missing_keys": set()}
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda **keywords: seen.update(keywords) or loaded)
    assert load(str(tmp_path / "model.gguf"), dtype=dtype) is model
    assert seen.pop("output_loading_info") is True
    assert seen == {"pretrained_model_name_or_path": str(tmp_path), "gguf_file": "model.gguf", "dtype": asked}
