"""`rheocheck generate` on models saved to a folder, with and without a tokenizer."""

import json

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from rheocheck import generation
from rheocheck.adapters.tiny_models import DRAFTER_SEED, TARGET_SEED, tiny_llama
from rheocheck.cli import main
from rheocheck.core import Shape
from rheocheck.generation.cache import CachedModel

WORDS = ("<unk>", "cat", "saw", "the", "old", "dog", "and", "ran")


def save_tokenizer(folder, words):
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A target and a drafter with a tokenizer, one that numbers words differently, one of another size, without."""
    made = {}
    for name, size, seed, words in (
        ("target", 8, TARGET_SEED, WORDS),
        ("drafter", 8, DRAFTER_SEED, WORDS),
        ("reversed", 8, DRAFTER_SEED, WORDS[::-1]),
        ("smaller", 7, DRAFTER_SEED, None),
    ):
        made[name] = str(tmp_path_factory.mktemp(name))
        tiny_llama(size, seed).save_pretrained(made[name])
        if words:
            save_tokenizer(made[name], words)
    return made


def run(capsys, *arguments):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with pytest.raises(SystemExit) as ended:
            main(["generate", *map(str, arguments)])
    finally:
        torch.set_num_threads(threads)
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_token_ids(capsys, folders):
    code, out, err = run(
        capsys, folders["target"], folders["drafter"], "--prompt-ids", "1 2 3", "--max-new-tokens", 9, "-T", 0
    )
    assert (code, err) == (0, "")
    ids = torch.tensor([[1, 2, 3]])
    greedy = tiny_llama(8, TARGET_SEED).generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=9
    )
    answer, _, *facts = out.splitlines()
    assert answer == " ".join(map(str, greedy[0, 3:].tolist()))
    assert facts[0].startswith("mean block        ") and facts[0].count("tokens") == 1
    assert [line.split("  ")[0] for line in facts] == ["mean block", "probe survival", "probe acceptance", "seconds"]


def test_texts_in_a_batch(capsys, folders):
    how = ["--max-new-tokens", 7, "--top-k", 5, "--top-p", 0.9, "--seed", 4, "--json", "--dtype", "float64"]
    code, out, _ = run(
        capsys, folders["target"], folders["drafter"], "--prompt", "cat saw", "--prompt", "the old dog ran", *how
    )
    found = json.loads(out)
    assert code == 0 and set(found) == {"answers", "statistics"}
    first, second = found["answers"]
    assert first["prompt"] == [1, 2] and second["prompt"] == [3, 4, 5, 7]
    assert [WORDS[token] for token in first["tokens"]] == first["text"].split() and len(first["tokens"]) == 7
    alone = json.loads(run(capsys, folders["target"], folders["drafter"], "--prompt-ids", "1 2", *how)[1])
    assert alone["answers"][0]["tokens"] == first["tokens"]
    assert sum(found["statistics"]["blocks"].values()) >= 4


def test_every_option_arrives(capsys, folders, monkeypatch):
    seen, honest = {}, generation.generate

    def spy(target, drafter, requests, **how):
        seen.update(how, requests=requests, dtypes={target.dtype, drafter.dtype})
        return honest(target, drafter, requests, **how)

    monkeypatch.setattr(generation, "generate", spy)
    code, _, _ = run(
        capsys, folders["target"], folders["drafter"], "--prompt-ids", "1 2", "--prompt-ids", "3",
        "--max-new-tokens", 5, "-T", 0.7, "--top-k", 3, "--top-p", 0.8, "--builder", "top_k", "--verifier", "recursive",
        "-m", 2, "-K", 3, "-D", 2, "-N", 5, "-F", 1, "--seed", 9, "--dtype", "float64",
    )  # fmt: skip
    asked = {"max_new_tokens": 5, "temperature": 0.7, "top_k": 3, "top_p": 0.8}
    requests = [generation.Request(prompt=prompt, seed=seed, **asked) for prompt, seed in (((1, 2), 9), ((3,), 10))]
    assert code == 0 and seen == {
        "requests": requests,
        "shape": Shape(leads=2, branching=3, depth=2, nodes=5, frontier=1),
        "builder": "top_k", "verifier": "recursive", "dtypes": {torch.float64},
    }  # fmt: skip


@pytest.mark.parametrize("options", [["--builder", "top_k", "--verifier", "matching"], ["-m", 0, "-K", 2, "-N", 0]])
def test_trees_of_all_kinds(capsys, folders, options):
    code, out, _ = run(
        capsys, folders["target"], folders["drafter"], "--prompt-ids", "1", "--max-new-tokens", 5, *options
    )
    assert code == 0 and len(out.splitlines()[0].split()) == 5
    assert "probe" not in out


@pytest.mark.parametrize(
    ("drafter", "arguments", "message"),
    [
        ("smaller", ["--prompt-ids", "1"], "one vocabulary, got 8 and 7 tokens"),
        ("reversed", ["--prompt", "cat"], "number their tokens differently"),
        ("smaller", ["--prompt", "cat"], "must be a model with a tokenizer"),
        ("drafter", ["--prompt-ids", "1 9"], "prompt of request 0 must be ids in 0..7, got 9"),
        ("drafter", ["--prompt-ids", ""], "a prompt must have at least one token, got none"),
        ("drafter", ["--prompt", ""], "a prompt must have at least one token, got none"),
        ("drafter", ["--prompt-ids", "1", "--max-new-tokens", 256], "must fit 256 positions, got 1 + 256 = 257"),
        (
            "drafter",
            ["--prompt-ids", "1", "-T", -1],
            "temperature must be 0 (greedy) or a number in 1e-30..1e30, got -1.0",
        ),
        ("drafter", ["--prompt-ids", "1", "-K", 0], "branching must be an integer of at least 1, got 0"),
        ("drafter", ["--prompt", "cat \udcff"], "a prompt must be text in UTF-8"),
        ("drafter", ["--prompt-ids", "1", "--seed", 2**64], "seed must be an integer of 64 bits"),
        (
            "drafter",
            ["--prompt-ids", "1", "--device", "nonsense"],
            "device must be one that torch can use, got 'nonsense'",
        ),
        ("drafter", ["--prompt-ids", "1", "--device", "meta"], "device must be one that torch can use, got 'meta'"),
        ("drafter", ["--prompt-ids", "1", "-K", 200], "branching must be at most top = 128, got 200; lower it"),
        ("drafter", ["--prompt-ids", "1", "--against-greedy"], "temperature must be 0 to compare with greedy search"),
        ("drafter", [], "exactly one of --prompt and --prompt-ids must be given"),
        ("nowhere", ["--prompt-ids", "1"], "must be a causal model of transformers"),
    ],
)
def test_bad_input_is_one_line(capsys, folders, tmp_path, drafter, arguments, message):
    (tmp_path / "nowhere").mkdir()
    code, out, err = run(capsys, folders["target"], folders.get(drafter, str(tmp_path / drafter)), *arguments)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_against_greedy_search(capsys, folders):
    how = [folders["target"], folders["drafter"], "--prompt", "cat saw", "--prompt", "the", "-T", 0, "--against-greedy"]
    code, out, err = run(capsys, *how, "--max-new-tokens", 9)
    assert (code, err) == (0, "") and out.splitlines()[-1] == "greedy search     the same in 2 of 2 answers"
    code, out, _ = run(capsys, *how, "--max-new-tokens", 9, "--json")
    assert code == 0 and json.loads(out)["differences"] == []


def test_a_structural_difference(capsys, folders, monkeypatch):
    read = CachedModel.read
    monkeypatch.setattr(CachedModel, "read", lambda self, tokens, place, *more: read(self, tokens, place * 0, *more))
    how = [folders["target"], folders["target"], "--prompt", "cat saw", "-T", 0, "--against-greedy"]
    code, out, _ = run(capsys, *how, "--json")
    (found,) = json.loads(out)["differences"]
    assert code == 1 and found["verdict"] == "structural" and found["request"] == 0
    assert set(found) == {"request", "position", "ours", "theirs", "margin", "rounding", "usual", "verdict"}
    code, out, _ = run(capsys, *how)
    place, ours, theirs = found["position"], found["ours"], found["theirs"]
    assert code == 1 and "greedy search     the same in 0 of 1 answers" in out
    line = f"  answer 0, token {place}: {ours} {WORDS[ours]!r}, greedy search {theirs} {WORDS[theirs]!r}: structural"
    assert line in out.splitlines() and out.splitlines()[-1].startswith("    logits ")


def test_a_generation_config_of_another_law(capsys, folders, tmp_path):
    model = tiny_llama(8, TARGET_SEED)
    model.generation_config.repetition_penalty = 1.3
    model.generation_config.eos_token_id = [0]
    model.save_pretrained(tmp_path)
    capsys.readouterr()
    code, out, err = run(capsys, tmp_path, folders["drafter"], "--prompt-ids", "1 2")
    assert (code, out) == (2, "") and "repetition_penalty of the target's generation config must be off, got 1.3" in err
    assert err.count("\n") == 1 and "--bare" in err
    code, out, _ = run(capsys, tmp_path, folders["drafter"], "--prompt-ids", "1 2", "--bare", "--json")
    (answer,) = json.loads(out)["answers"]
    assert code == 0 and answer["tokens"].index(0) == len(answer["tokens"]) - 1  # EOS is kept


def test_help_names_everything(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for word in ("TARGET DRAFTER", "--prompt-ids", "--top-p", "--builder", "--frontier", "--json", "0 is greedy"):
        assert word in out
