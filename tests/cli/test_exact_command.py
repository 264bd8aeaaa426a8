"""`rheocheck audit --method exact`, `--replay` and `rheocheck matrix` from the outside."""

import json
import shlex

import pytest
from click.testing import CliRunner

from rheocheck.audit import exact
from rheocheck.cli import main
from rheocheck.cli.audit import audit
from rheocheck.core.errors import InputError
from rheocheck.intercept import NotUnderstood

HERE = "tests.audit.subjects"


def run(*arguments):
    return CliRunner().invoke(audit, [str(a) for a in arguments])


def installed(capsys, *arguments):
    """(exit code, stdout, stderr) of the installed command."""
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.parametrize("method", ["exact", "auto"])
def test_no_bias_found_exits_with_0(method):
    ask = ("--tokens", 2, "--method", method, "--plain-runs", 200)
    result = run(f"{HERE}:unseeded", "--target", f"{HERE}:CHAIN", *ask)
    assert (result.exit_code, result.stderr) == (0, "")
    first = "NO BIAS FOUND down to TV 1e-06, by enumeration; hidden randomness of a call: at most TV 0."
    assert result.stdout.startswith(first)
    assert result.stdout.splitlines()[0].endswith(", by 200 plain runs")
    assert "  200 plain runs of the real code in 5 processes fit this law: " in result.stdout
    assert "a hidden event of probability 0.067 that emits an impossible word would have been seen; " in result.stdout
    assert "below the float tolerance 1e-06" in result.stdout
    (note,) = [line for line in result.stdout.splitlines() if line.startswith("  note: ")]
    assert note.startswith("  note: not looked at: the bonus token of a decoder with any drafts, and later rounds")


def test_biased_exits_with_1_and_its_replay_command_runs(capsys):
    result = run(f"{HERE}:plainly_biased", "--target", f"{HERE}:CHAIN", "--tokens", 2)
    assert result.exit_code == 1
    assert "total variation 0.0500, above the float tolerance 1e-06" in result.stdout
    assert 'witness: after context "0", token 1: emitted with probability 0.5000, target 0.4000' in result.stdout
    assert "confirmed by 2375 plain draws" in result.stdout
    (command,) = [line.split(": ", 1)[1] for line in result.stdout.splitlines() if line.startswith("  replay: ")]
    program, *arguments = shlex.split(command)
    code, out, err = installed(capsys, *arguments)
    assert (program, code, err) == ("rheocheck", 0, "")
    assert out.startswith("path: 2 random choices, probability 0.2500, emits 0 1\n")
    assert 'after context "", token 0: target 0.5\nafter context "0", token 1: target 0.4\n' in out


def test_json_holds_everything():
    result = run(f"{HERE}:plainly_biased", "--target", f"{HERE}:CHAIN", "--tokens", 2, "--method", "exact", "--json")
    data = json.loads(result.stdout)
    assert (data["verdict"], data["method"], data["unseen"], data["stopped"]) == ("biased", "exact", 0, None)
    assert data["total_variation"] == pytest.approx(0.05)
    assert (data["path"]["word"], len(data["path"]["choices"])) == ([0, 1], 2)
    assert data["path"]["replay"].endswith(f"--target {HERE}:CHAIN --tokens 2 --replay 0,1")
    assert (data["boundary_faults"], data["tolerance"], data["samples"]) == ([], 1e-6, 0)


def test_a_budget_gives_an_interval_and_exit_3():
    result = run(f"{HERE}:unseeded", "--target", f"{HERE}:CHAIN", "--method", "exact", "--max-paths", 2)
    assert result.exit_code == 3
    assert "total variation between 0 and 0." in result.stdout
    assert "note: max_paths ended the enumeration" in result.stdout


def test_auto_says_why_it_samples(monkeypatch):
    def refuses(*arguments, **keywords):
        raise NotUnderstood("torch.cholesky of a uniform, decoder.py:3: draw it another way")

    monkeypatch.setattr(exact, "enumerate_law", refuses)
    ask = (f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--tokens", 1, "--tv", 0.2, "--alpha", 0.001)
    result = run(*ask)
    assert result.exit_code == 0
    assert result.stdout.endswith("torch.cholesky of a uniform, decoder.py:3: draw it another way\n")
    refused = run(*ask, "--method", "exact")
    assert isinstance(refused.exception, NotUnderstood)  # which the group turns into exit code 2


def test_the_float_tolerance_is_yours():
    ask = (f"{HERE}:plainly_biased", "--target", f"{HERE}:CHAIN", "--tokens", 2, "--float-tolerance", 0.06)
    assert run(*ask).stdout.startswith("NO BIAS FOUND down to TV 0.06, by enumeration")


def test_replay_without_a_target_and_as_json():
    result = run(f"{HERE}:unseeded", "--tokens", 2, "--replay", "0,2")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, 'after context "0", token 2')
    result = run(
        f"{HERE}:unseeded", "--context", "2 0", "--target", f"{HERE}:CHAIN", "--tokens", 1, "--replay", "1", "--json"
    )
    data = json.loads(result.stdout)
    assert (data["context"], data["path"]["word"], data["target"]) == ([2, 0], [1], [0.4])


def test_a_decoder_without_randomness_is_replayed_too(capsys):
    result = run(f"{HERE}:always_two", "--target", f"{HERE}:CHAIN", "--tokens", 1)
    assert "no random choice at all: always emits 2" in result.stdout
    assert result.stdout.count("--tokens 1 --replay ''\n") == 1
    assert run(f"{HERE}:always_two", "--tokens", 1, "--replay", "").stdout.startswith("no random choice at all")


