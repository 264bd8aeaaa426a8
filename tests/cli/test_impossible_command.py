"""Impossible output and `--eos` from the outside: exit codes, lines, and the replay command that a report prints."""

import json
import shlex

import pytest
from click.testing import CliRunner

from rheocheck.cli import main
from rheocheck.cli.audit import audit
from rheocheck.cli.matrix import matrix
from rheocheck.cli.plan import plan

HERE = "tests.audit.subjects"
TARGET = ("--target", f"{HERE}:CHAIN")


def run(*arguments, command=audit):
    return CliRunner().invoke(command, [str(a) for a in arguments])


def installed(capsys, *arguments):
    """(exit code, stdout, stderr) of the installed command."""
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.parametrize(
    ("subject", "tokens", "came"),
    [
        ("bad_id", 1, "token 1000000, an id outside 0..2: "),
        ("no_output", 1, "no output: "),
        ("stopping_early", 2, "the end of the text: "),
    ],
)
@pytest.mark.parametrize("method", ["exact", "sampled", "auto"])
def test_impossible_output_exits_with_1(subject, tokens, came, method):
    result = run(f"{HERE}:{subject}", *TARGET, "--tokens", tokens, "--method", method)
    assert result.exit_code == 1, result.output
    assert result.stdout.startswith("BIASED\n") and result.stderr.count("drawing") < 2
    (witness,) = [line for line in result.stdout.splitlines() if line.startswith("  witness: ")]
    assert came in witness
    assert ("emitted with probability" if method != "sampled" else " of 1000 draws, emitted with frequency") in witness


def test_the_case_that_began_it(capsys):
    """The id, its probability 1/16 and its path, and the path run again."""
    result = run(f"{HERE}:bad_id", *TARGET, "--tokens", 1, "--method", "exact")
    assert "token 1000000, an id outside 0..2: emitted with probability 0.0625, target 0\n" in result.stdout
    assert "path: 3 random choices, probability 0.0625, emits 1000000\n" in result.stdout
    (command,) = [line.split(": ", 1)[1] for line in result.stdout.splitlines() if line.startswith("  replay: ")]
    code, out, _ = installed(capsys, *shlex.split(command)[1:])
    assert code == 0
    assert 'after context "", token 1000000: target 0\n' in out


def test_no_output_is_replayed_too(capsys):
    result = run(f"{HERE}:no_output", *TARGET, "--tokens", 1, "--method", "exact")
    (command,) = [line.split(": ", 1)[1] for line in result.stdout.splitlines() if line.startswith("  replay: ")]
    code, out, _ = installed(capsys, *shlex.split(command)[1:])
    assert code == 0
    assert "emits no output: weights must have a finite sum above 0 at subjects.py:" in out


def test_json_of_impossible_output():
    found = {}
    for method in ("exact", "sampled"):
        result = run(f"{HERE}:stopping_early", *TARGET, "--tokens", 2, "--eos", 2, "--method", method, "--json")
        found[method] = json.loads(result.stdout)
    assert found["exact"]["witness"] == {
        "context": [1], "token": None, "emitted": 0.5, "target": 0.0, "impossible": "the end of the text", "hits": None
    }  # fmt: skip
    assert (found["exact"]["path"]["word"], found["exact"]["path"]["stop"]) == ([1], "the end of the text")
    assert found["sampled"]["witness"]["hits"] > 50
    assert found["sampled"]["log10_e"] is None and found["sampled"]["statistics"] == {"impossible output": None}


@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_a_subject_that_may_stop(method):
    more = () if method == "exact" else ("--alpha", 1e-3, "--tv", 0.15)
    question = (*TARGET, "--tokens", 2, "--method", method, *more)
    honest = run(f"{HERE}:stopping", *question, "--eos", 2)
    assert (honest.exit_code, honest.stdout.splitlines()[0].split(" down")[0]) == (0, "NO BIAS FOUND"), honest.output
    without = run(f"{HERE}:stopping", *question)
    assert without.exit_code == 1
    assert "if SUBJECT may stop, name its end-of-text token by --eos ID" in without.stdout
    assert run(f"{HERE}:stopping_early", *question, "--eos", 2).exit_code == 1


def test_the_replay_command_names_the_end(capsys):
    result = run(f"{HERE}:stopping_early", *TARGET, "--tokens", 2, "--eos", 2, "--method", "exact")
    (command,) = [line.split(": ", 1)[1] for line in result.stdout.splitlines() if line.startswith("  replay: ")]
    assert "--tokens 2 --eos 2 --replay" in command
    code, out, _ = installed(capsys, *shlex.split(command)[1:])
    assert (code, "emits 1, then the end of the text\n" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--eos", 3), "--eos must be a token of the target, 0..2, got 3"),
        (("--eos", -1), "--eos must be an integer >= 0, got -1"),
    ],
)
def test_a_wrong_end_exits_with_2(capsys, arguments, message):
    code, _, err = installed(capsys, "audit", f"{HERE}:stopping", *TARGET, "--tokens", 2, *arguments)
    assert code == 2
    assert message in err


def test_the_plan_of_stopped_texts_has_fewer_cells():
    sizes = [
        json.loads(run(*TARGET, "--tokens", 3, "--simulate", 0, "--json", *end, command=plan).stdout)["cells"]
        for end in ((), ("--eos", 2))
    ]
    assert sizes[1] < sizes[0]
    assert "--eos must go with --target" in str(run("--cells", 8, "--eos", 2, command=plan).exception)


def test_a_matrix_of_subjects_that_stop(monkeypatch):
    from tests.audit import subjects

    monkeypatch.setattr(subjects, "STOPPING", [("stops", subjects.stopping, subjects.CHAIN)], raising=False)
    assert run(f"{HERE}:STOPPING", "--tokens", 2, "--eos", 2, command=matrix).exit_code in (0, None)
    assert "biased" in run(f"{HERE}:STOPPING", "--tokens", 2, command=matrix).output
