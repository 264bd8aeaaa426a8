"""Conformance: a good subject passes every question, and each way to break the contract fails its own."""

import random

import numpy as np
import pytest

from rheocheck.intercept import conformance


class Good:
    def __call__(self, context, n_tokens, seed):
        return random.Random(seed).choices(range(3), k=n_tokens)

    def sample(self, context, n_tokens, samples, seed):
        return np.random.default_rng(seed).integers(3, size=(samples, n_tokens))


def failing(report):
    return [check.name for check in report.checks if check.ok is False]


def test_a_good_subject():
    report = conformance(Good(), vocab_size=3)
    assert report.ok and report.enumerable
    assert [check.name for check in report.checks] == ["ids", "seed", "context", "sample", "enumeration"]
    assert "ok     enumeration: 100.0000% of the probability in 9 paths" in str(report)


def counting(context, n_tokens, seed, calls=[0]):  # noqa: B006 (the state between calls is the point)
    calls[0] += 1
    return [calls[0] % 3] * n_tokens


def clearing(context, n_tokens, seed):
    if isinstance(context, list):
        context.append(1)
    return [0] * n_tokens


class RaggedSample(Good):
    def sample(self, context, n_tokens, samples, seed):
        return [[0]] * samples


@pytest.mark.parametrize(
    ("subject", "name", "text"),
    [
        (3, "ids", "must be a function"),
        (lambda context: [0], "ids", "must take (context, n_tokens)"),
        (lambda context, n: [0], "ids", "at least 2 new ids"),
        (lambda context, n: [7] * n, "ids", "in 0..2, got 7"),
        (lambda context, n: [0.0] * n, "ids", "integer token ids"),
        (lambda context, n: 1 / 0, "ids", "ZeroDivisionError"),
        (counting, "seed", "the same ids for the same seed"),
        (clearing, "context", "leave its context alone"),
        (RaggedSample(), "sample", "must return 3 rows of 2 ids"),
    ],
)
def test_a_broken_contract_is_named(subject, name, text):
    report = conformance(subject, vocab_size=3)
    assert failing(report) == [name] and not report.ok
    assert text in report.checks[-1].text


def test_what_cannot_be_enumerated_is_a_note():
    report = conformance(lambda context, n: [int(random.gauss(0, 1) > 0)] * n)
    assert report.ok and not report.enumerable
    assert "note   enumeration: by sampling only: an exact audit must follow" in str(report)


def test_notes_of_a_subject_without_a_seed():
    report = conformance(lambda context, n: [0] * n)
    assert [check.text[:28] for check in report.checks if check.ok is None] == [
        "it has no parameter `seed`: ", "20 seeds all give the tokens"
    ]  # fmt: skip


def out_of_vocabulary_now_and_then(context, n_tokens):
    return [random.choices([0, 7])[0]] * n_tokens


def out_of_vocabulary_rarely(context, n_tokens):
    return [random.choices([0, 7], [1e6, 1])[0]] * n_tokens


@pytest.mark.parametrize("subject", [out_of_vocabulary_now_and_then, out_of_vocabulary_rarely])
def test_every_word_that_was_seen_is_in_the_vocabulary(subject):
    assert "must return token ids in 0..3, got 7" in str(conformance(subject, vocab_size=4))


def differing_once(context, n_tokens, seed, seen=set()):  # noqa: B006 (the state between calls is the point)
    again = seed == 3 and seed in seen
    seen.add(seed)
    return [int(again)] * n_tokens


def test_a_subject_that_does_not_repeat_itself_is_shown_where_it_did_not():
    assert "got (0, 0) and (1, 1)" in str(conformance(differing_once))


def two_lines(context, n_tokens):
    raise ValueError("first\nsecond")


def test_an_error_of_many_lines_is_one_line():
    assert "first second" in str(conformance(two_lines))


def test_no_ids_at_all():
    assert "must return a sequence of token ids, got None" in str(conformance(lambda context, n_tokens: None))
