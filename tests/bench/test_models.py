"""Models are trained once, taken when they fit, and trained anew when anything that they depend on differs."""

import dataclasses
import shutil

import pytest
import torch

from rheocheck.bench import models
from rheocheck.bench import run as running
from rheocheck.bench.models import prepare
from rheocheck.bench.settings import QUICK, Settings
from rheocheck.core.errors import InputError
from tests.generation.llamas import one_thread  # noqa: F401

SIZE = dataclasses.replace(QUICK.target, steps=2, hidden=16)
SETTINGS = dataclasses.replace(QUICK, target=SIZE, drafter=SIZE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "new"
    assert not prepare(folder, SETTINGS).reused
    return folder


def test_they_are_taken_from_the_folder(folder):
    again = prepare(folder, dataclasses.replace(SETTINGS, prompts=3, new_tokens=2))  # which models do not depend on
    assert again.reused and len(again.prompts) == 3
    assert all(len(prompt) == SETTINGS.prompt_tokens for prompt in again.prompts)
    assert not torch.equal(*(model.model.embed_tokens.weight for model in again.models))
    assert set(again.training["held_out_nats"]) >= {"target", "drafter"}
    assert again.training["parameters"]["target"] == again.target.num_parameters()


def test_another_seed_trains_anew(folder):
    before = prepare(folder, SETTINGS).digest
    other = prepare(folder, dataclasses.replace(SETTINGS, seed=7))
    assert not other.reused and other.digest != before
    assert prepare(folder, SETTINGS).digest == before  # and the first seed gives the first weights again


@pytest.mark.parametrize(
    ("name", "damaged"),
    [
        ("training.json", b"{"),
        ("training.json", b"[]"),
        ("training.json", b"\xff"),
        ("tokenizer.json", b"{"),
        ("target.pt", b"nothing"),
        ("drafter.pt", None),
    ],
)
def test_a_damaged_file_is_one_line(folder, tmp_path, name, damaged):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / name).unlink() if damaged is None else (copy / name).write_bytes(damaged)
    with pytest.raises(InputError, match=f"{name} must be as it was written, got .*; start over with --fresh"):
        prepare(copy, SETTINGS)


def test_a_folder_that_takes_no_files_is_found_out_before_training(tmp_path, monkeypatch):
    def never(*arguments, **named):
        raise AssertionError("trained")

    monkeypatch.setattr(models, "train", never)
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(OSError, match="tokenizer.json"):
        prepare(tmp_path, SETTINGS)


def test_pieces_of_other_versions_do_not_count(tmp_path, monkeypatch):
    """What another torch decoded is neither counted nor reported as that of this one."""
    runs = []

    class Seen:
        def __init__(self, path, fingerprint):
            runs.append(fingerprint)

        def remembered(self, piece, measure):
            return piece

    monkeypatch.setattr(running, "Ledger", Seen)
    monkeypatch.setattr(running, "ClaimEvidence", list)
    prepared = running.Prepared(None, None, (), torch.zeros(0), {}, "weights", True)
    running._decode(tmp_path, SETTINGS, prepared)
    running._decode(tmp_path, SETTINGS, prepared)
    monkeypatch.setattr(running, "version", lambda name: "another")
    running._decode(tmp_path, SETTINGS, prepared)
    assert runs[0] == runs[1] != runs[2]


def test_fresh_forgets_models_and_pieces(tmp_path, monkeypatch):
    def stop(folder, settings):
        raise InputError("stopped")

    monkeypatch.setattr(running, "prepare", stop)
    for name in ("training.json", "cells.jsonl", "claims.md"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match="stopped"):
        running.run(tmp_path, SETTINGS)
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(InputError, match="stopped"):
        running.run(tmp_path, SETTINGS, fresh=True)
    assert [path.name for path in tmp_path.iterdir()] == ["claims.md"]


def test_a_drafter_of_another_width_is_refused():
    with pytest.raises(InputError, match="drafter must be as wide as the target and no deeper"):
        dataclasses.replace(SETTINGS, drafter=dataclasses.replace(SIZE, hidden=32))


def test_texts_beyond_the_windows_are_refused():
    with pytest.raises(InputError, match="new_tokens must be at most 96, which with prompt and tree fill the windows"):
        Settings(new_tokens=97)
