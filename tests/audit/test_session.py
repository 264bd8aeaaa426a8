"""Stopping and going on: a resumed audit is the audit that was never stopped, and no other question's."""

import dataclasses
import json
import random

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.audit.fresh_look import DRAWS
from rheocheck.audit.session import FORMAT
from rheocheck.core.errors import InputError
from rheocheck.formats.files import pair_to_json
from tests.audit import subjects

ALPHA = 1e-3


class NearCutOff:
    """A law with a boundary token after token 0."""

    def __call__(self, context):
        return [0.75, 0.25, 0.0] if context[-1:] == (0,) else [0.5, 0.5, 0.0]

    def boundary(self, context):
        return {1} if context[-1:] == (0,) else set()


def two_tokens(context, n_tokens, seed):
    law = NearCutOff()
    rng = random.Random(seed)
    return subjects.walk(lambda s: rng.choices(range(3), law(s))[0], context, n_tokens)


QUESTIONS = {
    "pair": {"subject": subjects.honest, "target": subjects.CHAIN},
    "float law, batched": {"subject": subjects.batched, "target": subjects.chain_law},
    "a bias": {"subject": subjects.biased, "target": subjects.CHAIN, "confirm": False, "alpha": 1e-300},
    "boundary tokens": {"subject": two_tokens, "target": NearCutOff()},
    "baseline": {"subject": subjects.honest, "baseline": subjects.batched},
}


def without_notes(verdict):
    """All but what a resumed audit says of itself: its fresh look at the subject."""
    return dataclasses.replace(verdict, notes=(), fresh_draws=None)


@pytest.mark.distribution
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_resumed_audit_is_the_one_that_was_never_stopped(name, tmp_path):
    """Stopped twice at a look: the same draws, the same looks, so every number of the verdict is the same."""
    question = {"tokens": 3, "tv": 0.01, "alpha": ALPHA, "seed": 6, **QUESTIONS[name]}
    whole = audit(**question, samples=2443)
    path = str(tmp_path / "audit.json")
    for samples in (1000, 1563, 2443):
        resumed = audit(**question, samples=samples, resume=path)
        assert resumed.samples == samples
    assert without_notes(resumed) == without_notes(whole)
    assert resumed.notes[0] == f"resumed from {path}, session 3 of this audit"


@pytest.mark.distribution
@pytest.mark.parametrize("name", QUESTIONS)
def test_stopped_between_two_looks_nothing_is_lost_or_counted_twice(name, tmp_path):
    """One look more, at another place: the same draws, and evidence that differs by what that look changes."""
    question = {"tokens": 3, "tv": 0.01, "alpha": ALPHA, "seed": 6, **QUESTIONS[name]}
    if question["subject"] is subjects.batched:
        question["subject"] = subjects.honest  # the batches of a call would be cut elsewhere
    whole = audit(**question, samples=1954)
    path = str(tmp_path / "audit.json")
    audit(**question, samples=1111, resume=path)
    resumed = audit(**question, samples=1954, resume=path)
    assert resumed.samples == whole.samples == 1954
    if name != "baseline":  # the batches of the baseline are cut elsewhere
        assert (resumed.total_variation, resumed.cross_check) == (whole.total_variation, whole.cross_check)
        assert resumed.statistics == pytest.approx(whole.statistics, abs=0.05)


@pytest.mark.distribution
def test_an_infinite_e_survives(tmp_path):
    question = {"target": subjects.CHAIN, "tokens": 2, "resume": str(tmp_path / "audit.json")}
    first = audit(subjects.impossible, **question)
    again = audit(subjects.impossible, **question)
    assert (first.verdict, first.p_value, first.witness) == (again.verdict, again.p_value, again.witness)
    assert (again.verdict, again.p_value) == ("biased", 0.0)


