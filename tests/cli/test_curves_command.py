"""`rheocheck curves` as a process would use it: the table, JSON, pictures, budgets, and one line for bad input."""

import json
import os
import signal
import sys
from fractions import Fraction

import pytest

from rheocheck.cli import main
from rheocheck.core import BUILDERS, VERIFIERS, Shape, build
from rheocheck.exact import sweep, verify
from rheocheck.formats import load_pair

TOY = "toy_models.one_lead:pair"
PLUGINS = "tests.cli.plugins"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["curves", *map(str, arguments)])
    printed = capsys.readouterr()
    return ended.value.code, printed.out, printed.err


def test_the_default_question(capsys):
    code, out, err = run(capsys, TOY, "-D", 2)
    assert (code, err) == (0, "")
    assert out.startswith(f"exact curves over m on {TOY} (K=4 D=2 N=8 F=4)\n")
    assert out.count("best\n") == 2  # top_k does not look at m: none of its points is best
    assert "m = 1 is best for rheo + rheo: 2.8848 tokens, +0.8948 over top_k + recursive, +0.2500 at m = 3\n" in out
    assert "BIASED" not in out


def test_json(capsys):
    code, out, _ = run(capsys, TOY, "--over", "K", "--values", "1,3", "-N", 6, "--method", "rheo+recursive", "--json")
    answer = json.loads(out)
    assert code == 0 and set(answer) == {"over", "values", "sizes", "curves"}
    assert (answer["over"], answer["values"], answer["sizes"]) == ("K", [1, 3], {"m": 1, "D": 3, "N": 6})
    (curve,) = answer["curves"]
    assert set(curve) == {"method", "best", "points", "left_out"}
    assert (curve["method"], curve["best"], curve["left_out"]) == ("rheo + recursive", 3, [])
    there = sweep(load_pair(TOY), "K", [1, 3]).curves[1]  # N = 8: another question
    assert [set(point) for point in curve["points"]] == 2 * [{
        "value", "expected_length", "ceiling", "acceptance", "optimal_acceptance", "levels", "total_variation",
        "probe_survival", "probe_acceptance", "classes", "seconds",
    }]  # fmt: skip
    assert Fraction(curve["points"][1]["expected_length"]) < there.points[1].expected_length
    lossless = [point["total_variation"] for point in curve["points"]]
    assert lossless == ["0", "0"] and len(curve["points"][0]["levels"]) == 3


def test_options_reach_the_engine(capsys):
    out = run(
        capsys, f"{PLUGINS}:pair", "--values", "1", "-K", 3, "-D", 2, "-N", 5, "-F", 1, "--context", "1",
        "--method", "naive+rheo", "--json",
    )[1]  # fmt: skip
    (point,) = json.loads(out)["curves"][0]["points"]
    shape = Shape(leads=1, branching=3, depth=2, nodes=5, frontier=1)
    found = verify(load_pair(f"{PLUGINS}:pair"), BUILDERS["naive"], VERIFIERS["rheo"], shape, context=(1,))
    assert point["expected_length"] == str(found.expected_length)
    assert point["total_variation"] == str(found.total_variation)


def test_a_biased_control_is_flagged(capsys):
    code, out, _ = run(capsys, TOY, "-D", 2, "--method", "rheo+rheo", "--method", "naive+rheo")
    assert code == 0
    assert "naive + rheo is BIASED at m = 0, 1, 2 (TV up to 0.0591): its length there is no gain" in out
    rows = [line for line in out.splitlines() if line.startswith("naive + rheo  ")]
    assert [row.split()[-1] for row in rows] == ["BIASED", "BIASED", "BIASED", "0"]
    assert "best for naive" not in out


def test_temperatures(capsys):
    code, out, _ = run(capsys, TOY, "-D", 2, "--over", "T", "--values", "0,0.5,1..2")
    assert code == 0
    columns = [line.split()[3] for line in out.splitlines() if line.startswith("top_k + recursive  ")]
    assert columns == ["0", "0.5", "1", "2"]
    assert "its acceptance at the root: 1.0000 at T = 0, 0.7071 at T = 2" in out


def test_methods_of_the_user(capsys):
    code, out, _ = run(capsys, f"{PLUGINS}:pair", "--values", 1, "--method", f"{PLUGINS}:rule + {PLUGINS}:verifier")
    assert code == 0 and f"{PLUGINS}:rule + {PLUGINS}:verifier" in out


