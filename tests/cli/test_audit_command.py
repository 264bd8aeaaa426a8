"""`rheocheck audit` from the outside: what is printed, and the exit code."""

import json

import pytest
from click.testing import CliRunner

from rheocheck.cli import main
from rheocheck.cli.audit import audit
from rheocheck.core.errors import InputError
from rheocheck.core.files import pair_to_json
from tests.audit import subjects

HERE = "tests.audit.subjects"


def run(*arguments):
    return CliRunner().invoke(audit, [str(a) for a in arguments])


@pytest.fixture
def pair_file(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(pair_to_json(subjects.CHAIN))
    return path


def test_no_bias_found_exits_with_0(pair_file):
    result = run(f"{HERE}:honest", "--target", pair_file, "--tokens", 2, "--samples", 2000, "--alpha", 0.001)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("NO BIAS FOUND down to TV 0.0")
    assert 'joint prefix of 2 tokens after context "", against the target' in result.stdout
    assert "method auto chose sampled" in result.stdout
    assert result.stderr == ""


def test_biased_exits_with_1_and_json_is_all_of_stdout(pair_file):
    result = run(f"{HERE}:impossible", "--target", pair_file, "--tokens", 2, "--samples", 2000, "--json", "--seed", 1)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["verdict"], data["p_value"]) == (1, "biased", 0.0)
    assert data["witness"]["context"] == [1]
    assert (data["seed"], data["samples"], data["alpha"]) == (1, 2000, 1e-6)


def test_inconclusive_exits_with_3(pair_file):
    result = run(f"{HERE}:honest", "--target", pair_file, "--samples", 100, "--method", "sampled")
    assert result.exit_code == 3
    assert result.stdout.startswith("INCONCLUSIVE\n")
    assert "note: 100 draws find" in result.stdout
    assert "method auto" not in result.stdout


def test_context_and_settings_reach_both_sides():
    fair = run(
        f"{HERE}:mixture", "--target", f"{HERE}:law_factory", "--set", "weight=0", "--context", "2 0",
        "--tokens", 1, "--samples", 3000, "--alpha", 0.001, "--json",
    )  # fmt: skip
    assert (fair.exit_code, json.loads(fair.stdout)["object"]) == (0, 'first token after context "2 0"')
    biased = run(
        f"{HERE}:mixture", "--target", f"{HERE}:law_factory", "--set", "weight=1", "--set", "name=y",
        "--context", "2 0", "--tokens", 1, "--samples", 6000, "--alpha", 0.001,
    )  # fmt: skip
    assert biased.exit_code == 1
    assert 'witness: after context "2 0"' in biased.stdout


def test_a_baseline_instead_of_a_target():
    result = run(f"{HERE}:honest", "--baseline", f"{HERE}:batched", "--tokens", 1, "--tv", 0.2, "--alpha", 0.001)
    assert result.exit_code == 0
    assert "against the baseline" in result.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "got neither: name a law, or the engine with speculation off"),
        (["--target", "a:b", "--baseline", "a:b"], "got both"),
        (["--target", "a:b", "--samples", "many"], "'many' is not a valid integer"),
        (["--target", "a:b", "--method", "guess"], "'guess' is not one of"),
    ],
)
def test_usage_errors_exit_with_2(arguments, message):
    result = run(f"{HERE}:honest", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([f"{HERE}:honest", "--target", "missing.json"], "must be readable"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--context", "a"], "must be token ids"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--set", "a"], "--set must be KEY=VALUE"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--method", "exact"], "try sampled"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--alpha", "nan"], "--alpha must lie"),
        (["https://host/v1", "--target", f"{HERE}:CHAIN"], "got the endpoint https://host/v1"),
        (["draws.parquet", "--target", f"{HERE}:CHAIN"], "parquet is not supported yet"),
        ([f"{HERE}:nothing", "--target", f"{HERE}:CHAIN"], "has no attribute 'nothing'"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--tokens", "0"], "--tokens must be an integer"),
        ([f"{HERE}:not_callable", "--target", f"{HERE}:CHAIN"], "must be a function"),
    ],
)  # fmt: skip
def test_input_errors_are_one_line(arguments, message):
    """The group turns InputError into one line on stderr and exit code 2."""
    result = run(*arguments)
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["draws.npy", "--target", f"{HERE}:CHAIN"], 2),
        ([f"{HERE}:honest"], 2),
        ([f"{HERE}:impossible", "--target", f"{HERE}:CHAIN", "--samples", "2000"], 1),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--samples", "10"], 3),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--tokens", "1", "--samples", "2000"], 0),
    ],
)
def test_the_installed_command_exits_with_the_verdict(arguments, code, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["audit", *arguments])
    out, err = capsys.readouterr()
    assert caught.value.code == code
    assert (len(err.splitlines()), bool(out)) == ((1, False) if code == 2 else (0, True))


def test_help_names_every_option():
    text = run("--help").stdout
    for option in (
        "target",
        "baseline",
        "context",
        "tokens",
        "method",
        "samples",
        "alpha",
        "tv",
        "rtol",
        "set",
        "seed",
        "json",
    ):
        assert f"--{option}" in text
