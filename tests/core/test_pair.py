"""Pairs are exact, and say in one line what is wrong with them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.core import InputError, Pair, normalise
from rheocheck.core.rows import exact
from rheocheck.formats import load_pair, pair_from_json, pair_to_json, read_pair
from tests.strategies import pairs

HALF = ["1/2", "1/2"]


def test_longest_suffix_with_a_row():
    pair = Pair(2, {(): HALF, (1,): [0, 1], (0, 1): ["1/4", "3/4"]}, {(): HALF})
    assert pair.q((0,)) == pair.q(()) == (Fraction(1, 2), Fraction(1, 2))
    assert pair.q((1, 1)) == (0, 1)
    assert pair.q((1, 0, 1)) == (Fraction(1, 4), Fraction(3, 4))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/3", Fraction(1, 3)),
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (1, Fraction(1)),
        (0.5, Fraction(1, 2)),
    ],
)
def test_entries_are_read_exactly(text, value):
    assert exact(text) == value


def test_json_decimals_do_not_pass_through_floats():
    pair = pair_from_json('{"vocab_size": 2, "draft": {"": [0.1, 0.9]}, "target": {"": [1e-3, 0.999]}}')
    assert pair.q(()) == (Fraction(1, 10), Fraction(9, 10))
    assert pair.p(()) == (Fraction(1, 1000), Fraction(999, 1000))


@given(pairs())
def test_files_round_trip(pair):
    again = pair_from_json(pair_to_json(pair))
    assert (again.vocab_size, again.draft, again.target) == (pair.vocab_size, pair.draft, pair.target)


BAD = {
    "sum": ('{"vocab_size": 3, "draft": {"": ["1/2", "1/3", "1/3"]}, "target": {"": [1, 0, 0]}}', "got 7/6 ="),
    "sum in a context": (
        '{"vocab_size": 2, "draft": {"": [1, 0], "0 1": [1, 1]}, "target": {"": [1, 0]}}',
        "draft(context='0 1') must sum to 1, got 2",
    ),
    "negative": ('{"vocab_size": 2, "draft": {"": ["3/2", "-1/2"]}, "target": {"": [1, 0]}}', "no negative entry"),
    "length": ('{"vocab_size": 2, "draft": {"": [1]}, "target": {"": [1, 0]}}', "vocab_size = 2 entries, got 1"),
    "no start": ('{"vocab_size": 2, "draft": {"0": [1, 0]}, "target": {"": [1, 0]}}', 'empty context ""'),
    "not a number": ('{"vocab_size": 2, "draft": {"": ["x", 0]}, "target": {"": [1, 0]}}', "must be a number"),
    "zero denominator": ('{"vocab_size": 2, "draft": {"": ["1/0", 0]}, "target": {"": [1, 0]}}', "must be a number"),
    "NaN": ('{"vocab_size": 2, "draft": {"": [NaN, 0]}, "target": {"": [1, 0]}}', "finite number, got NaN"),
    "null": ('{"vocab_size": 2, "draft": {"": [null, 1]}, "target": {"": [1, 0]}}', "got None"),
    "boolean": ('{"vocab_size": 2, "draft": {"": [true, 0]}, "target": {"": [1, 0]}}', "got True"),
    "row is text": ('{"vocab_size": 2, "draft": {"": "10"}, "target": {"": [1, 0]}}', "must be a list of 2"),
    "row is a number": ('{"vocab_size": 2, "draft": {"": 1}, "target": {"": [1, 0]}}', "must be a list of 2"),
    "token outside": ('{"vocab_size": 2, "draft": {"": [1, 0], "2": [1, 0]}, "target": {"": [1, 0]}}', "tokens 0..1"),
    "context": ('{"vocab_size": 2, "draft": {"": [1, 0], "a": [1, 0]}, "target": {"": [1, 0]}}', "token ids"),
    "repeated key": ('{"vocab_size": 2, "draft": {"": [1, 0], "": [0, 1]}, "target": {"": [1, 0]}}', "twice"),
    "same context twice": (
        '{"vocab_size": 2, "draft": {"": [1, 0], "0 1": [0, 1], "0  1": [1, 0]}, "target": {"": [1, 0]}}',
        "twice",
    ),
    "vocab_size": ('{"vocab_size": 0, "draft": {"": []}, "target": {"": []}}', "positive integer"),
    "vocab_size text": ('{"vocab_size": "2.5", "draft": {"": []}, "target": {"": []}}', "positive integer"),
    "key missing": ('{"vocab_size": 2, "draft": {"": [1, 0]}}', "missing: target"),
    "model is a list": ('{"vocab_size": 2, "draft": [[1, 0]], "target": {"": [1, 0]}}', "draft must be an object"),
    "not an object": ("[1, 2]", "JSON object, got list"),
    "not JSON": ("{", "must be JSON"),
    "nesting": ("[" * 100_000, "must be JSON"),
    "huge exponent": ('{"vocab_size": 2, "draft": {"": [1e999999999, 0]}, "target": {"": [1, 0]}}', "exponent"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_pairs_get_one_clear_line(name):
    text, wanted = BAD[name]
    with pytest.raises(InputError) as error:
        pair_from_json(text)
    assert wanted in str(error.value)
    assert "\n" not in str(error.value)


def test_a_pair_is_read_from_a_file_or_by_name(tmp_path):
    pair, path = Pair(2, {(): HALF}, {(): HALF, (1,): ["1", "0"]}), tmp_path / "pair.json"
    path.write_text(pair_to_json(pair))
    assert read_pair(path) == read_pair(str(path)) == load_pair(str(path)) == pair
    assert load_pair("toy_models.one_lead:pair").vocab_size > 1


@pytest.mark.parametrize("name", ["HALF", "exact"])
def test_what_is_no_pair_is_named(name):
    wanted = "got list" if name == "HALF" else "calling it failed with TypeError"
    with pytest.raises(InputError, match=wanted):
        load_pair(f"tests.core.test_pair:{name}")


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="readable: No such file"):
        read_pair(tmp_path / "missing.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_pair(tmp_path / "bytes.json")
    with pytest.raises(InputError, match="readable"):
        read_pair(tmp_path)


def test_normalise():
    assert normalise([1, 1, 2]) == (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
    for bad in ([0, 0], [1, -1], []):
        with pytest.raises(InputError):
            normalise(bad)


def test_from_logits_takes_the_floats_exactly():
    pair = Pair.from_logits({(): [0.0, -1.0, -math.inf]}, {(): [1.0, 1.0, 0.5]}, temperature=0.5)
    weight = Fraction(math.exp(-2.0))
    assert pair.q(()) == (1 / (1 + weight), weight / (1 + weight), 0)
    assert pair.p(())[0] == pair.p(())[1] == 1 / (2 + Fraction(math.exp(-1.0)))


def test_from_logits_truncates_the_drafter_only_and_by_token_id():
    pair = Pair.from_logits({(): [1.0, 2.0, 1.0, 1.0]}, {(): [0.0] * 4}, top=2)
    assert [x > 0 for x in pair.q(())] == [True, True, False, False]
    assert pair.p(()) == (Fraction(1, 4),) * 4
    assert sum(pair.q(())) == 1


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=5), st.floats(0.01, 100))
def test_from_logits_sums_to_one(logits, temperature):
    pair = Pair.from_logits({(): logits}, {(): logits}, temperature=temperature)
    assert sum(pair.p(())) == sum(pair.q(())) == 1


@pytest.mark.parametrize("bad", [[math.nan, 0.0], [math.inf, 0.0], [-math.inf, -math.inf], []])
def test_from_logits_refuses(bad):
    with pytest.raises(InputError, match="target logits.* must be numbers below [+]inf, at least one of them finite"):
        Pair.from_logits({(): [0.0, 0.0]}, {(): bad})


@pytest.mark.parametrize("options", [{"temperature": 0}, {"temperature": -1}, {"temperature": math.nan}, {"top": 0}])
def test_from_logits_refuses_options(options):
    with pytest.raises(InputError):
        Pair.from_logits({(): [0.0]}, {(): [0.0]}, **options)