@pytest.mark.distribution
def test_a_decided_audit_draws_nothing_more_and_a_finer_one_goes_on(tmp_path):
    calls = []

    def subject(context, n_tokens, seed):
        calls.append(seed)
        return subjects.honest(context, n_tokens, seed)

    question = {"target": subjects.CHAIN, "tokens": 2, "alpha": ALPHA, "resume": str(tmp_path / "audit.json")}
    coarse = audit(subject, **question, tv=0.2)
    drawn = len(calls)
    again = audit(subject, **question, tv=0.2)
    assert (coarse.verdict, coarse.samples) == (again.verdict, again.samples) == ("no_bias_found", drawn)
    assert len(calls) == drawn + DRAWS  # a fresh look at the live subject, and nothing else
    assert without_notes(again) == without_notes(coarse)
    fine = audit(subject, **question, tv=0.07)
    assert (fine.verdict, fine.samples) == ("no_bias_found", len(calls) - 2 * DRAWS)
    assert fine.total_variation_upper <= 0.07 < coarse.total_variation_upper
    assert len(set(calls)) == len(calls) > drawn  # no seed twice


@pytest.mark.distribution
def test_a_subject_without_seed_draws_afresh(tmp_path):
    question = {"target": subjects.CHAIN, "tokens": 3, "tv": 0.01, "seed": 4, "resume": str(tmp_path / "audit.json")}
    words = []

    def subject(context, n_tokens):
        words.append(tuple(subjects.unseeded(context, n_tokens + 20)))
        return words[-1]

    for samples in (200, 400, 600):
        audit(subject, **question, samples=samples)
    assert len(words) == len(set(words)) == 600 + 2 * DRAWS


def test_a_baseline_keeps_the_pilot_it_was_planned_with(tmp_path):
    """Without seeds another pilot would be another object."""
    question = {"tokens": 2, "tv": 0.01, "resume": str(tmp_path / "audit.json")}
    first = audit(subjects.unseeded, baseline=subjects.unseeded, **question, samples=300)
    random.seed(5)
    calls = []

    def counted(context, n_tokens):
        calls.append(1)
        return subjects.unseeded(context, n_tokens)

    again = audit(subjects.unseeded, baseline=counted, **question, samples=600, resume_anyway=True)
    assert (first.object, again.object, again.samples, len(calls)) == (first.object, first.object, 600, 300 + DRAWS)


@pytest.fixture
def saved(tmp_path):
    """The file of an audit that was stopped, and its question."""
    pair = tmp_path / "pair.json"
    pair.write_text(pair_to_json(subjects.CHAIN))
    question = {
        "subject": "tests.audit.subjects:honest", "target": str(pair), "context": (2,), "tokens": 2, "seed": 1,
        "alpha": ALPHA, "tv": 0.01, "samples": 300, "resume": str(tmp_path / "audit.json"),
    }  # fmt: skip
    audit(**question)
    return question, tmp_path / "audit.json"