def test_what_does_not_fit_is_named(capsys):
    code, out, _ = run(capsys, TOY, "-D", 2, "--max-classes", 5)
    assert code == 0
    assert "left out: rheo + rheo at m = 0 (--max-classes; " in out and "% of the probability covered)" in out
    assert "rheo + rheo        0       -" in out
    code, out, _ = run(capsys, TOY, "-D", 2, "--max-seconds", 0, "--json")
    answer = json.loads(out)
    assert code == 3
    assert {point["stopped"] for curve in answer["curves"] for point in curve["left_out"]} == {"max_seconds"}
    assert all(curve["best"] is None and not curve["points"] for curve in answer["curves"])


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture(capsys, tmp_path, suffix):
    path = tmp_path / f"curves.{suffix}"
    assert run(capsys, TOY, "-D", 2, "--method", "naive+rheo", "--plot", path)[0] == 0
    written = path.read_bytes()
    assert written.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    if suffix == "svg":
        assert b"naive + rheo (BIASED)" in written


def test_a_picture_that_cannot_be_written_costs_no_answer(capsys, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    code, out, err = run(capsys, TOY, "-D", 2, "--values", 1, "--plot", tmp_path / "curves.svg")
    assert (code, err.count("\n")) == (2, 1)
    assert "--plot must be a file that can be written, got " in err and err.endswith(": No space left on device\n")
    assert out.startswith(f"exact curves over m on {TOY} (")


def test_a_frontier_that_was_asked_for_stays(capsys):
    """Even one equal to the default K, which is swept: it must not follow."""
    out = run(capsys, TOY, "--over", "K", "--values", 2, "-F", 4, "-N", 20, "--method", "top_k+rheo", "--json")[1]
    answer = json.loads(out)
    shape = Shape(branching=2, nodes=20, frontier=4)
    there = verify(load_pair(TOY), BUILDERS["top_k"], VERIFIERS["rheo"], shape)
    follows = verify(load_pair(TOY), BUILDERS["top_k"], VERIFIERS["rheo"], Shape(branching=2, nodes=20))
    assert answer["sizes"]["F"] == 4
    assert answer["curves"][0]["points"][0]["expected_length"] == str(there.expected_length)
    assert there.expected_length != follows.expected_length


def test_a_context_is_named(capsys):
    out = run(capsys, TOY, "-D", 2, "--values", 1, "--context", "0 1")[1]
    assert out.startswith(f'exact curves over m on {TOY} after "0 1" (')


def test_of_nothing_no_picture_is_drawn(capsys, tmp_path):
    assert run(capsys, TOY, "-D", 2, "--max-seconds", 0, "--plot", tmp_path / "curves.svg")[0] == 3
    assert not list(tmp_path.iterdir())


def test_no_matplotlib_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, TOY, "--plot", tmp_path / "curves.png")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "matplotlib" in err and "pip install 'rheocheck[plots]'" in err


