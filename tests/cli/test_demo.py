"""`rheocheck demo`: the table, both arms of the audit, and what it does without transformers."""

import json

import pytest

from rheocheck.cli import demo as demo_module
from rheocheck.cli import main
from rheocheck.core import MissingExtra
from rheocheck.core.builders import rheo


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["demo", *arguments])
    return ended.value.code, capsys.readouterr().out


@pytest.fixture
def without_transformers(monkeypatch):
    def missing():
        raise MissingExtra("transformers")

    monkeypatch.setattr("rheocheck.adapters.transformers.demo_arms", missing)


@pytest.mark.distribution
def test_all_of_it(capsys):
    """The real thing: 15 exact cells and two audits at alpha 1e-3 with 2,000 draws each and seed 0. The lossy arm's
    exact TV is 0.135, which 800 draws miss in at most 3 of 3,000 runs."""
    code, out = run(capsys, "--json")
    answer = json.loads(out)
    assert code == 0 and answer["as_expected"]
    assert answer["pair"] == "toy_models.survival_bias:pair"
    assert [row["verdict"] for row in answer["table"]] == ["lossless"] * 13 + ["biased"] * 2
    assert [audit["verdict"] for audit in answer["audits"]] == ["no_bias_found", "biased"]
    for audit in answer["audits"]:
        assert audit["alpha"] == 1e-3
        assert 0 < audit["smallest_detectable_tv"] < 1


def test_without_transformers_it_says_what_to_install(capsys, without_transformers):
    code, out = run(capsys)
    assert code == 0
    assert "toy_models.survival_bias:pair" in out
    assert "113/500 = 0.226" in out
    assert out.count("pip install 'rheocheck[hf]'") == 1


def test_an_unexpected_cell_is_exit_1(capsys, without_transformers, monkeypatch):
    """The control: a `naive` that is honest after all."""
    builders = (*demo_module.BUILDERS[:-1], ("naive", rheo, 1))
    monkeypatch.setattr(demo_module, "BUILDERS", builders)
    code, out = run(capsys)
    assert code == 1
    assert "lossless (expected: biased)" in out
    assert "NOT as expected" in out