OTHERS = {
    "subject": "tests.audit.subjects:biased",
    "target": "tests.audit.subjects:CHAIN",
    "context": (2, 0),
    "tokens": 3,
    "alpha": 1e-6,
    "rtol": 1e-3,
    "seed": 2,
    "question": {"settings": {"top_k": 3}},
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_question_is_refused_and_the_file_untouched(name, saved):
    question, path = saved
    before = path.read_bytes()
    with pytest.raises(InputError, match="must continue the same question, got ") as caught:
        audit(**{**question, name: OTHERS[name]})
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_another_baseline_is_another_question_too(tmp_path):
    question = {"subject": subjects.honest, "tokens": 1, "samples": 100, "resume": str(tmp_path / "audit.json")}
    audit(**question, baseline="tests.audit.subjects:batched")
    with pytest.raises(
        InputError, match="same question, got baseline = 'tests.audit.subjects:batched' there and 'tests"
    ):
        audit(**question, baseline="tests.audit.subjects:honest")


def test_the_same_name_for_another_law_is_refused(saved):
    question, path = saved
    before = path.read_bytes()
    pair = json.loads(pair_to_json(subjects.CHAIN))
    pair["target"]["0"] = ["1/5", "1/5", "3/5"]
    (path.parent / "pair.json").write_text(json.dumps(pair))
    with pytest.raises(InputError, match="with the code it began with, got pair.json changed since"):
        audit(**question)
    with pytest.raises(InputError, match="must hold the evidence of this audit, got .* has the law changed"):
        audit(**question, resume_anyway=True)
    assert path.read_bytes() == before


DAMAGES = {
    "empty": lambda text: "",
    "half": lambda text: text[: len(text) // 2],
    "the last byte": lambda text: text[:-1],
    "a digit": lambda text: text.replace('"session": 0', '"session": 5'),
    "a count": lambda text: text.replace('"counts": [', '"counts": [9', 1),
    "a key": lambda text: text.replace('"n_opt"', '"n_opts"'),
    "no digest": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "digest"}),
    "another version": lambda text: text.replace(f'"rheocheck audit": {FORMAT}', '"rheocheck audit": 1'),
    "a list": lambda text: "[1, 2]",
    "text": lambda text: "not an audit",
    "deep": lambda text: "[" * 100_000,
    "binary": lambda text: "\udcff\udcfe",
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_refused_and_untouched(name, saved):
    question, path = saved
    path.write_text(DAMAGES[name](path.read_text()), errors="surrogateescape")
    before = path.read_bytes()
    with pytest.raises(
        InputError, match="must be a whole file that an audit wrote, got .*: name another file"
    ) as caught:
        audit(**question)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["audit.json", "pair.json"]


@pytest.mark.parametrize("path", [".", "nowhere/audit.json"])
def test_a_file_that_cannot_be_written_is_found_out_before_the_first_draw(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def subject(context, n_tokens):
        raise AssertionError("drawn")

    with pytest.raises(InputError, match=r"--resume '.*' must be (writable|a whole file)"):
        audit(subject, target=subjects.CHAIN, tokens=1, resume=path)


@pytest.mark.parametrize("kind", ["target", "baseline"])
def test_a_recording_that_grew_is_continued_and_another_one_refused(kind, tmp_path):
    words = np.array([subjects.honest((), 3, i) for i in range(3000)])
    against = {"target": subjects.CHAIN} if kind == "target" else {"baseline": str(tmp_path / "plain.npy")}
    question = {**against, "tokens": 2, "tv": 0.01, "resume": str(tmp_path / "audit.json")}
    path = tmp_path / "draws.npy"
    np.save(tmp_path / "plain.npy", np.array([subjects.honest((), 3, i + 5000) for i in range(3000)]))
    np.save(path, words[:1250])
    assert audit(str(path), **question).samples == 1250
    np.save(path, words[:2443])
    longer = audit(str(path), **question)
    del question["resume"]
    whole = audit(str(path), **question)
    if kind == "baseline":  # the bound has looked once more
        whole = dataclasses.replace(whole, total_variation_upper=longer.total_variation_upper)
    assert longer.samples == 2443
    assert without_notes(longer) == without_notes(whole)
    np.save(path, words[1:])
    with pytest.raises(
        InputError, match="--resume must go on with the recording it began with, got others in the first"
    ):
        audit(str(path), **question, resume=str(tmp_path / "audit.json"))
    np.save(path, words[:2000])
    with pytest.raises(InputError, match="--resume must go on with the recording it began with"):
        audit(str(path), **question, resume=str(tmp_path / "audit.json"))


def test_an_error_in_the_middle_keeps_the_last_look(tmp_path):
    path = tmp_path / "audit.json"
    calls = []

    def breaks(context, n_tokens, seed):
        calls.append(seed)
        if len(calls) == 1100:
            raise RuntimeError("out of memory")
        return subjects.honest(context, n_tokens, seed)

    question = {"target": subjects.CHAIN, "tokens": 2, "tv": 0.01, "samples": 1563}
    with pytest.raises(InputError, match="out of memory"):
        audit(breaks, **question, resume=str(path))
    resumed = audit(subjects.honest, **question, resume=str(path), resume_anyway=True)
    assert without_notes(resumed) == without_notes(audit(subjects.honest, **question))
