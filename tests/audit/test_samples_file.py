"""Samples files: what they may hold, and the line of what they may not."""

import json
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from rheocheck.audit import audit
from rheocheck.audit.subject import load_subject
from rheocheck.core.errors import InputError, MissingExtra
from tests.audit import subjects


def record(n=3000, context=(), start=0):
    return [{"context": list(context), "tokens": subjects.honest(context, 3, start + i)} for i in range(n)]


def write_lines(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return str(path)


def write_parquet(path, records):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(records)), path)
    return str(path)


@pytest.mark.distribution
def test_all_three_formats_give_the_same_verdict(tmp_path):
    draws = record()
    np.save(tmp_path / "draws.npy", np.array([r["tokens"] for r in draws]))
    write_lines(tmp_path / "draws.jsonl", draws)
    write_parquet(tmp_path / "draws.parquet", draws)
    verdicts = [
        audit(str(tmp_path / f"draws.{name}"), target=subjects.CHAIN, tokens=2, alpha=1e-3)
        for name in ("npy", "jsonl", "parquet")
    ]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert (verdicts[0].verdict, verdicts[0].samples, verdicts[0].seed) == ("no_bias_found", 3000, None)
    live = audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=3000, alpha=1e-3)
    assert verdicts[0].tv == live.tv


@pytest.mark.distribution
def test_a_recording_is_read_to_its_end(tmp_path):
    """The first look decides already, twice over; the draws behind it are evidence all the same."""
    np.save(tmp_path / "draws.npy", np.array([subjects.impossible((), 3, i) for i in range(2000)]))
    verdict = audit(str(tmp_path / "draws.npy"), target=subjects.CHAIN, tokens=2)
    assert (verdict.verdict, verdict.samples, verdict.witness.context) == ("biased", 2000, (1,))
    assert (verdict.confirmation, verdict.notes) == (None, ())  # there are no fresh draws to be had


@pytest.mark.distribution
def test_a_recording_meets_a_live_baseline(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(1000))
    verdict = audit(path, baseline=subjects.honest, tokens=1, alpha=1e-3, seed=3)
    assert (verdict.verdict, verdict.samples, verdict.seed) == ("no_bias_found", 1000, 3)


@pytest.mark.distribution
def test_a_live_subject_meets_a_recorded_baseline(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(2000))
    verdict = audit(subjects.honest, baseline=path, tokens=1, alpha=1e-3, seed=10_000)
    assert (verdict.verdict, verdict.samples) == ("no_bias_found", 2000)


@pytest.mark.distribution
def test_two_recordings_are_compared_as_far_as_both_go(tmp_path):
    one = write_lines(tmp_path / "one.jsonl", record(1500))
    two = write_lines(tmp_path / "two.jsonl", record(1200, start=10_000))
    verdict = audit(one, baseline=two, tokens=1, alpha=1e-3)
    assert (verdict.verdict, verdict.samples, verdict.seed) == ("no_bias_found", 1200, None)
    assert verdict.notes[0] == f"300 of the 1500 draws in {one} unused"
    biased = np.array([subjects.biased((), 3, i) for i in range(6000)])
    np.save(tmp_path / "biased.npy", biased)
    np.save(tmp_path / "fair.npy", np.array([subjects.honest((), 3, i + 10_000) for i in range(6000)]))
    verdict = audit(str(tmp_path / "biased.npy"), baseline=str(tmp_path / "fair.npy"), tokens=2, alpha=1e-3)
    assert (verdict.verdict, verdict.witness.context) == ("biased", (0,))