def test_replay_says_zero_behind_an_impossible_token():
    result = run(f"{HERE}:impossible", "--target", f"{HERE}:CHAIN", "--tokens", 3, "--replay", "1,0,1")
    assert [line.rsplit(" ", 1)[1] for line in result.stdout.splitlines()[-3:]] == ["0.25", "0", "0"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--replay", "0,x"], "--replay must be branches from 0 on, got '0,x': try --replay 0,2,1"),
        (["--replay", "-1"], "--replay must be branches from 0 on"),
        (
            ["--replay", "0", "--baseline", f"{HERE}:honest"],
            "--replay must go with --target or neither",
        ),
        (["--replay", "0", "--tokens", "0"], "--tokens must be an integer >= 1"),
        (["--target", f"{HERE}:CHAIN", "--max-seconds", "0"], "--max-seconds must be above 0"),
        (["--target", f"{HERE}:CHAIN", "--plain-runs", "0"], "--plain-runs must be an integer >= 1, got 0"),
        (
            ["--target", f"{HERE}:CHAIN", "--plain-runs", "9", "--method", "sampled"],
            "--plain-runs must go with --method exact or auto, got 9 with sampled",
        ),
        (["--target", f"{HERE}:CHAIN", "--max-paths", "0"], "--max-paths must be an integer >= 1"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    result = run(f"{HERE}:unseeded", *arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_recording_has_no_code(tmp_path):
    path = tmp_path / "draws.jsonl"
    path.write_text('{"tokens": [0, 1]}\n')
    for more in (["--method", "exact"], ["--replay", "0"]):
        refused = run(path, "--target", f"{HERE}:CHAIN", "--tokens", 2, *more)
        assert "must have code to run, got the recorded samples" in str(refused.exception)


def test_a_matrix_row_by_row(capsys):
    code, out, err = installed(capsys, "matrix", f"{HERE}:ROWS", "--tokens", 2)
    title, header, *rows = out.splitlines()
    assert (code, err, len(rows)) == (1, "", 4)
    assert title == "The exact law of 2 tokens, setting by setting"
    assert header.split() == "setting verdict total variation boundary faults paths seconds".split()
    assert rows[0].startswith("unseeded") and " no bias found " in rows[0] and " hidden " in rows[0]
    assert " biased, declared " in rows[1] and " 0.0500 " in rows[1]
    assert " biased " in rows[3] and "declared" not in rows[3]


def test_a_matrix_exits_by_its_rows(capsys, monkeypatch):
    def exit_code(rows, *more):
        return installed(capsys, "matrix", f"{HERE}:settings_matrix", "--set", f"rows={rows}", "--tokens", 2, *more)[0]

    assert [exit_code(rows) for rows in (1, 2, 3, 4)] == [0, 0, 0, 1]
    assert exit_code(1, "--max-paths", 2) == 3

    def refuses(*arguments, **keywords):
        raise NotUnderstood("torch.cholesky of a uniform, decoder.py:3: draw it another way")

    monkeypatch.setattr(exact, "enumerate_law", refuses)
    code, out, _ = installed(capsys, "matrix", f"{HERE}:settings_matrix", "--set", "rows=1")
    assert (code, " not understood " in out) == (3, True)
    assert "  torch.cholesky of a uniform, decoder.py:3: draw it another way\n" in out


def test_a_matrix_as_json(capsys):
    code, out, _ = installed(capsys, "matrix", f"{HERE}:ROWS", "--tokens", 2, "--context", "2", "--json")
    data = json.loads(out)
    assert (code, data["tokens"], data["context"]) == (1, 2, [2])
    assert [(row["name"], row["declared"], row["word"]) for row in data["rows"]] == [
        ("unseeded", "lossless", "no_bias_found"), ("biased, as declared", "lossy", "biased"),
        ("flipped", "lossless", "no_bias_found"), ("biased", "lossless", "biased"),
    ]  # fmt: skip
    assert data["rows"][1]["verdict"]["witness"]["context"] == [2, 0]


def test_ctrl_c_ends_a_matrix(capsys, monkeypatch):
    real = exact.enumerate_law

    def interrupted(subject, *arguments, **keywords):
        import dataclasses

        return dataclasses.replace(real(subject, *arguments, **keywords), stopped="interrupted")

    monkeypatch.setattr(exact, "enumerate_law", interrupted)
    code, out, _ = installed(capsys, "matrix", f"{HERE}:ROWS", "--tokens", 1)
    assert (code, out.count("Ctrl-C ended the enumeration"), "flipped" in out) == (3, 1, False)


@pytest.mark.parametrize(
    "name, message",
    [
        ("no_rows", "must give at least one row, got none"),
        ("bad_rows", "row 0 of tests.audit.subjects:bad_rows must be (name, subject, target)"),
        ("misspelt", 'or these and "lossless" or "lossy"'),
        ("not_callable", "must give a sequence of (name, subject, target), got int"),
        ("honest", "must return its object when called with {}, it raised TypeError"),
    ],
)
def test_a_bad_matrix_is_one_line(name, message, capsys):
    code, out, err = installed(capsys, "matrix", f"{HERE}:{name}")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("how", [["--method", "exact"], ["--method", "sampled", "--samples", 50], ["--replay", "0"]])
def test_what_a_subject_prints_stays_out_of_the_json(how, capsys):
    _, out, err = installed(
        capsys, "audit", f"{HERE}:printing", "--target", f"{HERE}:CHAIN", "--tokens", 1, "--json", *how
    )
    assert json.loads(out) and "hello" in err