BAD = {
    "missing file": (["nowhere.json"], "pair file 'nowhere.json' must be readable"),
    "over": ([TOY, "--over", "F"], "is not one of 'm', 'T', 'K', 'D', 'N'"),
    "values": ([TOY, "--values", "a..b"], "--values must be integers, such as"),
    "negative": ([TOY, "--values", "-1"], "--values must be integers, such as"),
    "decimal size": ([TOY, "--values", "0.5"], "--values must be integers, such as"),
    "no number": ([TOY, "--over", "T", "--values", "hot"], "--values must be decimals, such as"),
    "empty range": ([TOY, "--values", "3..1"], "--values must be 1 to 200 numbers"),
    "too many": ([TOY, "--values", "0..900000"], "--values must be 1 to 200 numbers"),
    "twice": ([TOY, "--values", "1,1"], "values must be some numbers, each once"),
    "K = 0": ([TOY, "--over", "K", "--values", "0..2"], "branching must be an integer of at least 1, got 0"),
    "D = 0": ([TOY, "-D", "0"], "depth must be an integer of at least 1, got 0"),
    "method": ([TOY, "--method", "rheo"], "--method must be BUILDER+VERIFIER, got 'rheo'"),
    "builder": ([TOY, "--method", "best+rheo"], "builder must be one of top_k, rheo, naive, sampled"),
    "verifier": ([TOY, "--method", "rheo+best"], "verifier must be one of matching, recursive, rheo"),
    "method twice": ([TOY, "--method", "rheo+rheo", "--method", "rheo + rheo"], "each named once"),
    "rheo over several draws": ([TOY, "--method", "sampled+rheo", "-D", "1", "-N", "2"], "at most one drawn child"),
    "context": ([TOY, "--context", "9"], "the context must hold tokens 0..5"),
    "picture": ([TOY, "--plot", "curves.pdf"], "--plot must be a file ending in .png or .svg"),
    "folder": ([TOY, "--plot", "no/such/curves.png"], "--plot must be a file in a folder that exists"),
    "no time": ([TOY, "--max-seconds", "nan"], "max_seconds must be a number of at least 0, got nan"),
    "a folder": ([TOY, "--plot", "tests.svg"], "--plot must be a file, got the folder 'tests.svg'"),
    "no pair": ([], "Missing argument 'PAIR'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_2(capsys, monkeypatch, tmp_path, name):
    arguments, wanted = BAD[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests.svg").mkdir()
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert wanted in err


def test_an_endless_builder_is_left_out_and_the_sweep_goes_on(capsys, monkeypatch):
    monkeypatch.setattr("rheocheck.cli.verify.GRACE", 0.2)
    arguments = [f"{PLUGINS}:pair", "--values", 1, "--max-seconds", 0.2, "--json"]
    code, out, _ = run(capsys, *arguments, "--method", f"{PLUGINS}:endless+rheo", "--method", "top_k+rheo")
    endless, fixed = json.loads(out)["curves"]
    assert (code, endless["points"], len(fixed["points"])) == (0, [], 1)
    assert endless["left_out"] == [{"value": 1, "stopped": "max_seconds", "covered": "0"}]


def test_ctrl_c_ends_the_sweep_whatever_the_clock_says(capsys, monkeypatch):
    """The clock runs out while code that looks at neither is on its way to be interrupted: it is still Ctrl-C."""
    monkeypatch.setattr("rheocheck.cli.verify.GRACE", 0.3)
    arguments = [f"{PLUGINS}:pair", "--values", "1,2", "--max-seconds", 0.2, "--method", f"{__name__}:impatient+rheo"]
    code, out, _ = run(capsys, *arguments, "--method", "top_k+rheo", "--json")
    assert code == 3
    for curve in json.loads(out)["curves"]:
        assert [point["stopped"] for point in curve["left_out"]] == ["interrupted", "interrupted"]


def impatient(pair, context, chance, shape):
    """An endless builder at which somebody presses Ctrl-C at once."""
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass


def test_an_endless_verifier_is_interrupted_even_when_the_trees_took_all_the_time(capsys, monkeypatch):
    monkeypatch.setattr("rheocheck.cli.verify.GRACE", 0.2)
    method = f"rheo+{__name__}:undecided"
    code, out, _ = run(capsys, TOY, "-D", 2, "--values", 1, "--max-seconds", 0, "--method", method, "--json")
    (curve,) = json.loads(out)["curves"]
    assert (code, curve["left_out"]) == (3, [{"value": 1, "stopped": "max_seconds", "covered": "0"}])


def undecided(p, children, chance):
    """A verifier that never ends, though not for ever, so that a test of it does."""
    for _ in range(400_000_000):
        pass
    return chance.choose(p), False


def test_infinite_seconds_are_no_limit(capsys):
    assert run(capsys, TOY, "-D", 2, "--values", 1, "--max-seconds", "inf")[0] == 0


def interrupting(pair, context, chance, shape):
    """A builder at whose larger trees somebody presses Ctrl-C."""
    if shape.nodes > 2:
        os.kill(os.getpid(), signal.SIGINT)
    return build(BUILDERS["rheo"], pair, context, chance, shape)


def test_ctrl_c_keeps_the_points_so_far(capsys):
    """A real signal: what was done is printed, and the rest is left out, the other method's points too."""
    mine = f"{__name__}:interrupting"
    arguments = [TOY, "--over", "N", "--values", "2,3,4", "--method", f"{mine}+rheo", "--method", "top_k+rheo"]
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    for curve in json.loads(out)["curves"]:
        assert [point["value"] for point in curve["points"]] == [2]
        assert [(point["value"], point["stopped"]) for point in curve["left_out"]] == [
            (3, "interrupted"),
            (4, "interrupted"),
        ]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
