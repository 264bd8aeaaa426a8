"""`rheocheck bench claims --quick` from end to end, once; then what it does with what is there, and bad input."""

import json
import subprocess
import sys

import pytest

from rheocheck.cli import main


def run(*arguments):
    """Exit code, stdout and stderr."""
    import contextlib
    import io

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["bench", "claims", *map(str, arguments)])
    return ended.value.code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("claims")
    return folder, *run("--quick", "--out", folder)


def test_quick(finished):
    folder, code, out, _ = finished
    assert code == 0
    assert out == (folder / "claims.md").read_text()
    assert "Too small to conclude" in out and out.count("| too small to conclude: ") == 13
    assert {path.name for path in folder.iterdir()} == {
        "tokenizer.json", "target.pt", "drafter.pt", "training.json", "cells.jsonl", "claims.json", "claims.md",
        "blocks.png", "collapse.png", "leads.png", "coverage.png",
    }  # fmt: skip


def test_the_json_has_everything(finished):
    found = json.loads((finished[0] / "claims.json").read_text())
    assert set(found) == {
        "settings", "conditions", "training", "seconds", "paper", "claims", "cells", "coverage", "equal_trees",
    }  # fmt: skip
    assert found["conditions"]["versions"]["torch"].startswith("2.") and not found["conditions"]["models_reused"]
    assert set(found["training"]["held_out_nats"]) >= {"target", "drafter"}
    names = {cell["name"]: cell for cell in found["cells"]}
    top, rheo = names["T=1 top_k + recursive"], names["T=1 rheo m=1 + rheo"]
    assert top["metrics"]["probe survival"] is None and rheo["metrics"]["probe survival"]["estimate"] > 0
    assert top["prompts"] == rheo["prompts"] == found["settings"]["prompts"] == 4
    cold = [e for e in found["equal_trees"] if (e["temperature"], e["leads"]) == (0, 0)]
    assert cold[0]["equal"] == cold[0]["contexts"] > 0


def test_an_interrupted_run_goes_on(finished):
    """Some pieces are taken away: they alone are measured again, and the answer is the same."""
    folder, *_ = finished
    lines = (folder / "cells.jsonl").read_text().splitlines(keepends=True)
    weights = (folder / "target.pt").stat().st_mtime_ns
    before = json.loads((folder / "claims.json").read_text())
    (folder / "cells.jsonl").write_text("".join(lines[:-2]) + lines[-2][:50])
    code, out, _ = run("--quick", "--out", folder, "--no-plots", "--json")
    after = json.loads(out)
    assert code == 0 and after["conditions"]["models_reused"]
    assert (folder / "target.pt").stat().st_mtime_ns == weights
    again = (folder / "cells.jsonl").read_text().splitlines(keepends=True)
    assert again[:-2] == lines[:-2]
    assert [json.loads(line)["rows"] for line in again] == [json.loads(line)["rows"] for line in lines]
    assert [claim["figures"] for claim in after["claims"][:-1]] == [claim["figures"] for claim in before["claims"][:-1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vocab-size", 128], "vocab_size must be an integer in 385..8192, got 128; try 1024"),
        (["--new-tokens", 97], "new_tokens must be at most 96, which with prompt and tree fill the windows"),
        (["--prompts", 1], "prompts must be an integer in 2.."),
        (["--threads", 0], "threads must be an integer in 1..1024, got 0"),
        (["--seed", -1], "seed must be an integer in 0.."),
        (["--quick", "--prompts", 500], "prompts must be at most the"),
        (["--quick", "--vocab-size", 8192], "the text must give 8192 tokens"),
    ],
)
def test_bad_input_is_one_line(finished, tmp_path, arguments, message):
    folder = finished[0] if "--prompts" in arguments else tmp_path  # where the models of this size are
    code, out, err = run("--out", folder, *arguments)
    assert (code, out) == (2, "")
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize("missing", ["torch", "matplotlib"])
def test_a_missing_extra_is_one_line_before_any_work(tmp_path, missing):
    code = f"import sys; sys.modules[{missing!r}] = None\nfrom rheocheck.cli import main\n"
    code += f"main(['bench', 'claims', '--quick', '--out', {str(tmp_path / 'out')!r}])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert "pip install 'rheocheck[bench]'" in ended.stderr and missing in ended.stderr
    assert not (tmp_path / "out").exists()


def test_help_says_what_it_takes():
    code, out, _ = run("--help")
    assert code == 0
    for word in ("--out FOLDER", "--fresh", "--quick", "--vocab-size", "--new-tokens", "--no-plots", "30 minutes"):
        assert word in out
