"""Samples files: what they may hold, and the line of what they may not."""

import json

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.audit.samples_file import read_samples
from rheocheck.audit.subject import load_subject
from rheocheck.core.errors import InputError
from tests.audit import subjects


def record(n=3000, context=(), start=0):
    return [{"context": list(context), "tokens": subjects.honest(context, 3, start + i)} for i in range(n)]


def write_lines(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return str(path)


@pytest.mark.distribution
def test_npy_and_jsonl_give_the_same_verdict(tmp_path):
    draws = record()
    np.save(tmp_path / "draws.npy", np.array([r["tokens"] for r in draws]))
    write_lines(tmp_path / "draws.jsonl", draws)
    verdicts = [
        audit(str(tmp_path / name), target=subjects.CHAIN, tokens=2, alpha=1e-3)
        for name in ("draws.npy", "draws.jsonl")
    ]
    assert verdicts[0] == verdicts[1]
    assert (verdicts[0].verdict, verdicts[0].samples, verdicts[0].seed) == ("no_bias_found", 3000, None)


@pytest.mark.distribution
def test_a_recorded_bias_is_found(tmp_path):
    np.save(tmp_path / "draws.npy", np.array([subjects.impossible((), 3, i) for i in range(2000)]))
    verdict = audit(str(tmp_path / "draws.npy"), target=subjects.CHAIN, tokens=2)
    assert (verdict.verdict, verdict.witness.context) == ("biased", (1,))


def test_a_recording_meets_a_live_baseline(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(1000))
    verdict = audit(path, baseline=subjects.honest, tokens=1, alpha=1e-3)
    assert (verdict.verdict, verdict.samples) == ("no_bias_found", 1000)


def test_other_contexts_are_left_out(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(3, (0,)) + record(2, ()) + [{"tokens": [1, 2, 2]}])
    assert [row.tolist() for row in read_samples(path, ()).rows][-1] == [1, 2, 2]
    assert len(read_samples(path, ()).rows) == 3
    assert len(read_samples(path, (0,)).rows) == 3
    with pytest.raises(InputError, match=r'after the audited context "1", it has these contexts: "0" \(3\), "" \(3\)'):
        read_samples(path, (1,))


def test_samples_takes_the_first_draws_and_no_more_than_there_are(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(400))
    assert audit(path, target=subjects.CHAIN, tokens=1, samples=100).samples == 100
    with pytest.raises(InputError, match="--samples must be at most the recorded 400 draws, got 500"):
        audit(path, target=subjects.CHAIN, tokens=1, samples=500)


LINES = {
    "cut off": ('{"tokens": [0, 1]}\n{"tokens": [0, ', "line 2: must be one JSON object.*is it cut off"),
    "no tokens": ('{"context": []}\n', 'line 1: must be an object with the key "tokens"'),
    "a list": ("[0, 1]\n", 'line 1: must be an object with the key "tokens"'),
    "float ids": ('{"tokens": [0, 1.0]}\n', "line 1: tokens must be a list of token ids"),
    "text ids": ('{"tokens": "01"}\n', "line 1: tokens must be a list of token ids"),
    "bool ids": ('{"tokens": [true]}\n', "line 1: tokens must be a list of token ids"),
    "negative": ('{"tokens": [0, -1]}\n', "line 1: tokens must be a list of token ids"),
    "bad context": ('{"context": "0", "tokens": [0]}\n', "line 1: context must be a list of token ids"),
    "short": ('{"tokens": [0, 1]}\n\n{"tokens": [0]}\n', "line 3: a draw must have at least 2 tokens, got 1"),
    "outside": ('{"tokens": [0, 1]}\n{"tokens": [0, 3]}\n', r"line 2: token ids must be in 0..2, got 3"),
    "empty": ("", "must hold at least one draw, got none"),
    "nested": ("[" * 100_000, "line 1: must be one JSON object"),
    "NaN": ('{"tokens": [NaN, 0]}\n', "line 1: tokens must be a list of token ids"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_named(tmp_path, name):
    text, message = LINES[name]
    path = tmp_path / "draws.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        audit(str(path), target=subjects.CHAIN, tokens=2)
    assert "\n" not in str(caught.value)


ARRAYS = {
    "floats": (
        np.zeros((3, 2)),
        r"must hold integers of shape \[draws, tokens\], got float64 of shape \(3, 2\)",
    ),
    "one row": (np.zeros(3, int), r"got int64 of shape \(3,\)"),
    "bools": (np.zeros((3, 2), bool), "got bool of shape"),
    "short": (np.zeros((3, 1), int), "row 0: a draw must have at least 2 tokens, got 1"),
    "negative": (np.array([[0, 1], [0, -1]]), "row 1: token ids must be in 0..2, got -1"),
    "outside": (np.array([[0, 1], [0, 3]]), "row 1: token ids must be in 0..2, got 3"),
    "none": (np.zeros((0, 2), int), "must hold at least one draw, got none"),
    "objects": (np.array([[0, None]], dtype=object), "must be a whole .npy file"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_bad_array_is_named(tmp_path, name):
    array, message = ARRAYS[name]
    np.save(tmp_path / "draws.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=message) as caught:
        audit(str(tmp_path / "draws.npy"), target=subjects.CHAIN, tokens=2)
    assert "\n" not in str(caught.value)


def test_broken_files(tmp_path):
    np.save(tmp_path / "cut.npy", np.zeros((100, 3), int))
    whole = (tmp_path / "cut.npy").read_bytes()
    cases = {
        "cut.npy": (whole[:-7], "must be a whole .npy file"),
        "empty.npy": (b"", "must be a whole .npy file"),
        "text.npy": (b"not an array", "must be a whole .npy file"),
        "latin.jsonl": (
            '{"tokens": [0, 1], "note": "\xe9"}\n'.encode("latin-1"),
            "must be JSON lines in UTF-8",
        ),
        "draws.parquet": (b"PAR1", "parquet is not supported yet; write one JSON object a line"),
        "draws.csv": (b"0,1\n", "must end in .npy or .jsonl"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message) as caught:
            load_subject(str(tmp_path / name), {}, ())
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="must be readable: No such file"):
        load_subject(str(tmp_path / "missing.jsonl"), {}, ())
    with pytest.raises(InputError, match="--set must go with a factory, got the samples file"):
        load_subject(str(tmp_path / "draws.csv"), {"a": 1}, ())