def test_samples_takes_the_first_draws_and_no_more_than_there_are(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", record(400))
    verdict = audit(path, target=subjects.CHAIN, tokens=1, samples=100)
    assert (verdict.samples, verdict.notes[0]) == (100, f"300 of the 400 draws in {path} unused")
    with pytest.raises(InputError, match="--samples must be at most the recorded 400 draws, got 500"):
        audit(path, target=subjects.CHAIN, tokens=1, samples=500)


@pytest.mark.distribution
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_rows_of_calls_say_where_copies_are_looked_for(tmp_path, form):
    """Four rows a call; in one call of ten, row 2 repeats row 1. Without row and call, the line before is as good."""
    draws = record(4000)
    for i, draw in enumerate(draws):
        draw |= {"call": i // 4, "row": i % 4}
        if i % 40 == 2:
            draw["tokens"] = draws[i - 1]["tokens"]
    write = write_lines if form == "jsonl" else write_parquet
    named = audit(write(tmp_path / f"a.{form}", draws), target=subjects.CHAIN, tokens=3)
    assert max(named.statistics, key=named.statistics.get) == "batch neighbour"
    plain = [{"tokens": draw["tokens"]} for draw in draws]
    unnamed = audit(write(tmp_path / f"b.{form}", plain), target=subjects.CHAIN, tokens=3)
    assert "batch neighbour" not in unnamed.statistics
    assert min(named.statistics["batch neighbour"], unnamed.statistics["previous call"]) > 3
    assert named.statistics["previous call"] < 3
    moved = [draw | {"row": 3 - draw["row"]} for draw in draws]
    moved.sort(key=lambda draw: (draw["call"], draw["row"]))
    assert audit(write(tmp_path / f"c.{form}", moved), target=subjects.CHAIN, tokens=3).verdict == "biased"


def logged(n, wrong_bonus=False):
    """A chain of two drafts from q = p (all are accepted), so that every third token is a bonus."""
    rng = np.random.default_rng(5)
    for i in range(n):
        words = subjects.honest((), 6, i)
        if wrong_bonus and rng.random() < 0.2:
            words[2] = 0
        yield {"context": [], "tokens": words, "blocks": [[2, 3], [2, 3]]}


@pytest.mark.distribution
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_decode_log_shows_a_wrong_bonus(tmp_path, form):
    write = write_lines if form == "jsonl" else write_parquet
    right = audit(write(tmp_path / f"a.{form}", logged(3000)), target=subjects.CHAIN, tokens=5, depth=2, alpha=1e-3)
    assert (right.verdict, right.statistics["bonus given context"] < 3) == ("no_bias_found", True)
    path = write(tmp_path / f"b.{form}", logged(3000, wrong_bonus=True))
    wrong = audit(path, target=subjects.CHAIN, tokens=5, depth=2)
    assert wrong.verdict == "biased"
    assert wrong.statistics["bonus given context"] > 6
    without = audit(path, target=subjects.CHAIN, tokens=5, depth=0)
    assert "bonus given context" not in without.statistics


def test_the_drafts_of_a_full_block_are_never_guessed(tmp_path):
    path = write_lines(tmp_path / "draws.jsonl", logged(50))
    with pytest.raises(InputError, match="--depth must be given with a decode log, got blocks in .* without it"):
        audit(path, target=subjects.CHAIN, tokens=5)
    with pytest.raises(InputError, match=r"line 1: a block must have 0..1 accepted drafts .* got \[2, 3\]"):
        audit(path, target=subjects.CHAIN, tokens=5, depth=1)
    with pytest.raises(InputError, match="--depth must go with --target, got 2 with --baseline"):
        audit(path, baseline=subjects.honest, tokens=5, depth=2)
    plain = write_lines(tmp_path / "plain.jsonl", record(50))
    with pytest.raises(InputError, match="--depth must go with recorded blocks, got 2 without any"):
        audit(plain, target=subjects.CHAIN, tokens=3, depth=2)


def test_a_missing_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "draws.parquet", record(10))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"must have pyarrow, it is missing: pip install 'rheocheck\[parquet\]'"):
        audit(path, target=subjects.CHAIN, tokens=2)


