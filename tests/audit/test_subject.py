"""Loading subjects and targets by name, with and without settings."""

import random

import numpy as np
import pytest

from rheocheck.audit.settings import parse_settings
from rheocheck.audit.subject import LiveSource, load_subject
from rheocheck.audit.target import load_target
from rheocheck.core.errors import InputError
from rheocheck.formats.files import pair_to_json
from rheocheck.intercept import enumerate_law
from rheocheck.intercept.seeding import STREAMS, first_seed
from tests.audit import subjects

HERE = "tests.audit.subjects"


def test_settings_are_typed_by_their_look():
    written = ("a=3", "b=0.7", "c=true", "d=False", "e=cpu", "f=1e-3", "g=")
    assert parse_settings(written) == dict(a=3, b=0.7, c=True, d=False, e="cpu", f=1e-3, g="")


@pytest.mark.parametrize(
    "written, message",
    [
        (("a",), "--set must be KEY=VALUE with a Python name as KEY, got 'a'"),
        (("a-b=1",), "got 'a-b=1'"),
        (("=1",), "got '=1'"),
        (("a=1", "a=2"), "--set must name a key once, got 'a' twice"),
    ],
)
def test_bad_settings(written, message):
    with pytest.raises(InputError, match=message):
        parse_settings(written)


def test_a_function_is_a_subject_and_a_factory_makes_one():
    assert load_subject(f"{HERE}:honest", {}, ()) is subjects.honest
    assert load_subject(f"{HERE}:mixture", {}, ())((), 2, seed=1)
    assert load_subject(f"{HERE}:mixture", {"weight": 0.5}, ())((), 2, seed=1)


def test_a_baseline_takes_only_the_settings_it_knows():
    assert load_subject(f"{HERE}:mixture", {"weight": 0.5, "other": 1}, (), what="--baseline")
    assert load_subject(f"{HERE}:honest", {"weight": 0.5}, (), what="--baseline") is subjects.honest


@pytest.mark.parametrize(
    "spec, values, message",
    [
        ("http://localhost/v1", {}, "got the endpoint http://localhost/v1: endpoints are not supported"),
        ("honest", {}, 'SUBJECT must be "module:attr" or a .npy, .jsonl or .parquet file, got \'honest\''),
        (f"{HERE}:nothing", {}, "has no attribute 'nothing'"),
        ("no_such_module:x", {}, "importing 'no_such_module' failed"),
        (f"{HERE}:not_callable", {}, r"must be a function \(context, n_tokens\) -> ids, got int"),
        (f"{HERE}:not_callable", {"a": 1}, "must be a function to take --set, got int"),
        (f"{HERE}:mixture", {"wait": 1}, "must take every --set key, got 'wait': it takes weight, name"),
        (f"{HERE}:broken_factory", {"weight": 1}, "it raised RuntimeError: no such weights"),
    ],
)  # fmt: skip
def test_bad_subjects(spec, values, message):
    with pytest.raises(InputError, match=message) as caught:
        load_subject(spec, values, ())
    assert "\n" not in str(caught.value)


def test_a_target_is_a_pair_a_law_or_a_factory_of_either():
    for name, exact in (("CHAIN", True), ("chain_pair", True), ("chain_law", False), ("law_factory", False)):
        target = load_target(f"{HERE}:{name}", {"weight": 1, "unknown": 2})
        assert (target.vocab_size, target.exact) == (3, exact)
        assert target.row((0,), 0.0) == pytest.approx([0.2, 0.4, 0.4])


def test_a_target_is_a_pair_file(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(pair_to_json(subjects.CHAIN))
    assert load_target(str(path), {}).row((1,), 0.0) == pytest.approx([0, 0.5, 0.5])


@pytest.mark.parametrize(
    "spec, message",
    [
        ("missing.json", "must be readable"),
        (f"{HERE}:not_callable", "must be a Pair or a law"),
        (f"{HERE}:broken_factory", "it raised RuntimeError"),
    ],
)
def test_bad_targets(spec, message):
    with pytest.raises(InputError, match=message):
        load_target(spec, {})


def seeds_of(seed, stream, calls):
    """The seeds that a subject is given."""
    seeds = []

    def subject(context, n_tokens, seed):
        seeds.append(seed)
        return [0]

    source = LiveSource(subject, (), 1, seed=seed, stream=stream)
    for _ in range(calls):
        source.draw(1)
    return seeds


def test_seeds_do_not_repeat_within_or_between_streams():
    seeds = [seed for stream in range(15) for seed in seeds_of(7, stream, 1000)]
    assert len(set(seeds)) == 15_000
    assert min(seeds) >= 0
    assert max(seeds) < 2**32


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31 - 1, 2**32 - 1, 2**32, 10**12])
def test_neighbouring_audits_share_no_seed_of_a_call(seed):
    """Nor an audit and an enumeration, their own or their neighbour's."""
    seen = []

    def subject(context, n_tokens, seed):
        seen.append(seed)
        return [int(random.Random(seed).random() < 0.5) for _ in range(n_tokens)]

    for neighbour in (seed, seed + 1, seed + 2):
        enumerate_law(subject, (), 3, seed=neighbour)
        seen += seeds_of(neighbour, 0, 1000)
    assert len(set(seen)) == len(seen) > 3000


def test_two_of_a_hundred_audits_have_900_000_calls_each_before_they_meet():
    """Seeds are a bijection of a counter: audits meet when their counters do. Random starts would not do."""

    def nearest(starts):
        starts = np.sort(np.array(starts, dtype=np.int64))
        return int(np.diff(np.append(starts, starts[0] + 2**32)).min())

    for first in (0, 12345, 2**32 - 50):
        assert nearest([first_seed(first + i) for i in range(100)]) > 900_000 * STREAMS
    assert nearest(np.random.default_rng(0).integers(2**32, size=100)) < 900_000 * STREAMS


def test_a_source_goes_on_where_another_ended():
    """The seeds and the numbers of calls of a resumed run follow those of the run before."""

    def subject(context, n_tokens, seed):
        return [seed % 5]

    whole = LiveSource(subject, (), 1, seed=7)
    parts = LiveSource(subject, (), 1, seed=7), LiveSource(subject, (), 1, seed=7, calls=30)
    together = [whole.draw(1) for _ in range(50)]
    apart = [parts[i >= 30].draw(1) for i in range(50)]
    for name in ("words", "rows", "calls"):
        assert np.array_equal(*(np.concatenate([getattr(d, name) for d in draws]) for draws in (together, apart)))


def test_a_call_that_raises_is_not_counted():
    def subject(context, n_tokens, seed):
        seeds.append(seed)
        if len(seeds) == 2:
            raise KeyboardInterrupt
        return [0]

    seeds = []
    source = LiveSource(subject, (), 1, seed=7)
    source.draw(1)
    with pytest.raises(KeyboardInterrupt):
        source.draw(1)
    assert source.calls == 1
    source.draw(1)
    assert seeds[1] == seeds[2] != seeds[0]


def test_keyword_only_and_catch_all_subjects_get_seeds():
    def keyword_only(context, n_tokens, *, seed):
        return [seed % 2]

    def catch_all(context, n_tokens, **options):
        return [options["seed"] % 2]

    def without(context, n_tokens):
        return [0]

    for subject, seeded in ((keyword_only, True), (catch_all, True), (without, False)):
        source = LiveSource(subject, (), 1, seed=1)
        source.draw(1)
        assert source.seeded == seeded
