"""`rheocheck verify` as a process would use it: answers, exit codes, and one line for every kind of bad input."""

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from rheocheck.cli import main

GOLDEN = Path(__file__).parents[1] / "golden"
MARKOV = str(GOLDEN / "markov.json")
PLUGINS = "tests.cli.plugins"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["verify", *map(str, arguments)])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_lossless(capsys):
    code, out, err = run(capsys, MARKOV)
    assert (code, err) == (0, "")
    assert out.startswith("lossless: rheo + rheo on ")
    assert "all honest" in out


def test_biased_with_a_witness(capsys):
    code, out, _ = run(capsys, MARKOV, "--builder", "naive", "-K", 3, "-N", 8)
    assert code == 1
    assert "witness          after 0, token 1: emitted 96/1525" in out


def test_json_keys(capsys):
    code, out, _ = run(capsys, MARKOV, "--builder", "naive", "-K", 3, "-N", 8, "--json")
    answer = json.loads(out)
    assert code == 1
    assert (answer["verdict"], answer["method"]) == ("biased", "exact")
    assert Fraction(answer["total_variation"]) > 0
    assert answer["total_variation_lower"] == answer["total_variation_upper"] == answer["total_variation"]
    assert answer["witness"] == {"context": [0], "token": 1, "emitted": "96/1525", "target": "12/61"}
    assert answer["assignments"] == str(4**7)
    assert set(answer) == {
        "verdict", "method", "seconds", "tokens", "total_variation", "total_variation_lower", "total_variation_upper",
        "first_token_total_variation", "expected_length", "classes", "assignments", "covered", "stopped",
        "first_tokens", "false_claims", "fallbacks", "acceptance", "optimal_acceptance", "witness", "assumes", "reason",
    }  # fmt: skip


def test_import_strings(capsys):
    code, out, _ = run(capsys, f"{PLUGINS}:pair", "--builder", f"{PLUGINS}:rule", "--verifier", f"{PLUGINS}:verifier")
    assert (code, out.split(":")[0]) == (0, "lossless")
    assert run(capsys, f"{PLUGINS}:make_pair")[0] == 0
    assert run(capsys, f"{PLUGINS}:pair", "--builder", f"{PLUGINS}:builder", "-N", 2)[0] == 0


def test_more_branching_than_vocabulary_works(capsys):
    assert run(capsys, MARKOV, "-K", 12)[0] == 0


def test_no_nodes_is_plain_target_sampling(capsys):
    code, out, _ = run(capsys, MARKOV, "-N", 0, "--json")
    assert (code, json.loads(out)["expected_length"]) == (0, "1")


def test_tokens(capsys):
    code, out, _ = run(capsys, MARKOV, "--builder", "naive", "--tokens", 5, "-N", 4, "--json")
    assert (code, json.loads(out)["tokens"]) == (1, 5)


def test_context(capsys):
    code, out, _ = run(capsys, MARKOV, "--builder", "naive", "--context", "2 1", "-K", 3, "--json")
    assert code == 1 and json.loads(out)["witness"]["context"] == [2, 1, 2]


def test_certificate(capsys):
    code, out, _ = run(capsys, MARKOV, "--method", "certificate", "-N", 59, "-D", 8)
    assert code == 0 and "by certificate" in out and "assumes" in out
    code, out, _ = run(capsys, MARKOV, "--method", "certificate", "--builder", "naive")
    assert code == 3 and "cannot say" in out


def test_budgets_print_an_interval(capsys):
    code, out, _ = run(capsys, MARKOV, "-N", 24, "-D", 4, "--max-classes", 5)
    assert code == 3 and out.startswith("inconclusive") and "between 0 and" in out and "stopped (max_classes)" in out
    code, out, _ = run(capsys, MARKOV, "-N", 40, "-D", 6, "--max-seconds", 0.1, "--json")
    answer = json.loads(out)
    assert (code, answer["method"], answer["stopped"]) == (3, "interval", "max_seconds")
    assert Fraction(answer["total_variation_upper"]) > 0 == Fraction(answer["total_variation_lower"])
    assert answer["total_variation"] is None


