"""`rheocheck audit` from the outside: what is printed, and the exit code."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from rheocheck.cli import main
from rheocheck.cli.audit import audit
from rheocheck.core.errors import InputError
from rheocheck.formats.files import pair_to_json
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
    bound = re.match(r"NO BIAS FOUND down to TV (0\.\d{4}), confidence 99.9%\n", result.stdout)
    assert bound is not None and float(bound[1]) <= 0.134  # what was announced
    assert 'joint prefix of 2 tokens after context "", against the target' in result.stdout
    assert "note: method auto means sampled with --samples" in result.stdout
    assert result.stderr == (
        'joint prefix of 2 tokens after context "", 8 possible words: about 895 draws bound TV by 0.134, '
        "at most 2000 are drawn\n"
    )
    assert "note: not looked at: the bonus token of a decoder with any drafts, and later rounds" in result.stdout


def test_biased_exits_with_1_and_json_is_all_of_stdout(pair_file):
    result = run(f"{HERE}:impossible", "--target", pair_file, "--tokens", 2, "--samples", 2000, "--json", "--seed", 1)
    data = json.loads(result.stdout)
    assert (result.exit_code, data["verdict"], data["p_value"]) == (1, "biased", 0.0)
    assert data["witness"]["context"] == [1]
    assert (data["seed"], data["samples"], data["alpha"]) == (1, 1000, 1e-6)  # decided at the first look
    assert data["confirmation"].startswith("fresh-seed confirmation on 1000 draws: E = infinite, reproduced")


def test_inconclusive_exits_with_3(pair_file):
    result = run(f"{HERE}:honest", "--target", pair_file, "--samples", 100, "--tv", 0.02, "--method", "sampled")
    assert result.exit_code == 3
    assert result.stdout.startswith("INCONCLUSIVE\n")
    assert "note: 100 draws bound TV by 1, asked was 0.02: draw more" in result.stdout
    assert "a bias of TV 0." in result.stdout
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
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--method", "exact", "--depth", 9], "--depth must go with"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--alpha", "nan"], "--alpha must lie"),
        (["https://host/v1", "--target", f"{HERE}:CHAIN"], "got the endpoint https://host/v1"),
        (["draws.parquet", "--target", f"{HERE}:CHAIN"], "must be readable: No such file"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--depth", "2"], "--depth must go with recorded blocks"),
        ([f"{HERE}:honest", "--target", f"{HERE}:CHAIN", "--resume", "no/file"], "must be writable, got No such file"),
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
    assert (len(err.splitlines()), bool(out)) == (1, code != 2)  # the error, or what the verdict will be about


def question(*more, subject="honest"):
    return [f"{HERE}:{subject}", "--target", f"{HERE}:CHAIN", "--tokens", "2", "--tv", "0.02", "--seed", "4", *more]


@pytest.mark.distribution
def test_a_stopped_audit_is_resumed(tmp_path):
    path = tmp_path / "audit.json"
    first = run(*question("--samples", 1250, "--resume", path))
    assert (first.exit_code, path.exists()) == (3, True)
    second = run(*question("--samples", 3054, "--resume", path, "--json"))
    whole = run(*question("--samples", 3054, "--json"))
    assert second.exit_code == whole.exit_code == 3
    resumed, at_once = json.loads(second.stdout), json.loads(whole.stdout)
    assert resumed.pop("notes")[0] == f"resumed from {path}, session 2 of this audit"
    assert (resumed.pop("fresh_draws"), at_once.pop("fresh_draws")) == (200, None)
    del at_once["notes"]
    assert resumed == at_once


@pytest.mark.distribution
def test_settings_belong_to_the_question(tmp_path):
    path = tmp_path / "audit.json"
    ask = ["--set", "weight=0.5", "--samples", 300, "--resume", path]
    assert run(*question(*ask, subject="mixture")).exit_code == 3
    other = run(*question(*["--set", "weight=0.4", *ask[2:]], subject="mixture"))
    assert "got settings = {'weight': 0.5} there and {'weight': 0.4} now" in str(other.exception)


def test_another_question_or_a_damaged_file_is_one_line_and_exit_2(tmp_path, capsys):
    path = tmp_path / "audit.json"
    assert run(*question("--samples", 200, "--resume", path)).exit_code == 3
    whole = path.read_bytes()
    for damage, arguments in ((whole, question(subject="biased")), (whole[:-5], question())):
        path.write_bytes(damage)
        with pytest.raises(SystemExit) as caught:
            main(["audit", *arguments, "--resume", str(path)])
        out, err = capsys.readouterr()
        assert (caught.value.code, out, len(err.splitlines())) == (2, "", 1)
        assert path.read_bytes() == damage


@pytest.mark.distribution
def test_ctrl_c_leaves_a_file_that_is_resumed(tmp_path):
    """A real process and a real signal; what it reports is in the file, and the next one goes on from there."""
    path = tmp_path / "audit.json"
    command = [sys.executable, "-m", "rheocheck", "audit", *question("--resume", str(path), "--json", subject="slow")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:  # it is written before the first draw
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    first = json.loads(out)
    assert (process.returncode, first["verdict"]) == (3, "inconclusive")
    assert len(err.splitlines()) == 1 and "draws bound TV by 0.02" in err
    assert 0 < first["samples"] < 1000
    assert first["notes"][0].startswith(f"interrupted after {first['samples']} of at most ")
    resumed = run(*question("--resume", path, "--samples", 1000, "--json", subject="slow"))
    whole = run(*question("--samples", 1000, "--json", subject="slow"))
    resumed, whole = json.loads(resumed.stdout), json.loads(whole.stdout)
    assert resumed["samples"] == 1000
    assert resumed["total_variation"] == whole["total_variation"]
    assert resumed["cross_check"] == whole["cross_check"]


@pytest.mark.distribution
def test_a_recording_with_a_decode_log(tmp_path):
    lines = [
        {"context": [], "tokens": subjects.honest((), 3, i), "call": i, "row": 0, "blocks": [[2, 3]]}
        for i in range(2000)
    ]
    path = tmp_path / "draws.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run(path, "--target", f"{HERE}:CHAIN", "--tokens", 3, "--depth", 2, "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["samples"], data["seed"]) == (0, 2000, None)
    assert "bonus given context" in data["statistics"]
    refused = run(path, "--target", f"{HERE}:CHAIN", "--tokens", 3)
    assert "--depth must be given with a decode log" in str(refused.exception)


def test_help_names_every_option():
    text = run("--help").stdout
    for option in (
        "target",
        "baseline",
        "context",
        "tokens",
        "method",
        "max-paths",
        "max-seconds",
        "float-tolerance",
        "replay",
        "samples",
        "alpha",
        "tv",
        "rtol",
        "set",
        "depth",
        "seed",
        "resume",
        "json",
    ):
        assert f"--{option}" in text