LINES = {
    "cut off": ('{"tokens": [0, 1]}\n{"tokens": [0, ', "line 2: must be one JSON object.*is it cut off"),
    "no tokens": ('{"context": []}\n', 'line 1: must be an object with the key "tokens"'),
    "a list": ("[0, 1]\n", 'line 1: must be an object with the key "tokens"'),
    "float ids": ('{"tokens": [0, 1.0]}\n', "line 1: tokens must be a list of token ids"),
    "text ids": ('{"tokens": "01"}\n', "line 1: tokens must be a list of token ids"),
    "bool ids": ('{"tokens": [true]}\n', "line 1: tokens must be a list of token ids"),
    "bad context": ('{"context": "0", "tokens": [0]}\n', "line 1: context must be a list of token ids"),
    "empty": ("", "must hold at least one draw, got none"),
    "nested": ("[" * 100_000, "line 1: must be one JSON object"),
    "other context": (
        '{"tokens": [0, 1]}\n{"context": [1], "tokens": [0, 1]}\n',
        'line 2: every draw must continue the audited context "", got "1": choose it with --context',
    ),
    "half numbered": (
        '{"tokens": [0, 1], "row": 0, "call": 0}\n{"tokens": [0, 1]}\n',
        "line 2: every draw must have the same keys, got none where the first draw has call, row",
    ),
    "row alone": ('{"tokens": [0, 1], "row": 0}\n', "line 1: row and call must come together, got row"),
    "row text": (
        '{"tokens": [0, 1], "row": "0", "call": 1}\n',
        "line 1: row must be an integer in 0..2\\^31 - 1, got 0",
    ),
    "call null": ('{"tokens": [0, 1], "row": 0, "call": null}\n', "line 1: call must be an integer .* got None"),
    "call twice": (
        '{"tokens": [0, 1], "row": 0, "call": 3}\n' * 2,
        "line 2: draws must be in order of call, then row, each once, got call 3 row 0 after call 3 row 0",
    ),
    "call back": (
        '{"tokens": [0, 1], "row": 0, "call": 3}\n{"tokens": [0, 1], "row": 0, "call": 2}\n',
        "line 2: draws must be in order of call, then row, each once, got call 2 row 0 after call 3 row 0",
    ),
    "blocks flat": (
        '{"tokens": [0, 1], "blocks": [2, 3]}\n',
        r"line 1: blocks must be a list of \[accepted, emitted\]",
    ),
    "blocks empty": ('{"tokens": [0, 1], "blocks": []}\n', r"line 1: blocks must be a list of \[accepted, emitted\]"),
    "blocks NaN": ('{"tokens": [0, 1], "blocks": [[1, NaN]]}\n', "line 1: blocks must be a list of"),
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


LOGS = {
    "too many accepted": ([[3, 4]], r"a block must have 0..2 accepted drafts .* got \[3, 4\]: check --depth"),
    "too many emitted": ([[1, 3]], r"emit 1 to accepted \+ 1 tokens, got \[1, 3\]"),
    "nothing emitted": ([[2, 3], [0, 0]], r"emit 1 to accepted \+ 1 tokens, got \[0, 0\]"),
    "cut off": ([[2, 3]], "blocks must emit the audited 5 tokens, got 3 tokens in 1 blocks: log every block"),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_bad_log_is_named(tmp_path, name):
    blocks, message = LOGS[name]
    draws = [*logged(3), {"context": [], "tokens": [0] * 6, "blocks": blocks}]
    with pytest.raises(InputError, match=f"line 4: .*{message}") as caught:
        audit(write_lines(tmp_path / "draws.jsonl", draws), target=subjects.CHAIN, tokens=5, depth=2)
    assert "\n" not in str(caught.value)


TABLES = {
    "no tokens": ([{"ids": [0, 1]}], 'must have the column "tokens", got ids: add the column'),
    "null": ([{"tokens": [0, 1]}, {"tokens": None}], "row 1: tokens must be a list of token ids, got none"),
    "null id": ([{"tokens": [0, None]}], "row 0: tokens must be a list of token ids"),
    "floats": ([{"tokens": [0.0, float("nan")]}], "row 0: tokens must be a list of token ids"),
    "other context": ([{"tokens": [0, 1], "context": [1]}], 'row 0: every draw must continue the audited context ""'),
    "half numbered": (
        [{"tokens": [0, 1], "row": 0, "call": 0}, {"tokens": [0, 1], "row": 1, "call": None}],
        "row 1: row and call must come together, got row",
    ),
    "none": ([], "must have the column|must hold at least one draw"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_bad_row_of_a_table_is_named(tmp_path, name):
    rows, message = TABLES[name]
    with pytest.raises(InputError, match=message) as caught:
        audit(write_parquet(tmp_path / "draws.parquet", rows), target=subjects.CHAIN, tokens=2)
    assert "\n" not in str(caught.value)


ARRAYS = {
    "floats": (
        np.zeros((3, 2)),
        r"must hold integers of shape \[draws, tokens\], got float64 of shape \(3, 2\)",
    ),
    "one row": (np.zeros(3, int), r"got int64 of shape \(3,\)"),
    "bools": (np.zeros((3, 2), bool), "got bool of shape"),
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
    write_parquet(tmp_path / "whole.parquet", record(50))
    table = (tmp_path / "whole.parquet").read_bytes()
    cases = {
        "cut.npy": (whole[:-7], "must be a whole .npy file"),
        "empty.npy": (b"", "must be a whole .npy file"),
        "text.npy": (b"not an array", "must be a whole .npy file"),
        "latin.jsonl": (
            '{"tokens": [0, 1], "note": "\xe9"}\n'.encode("latin-1"),
            "must be JSON lines in UTF-8",
        ),
        "draws.parquet": (b"PAR1", "must be a whole .parquet file"),
        "cut.parquet": (table[:-9], "must be a whole .parquet file"),
        "head.parquet": (table[200:], "must be a whole .parquet file"),
        "draws.csv": (b"0,1\n", "must end in .npy, .jsonl or .parquet"),
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