def test_an_interval_above_zero_is_a_verdict(capsys):
    code, out, _ = run(capsys, MARKOV, "--builder", "naive", "-K", 3, "--max-classes", 20)
    assert code == 1 and out.startswith("biased") and "the prefix comes with at least" in out


BAD = {
    "missing file": (["nowhere.json"], "pair file 'nowhere.json' must be readable"),
    "not JSON": ([str(GOLDEN.parent / "oracle.py")], "must be JSON"),
    "unknown builder": ([MARKOV, "--builder", "best"], "builder must be one of top_k, rheo, naive, sampled"),
    "unknown verifier": ([MARKOV, "--verifier", "best"], "verifier must be one of matching, recursive, rheo"),
    "N = -1": ([MARKOV, "-N", "-1"], "nodes must be an integer of at least 0, got -1"),
    "K = 0": ([MARKOV, "-K", "0"], "branching must be an integer of at least 1, got 0"),
    "D = 0": ([MARKOV, "-D", "0"], "depth must be an integer of at least 1, got 0"),
    "m = -1": ([MARKOV, "-m", "-1"], "leads must be an integer of at least 0, got -1"),
    "F = 0": ([MARKOV, "-F", "0"], "frontier must be an integer of at least 1, got 0"),
    "tokens 0": ([MARKOV, "--tokens", "0"], "tokens must be an integer of at least 1, got 0"),
    "non-numeric": ([MARKOV, "-N", "many"], "'many' is not a valid integer"),
    "max-classes 0": ([MARKOV, "--max-classes", "0"], "0 is not in the range x>=1"),
    "context text": ([MARKOV, "--context", "a b"], "token ids separated by spaces"),
    "context outside": ([MARKOV, "--context", "7"], "tokens 0..4, got (7,)"),
    "no module": (["no.such:pair"], "importing 'no.such' failed"),
    "no attribute": ([f"{PLUGINS}:nothing"], "has no attribute 'nothing'"),
    "not a pair": ([f"{PLUGINS}:number"], "must be a Pair or a function returning one, got int"),
    "pair function fails": ([f"{PLUGINS}:rule"], "calling it failed with TypeError"),
    "builder is no function": ([MARKOV, "--builder", f"{PLUGINS}:pair"], "must be callable"),
    "builder of another form": ([MARKOV, "--builder", f"{PLUGINS}:make_pair"], "a builder must be a rule(q, K, m)"),
    "weight above 1": ([MARKOV, "--builder", f"{PLUGINS}:heavy"], "must lie in [0, 1], got 2"),
    "builder raises": ([MARKOV, "--builder", f"{PLUGINS}:broken"], "builder 'broken' at context '2' raised KeyError"),
    "builder returns no tree": ([MARKOV, "--builder", f"{PLUGINS}:treeless"], "must return a Tree, got list"),
    "verifier raises": ([MARKOV, "--verifier", f"{PLUGINS}:stuck"], "verifier 'stuck' at context '' raised"),
    "rheo over several draws": ([MARKOV, "--builder", "sampled", "-N", "2"], "at most one drawn child a node"),
    "builder exits": ([MARKOV, "--builder", f"{PLUGINS}:exits"], "builder 'exits' at context '' raised SystemExit"),
    "builder draws elsewhere": ([MARKOV, "--builder", f"{PLUGINS}:impure"], "must depend on its chance alone"),
    "root slots unsorted": ([MARKOV, "--builder", f"{PLUGINS}:unsorted"], "children must stand in slot order"),
    "claim is no law": ([MARKOV, "--builder", f"{PLUGINS}:lawless"], "must be 5 exact probabilities"),
    "tree too deep": ([MARKOV, "--builder", f"{PLUGINS}:deep"], "at most 500 layers"),
    "verifier draws elsewhere": (
        [MARKOV, "--verifier", f"{PLUGINS}:impure_verifier"],
        "must depend on its chance alone",
    ),
    "too many words": ([MARKOV, "--tokens", "99"], "at most 2^20 words, got 5^99"),
    "attribute of a number": ([f"{PLUGINS}:number.zz"], "has no attribute 'zz'"),
    "long name": (["a" * 5000 + ":b"], "importing"),
    "no such option": ([MARKOV, "--speed"], "No such option"),
    "no pair": ([], "Missing argument 'PAIR'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_2(capsys, name):
    arguments, wanted = BAD[name]
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert wanted in err
    assert err.count("\n") == 1


def test_an_internal_error_never_looks_like_biased(capsys, monkeypatch):
    monkeypatch.setattr("rheocheck.cli.verify.verify_text", lambda *_, **__: 1 / 0)
    code, out, err = run(capsys, MARKOV)
    assert (code, out) == (2, "")
    assert "internal error, please report it: ZeroDivisionError" in err


@pytest.mark.parametrize("guest", ["cancelled", "gone"])
@pytest.mark.parametrize(
    "command",
    [
        ["verify", MARKOV, "--verifier"],
        ["audit", "--baseline", f"{PLUGINS}:gone", "--method", "sampled"],
        ["audit", "--target", f"{PLUGINS}:pair", "--method", "exact"],
        ["audit", "--target", f"{PLUGINS}:pair", "--method", "sampled"],
    ],
)
def test_what_passes_by_exception_never_looks_like_biased(capsys, command, guest):
    """A traceback leaves with exit code 1, which means biased."""
    with pytest.raises(SystemExit) as ended:
        main([*command, f"{PLUGINS}:{guest}"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    *_, last = err.splitlines()
    assert last.startswith("rheocheck: error: ") and " at plugins.py:" in last and "no more" in last
    assert "Traceback" not in err


def test_huge_answers_are_written(capsys):
    """More digits than Python writes by default."""
    assert run(capsys, f"{PLUGINS}:pair", "-D", 3000, "-N", 3, "--json")[0] == 0
    assert run(capsys, f"{PLUGINS}:tiny")[0] == 0


def test_an_endless_builder_is_interrupted(capsys):
    """--max-seconds holds for code that does not look at it, a few seconds later."""
    code, out, _ = run(capsys, MARKOV, "--builder", f"{PLUGINS}:endless", "--max-seconds", 0.2, "--json")
    answer = json.loads(out)
    assert (code, answer["method"], answer["covered"]) == (3, "interval", "0")


def test_time_is_kept_outside_the_enumeration(capsys):
    """A joint law of 8 tokens takes minutes; what is known after a second is an interval."""
    arguments = ["toy_models.survival_bias:pair", "--tokens", 10, "--max-seconds", 1, "--json"]
    code, out, _ = run(capsys, *arguments)
    assert (code, json.loads(out)["stopped"]) == (3, "max_seconds")
    assert json.loads(out)["method"] == "interval"


def test_first_token_of_an_interval_is_exact(capsys):
    """The README's own example, cut after 2 of 4 classes: deeper nodes still compete for the budget."""
    arguments = ["toy_models.survival_bias:pair", "--builder", "naive", "-K", 3, "-D", 2, "-N", 4]
    code, out, _ = run(capsys, *arguments, "--max-classes", 3, "--json")
    answer = json.loads(out)
    assert answer["method"] == "interval"
    assert answer["first_token_total_variation"] in (None, "1/5")
    whole = json.loads(run(capsys, *arguments, "--json")[1])
    assert whole["first_token_total_variation"] == "1/5"


def test_ctrl_c_reports_what_was_covered():
    """A real process, interrupted for real: the interval so far and exit 3."""
    command = [
        sys.executable,
        "-m",
        "rheocheck",
        "verify",
        MARKOV,
        "-N",
        "59",
        "-D",
        "8",
        "-K",
        "5",
        "-m",
        "0",
        "--json",
    ]
    environment = {**os.environ, "PYTHONPATH": str(GOLDEN.parents[1])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    answer = json.loads(out)
    assert (process.returncode, answer["stopped"], answer["verdict"]) == (3, "interrupted", "inconclusive"), err
    assert 0 < Fraction(answer["covered"]) < 1
    assert answer["classes"] > 0
