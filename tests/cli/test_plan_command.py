"""`rheocheck plan` from the outside: figures that the audit itself goes by, and one line for bad input."""

import json

import pytest
from click.testing import CliRunner

from rheocheck.audit import audit
from rheocheck.cli import main
from rheocheck.cli.plan import plan
from rheocheck.formats.files import pair_to_json
from tests.audit import subjects

HERE = "tests.audit.subjects"


def run(*arguments):
    return CliRunner().invoke(plan, [str(a) for a in arguments])


def figures(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_text_says_what_the_json_says():
    arguments = ["--cells", 8, "--shape", "uniform", "--tv", 0.05, "--samples", 2000]
    found, text = figures(*arguments), run(*arguments).stdout
    assert text.startswith("an audit for TV 0.05 of the first token, uniform law (8 cells), alpha 1e-06\n")
    for line in (
        f"detect  {found['detect']} draws find any bias of TV 0.05 with power 0.999\n",
        f"pass    {found['pass']} draws bound TV by 0.05 when there is none, confidence 0.999\n",
        f"budget  {found['budget']} draws",
        f"cap     {found['cap']} draws",
        f"stop at {found['mean_stop']:.0f} on average, 99% of them by {found['q99_stop']:.0f}\n",
        "with 2000 draws\n",
        f"a bias of TV {found['smallest_detectable_tv']:.4f} or more would be found with probability 99.9%\n",
        f"a correct decoder earns TV <= {found['tv_ruled_out']:.4f}\n",
    ):
        assert line in text


def test_uniform_laws_take_what_the_formulas_say():
    """By rheocheck.stats.plan: 8 and 64 cells pass at 16.2 and 37.7 / tv^2; detection (20 + 6 sqrt k) / tv^2 at 1e-6.

    E is a mean of up to 11 bets, which costs what alpha / 11 does: a factor 1.07."""
    for cells, passes in ((8, 16.2), (64, 37.7)):
        found = figures("--cells", cells, "--shape", "uniform", "--simulate", 0)
        assert found["pass"] == pytest.approx(passes / 0.02**2, rel=0.03)
        assert found["detect"] == pytest.approx(1.07 * (20 + 6 * cells**0.5) / 0.02**2, rel=0.01)
        assert found["budget"] == max(found["pass"], found["detect"])
        assert (found["cap"], found["mean_stop"]) == (4 * found["budget"], None)
        assert found["samples"] == found["budget"]
        assert min(found["smallest_detectable_tv"], found["tv_ruled_out"]) <= 0.0201


def test_simulated_runs_stop_before_the_budget():
    found = figures("--cells", 8, "--tv", 0.05, "--alpha", 1e-3)
    assert 0.1 * found["detect"] < found["mean_stop"] < found["q99_stop"] <= found["detect"]


@pytest.mark.parametrize("changed", [["--tv", 0.01], ["--alpha", 1e-12], ["--power", 0.9999999], ["--delta", 1e-9]])
def test_every_stricter_wish_costs_draws(changed):
    wish = ["--cells", 8, "--shape", "zipf", "--simulate", 0]
    key = "pass" if "--delta" in changed else "detect"
    assert figures(*wish, *changed)[key] > figures(*wish)[key]


@pytest.mark.distribution
def test_the_audit_goes_by_the_plan(tmp_path):
    """The cap, the object, and what so many samples detect are those of the audit itself."""
    path = tmp_path / "pair.json"
    path.write_text(pair_to_json(subjects.CHAIN))
    found = figures("--target", path, "--tokens", 2, "--context", "2 0", "--tv", 0.3, "--samples", 400, "--alpha", 1e-3)
    verdict = audit(subjects.batched, target=subjects.CHAIN, context=(2, 0), tokens=2, tv=1e-6, samples=400, alpha=1e-3)
    assert (found["object"], found["cells"]) == (verdict.object, 8)  # token 0 never follows token 1
    assert found["smallest_detectable_tv"] == verdict.smallest_detectable_tv
    alone = audit(subjects.batched, target=subjects.CHAIN, context=(2, 0), tokens=2, samples=400, alpha=1e-3)
    assert alone.tv == max(found["smallest_detectable_tv"], found["tv_ruled_out"])


def test_a_factory_gets_its_settings():
    found = figures("--target", f"{HERE}:law_factory", "--set", "weight=1", "--tokens", 1, "--simulate", 0)
    assert found["object"] == 'first token after context ""'


def test_a_vocabulary_of_a_language_model():
    found = figures("--cells", 128_256, "--tv", 0.05)
    assert found["pass"] > found["detect"]
    assert found["mean_stop"] is None
    assert any("a large vocabulary makes the bound wide" in note for note in found["notes"])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "exactly one of --target and --cells must be given, got neither"),
        (["--cells", "8", "--target", f"{HERE}:CHAIN"], "got both"),
        (["--cells", "eight"], "'eight' is not a valid integer"),
        (["--cells", "0"], "--cells must lie in 1..1048576, got 0"),
        (["--cells", "2000000"], "--cells must lie in 1..1048576, got 2000000"),
        (["--cells", "8", "--shape", "square"], "'square' is not one of"),
        (["--cells", "8", "--tv", "0"], "--tv must lie strictly between 0 and 1, got 0.0"),
        (["--cells", "8", "--tv", "nan"], "--tv must lie strictly between 0 and 1, got nan"),
        (["--cells", "8", "--alpha", "1"], "--alpha must lie strictly between 0 and 1, got 1.0"),
        (["--cells", "8", "--power", "2"], "--power must lie strictly between 0 and 1, got 2.0"),
        (["--cells", "8", "--delta", "-1"], "--delta must lie strictly between 0 and 1, got -1.0"),
        (["--cells", "8", "--samples", "0"], "--samples must be an integer >= 1, got 0"),
        (["--cells", "8", "--simulate", "-1"], "--simulate must be an integer >= 0, got -1"),
        (["--cells", "8", "--tokens", "0"], "--tokens must be an integer >= 1, got 0"),
        (["--cells", "8", "--drafts", "2"], "--set, --drafts and --context must go with --target"),
        (
            ["--target", f"{HERE}:CHAIN", "--drafts", "3", "--tokens", "4"],
            "must be at least 5 with --drafts 3",
        ),
        (["--target", f"{HERE}:CHAIN", "--tokens", "40"], "must have at most 1048576 possible words, got more of 40"),
        (["--cells", "8", "--context", "1"], "--set, --drafts and --context must go with --target"),
        (["--target", "missing.json"], "must be readable"),
        (["--target", f"{HERE}:CHAIN", "--context", "7"], "the context must hold tokens 0..2, got (7,)"),
        (["--target", f"{HERE}:CHAIN", "--set", "a"], "--set must be KEY=VALUE"),
        (["--target", f"{HERE}:not_callable"], "must be a Pair or a law"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["plan", *arguments])
    out, err = capsys.readouterr()
    assert (caught.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


def test_the_installed_command_exits_with_0(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["plan", "--cells", "8", "--simulate", "0"])
    out, err = capsys.readouterr()
    assert (caught.value.code, err) == (0, "")
    assert "budget" in out
