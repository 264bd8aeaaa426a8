"""Conformance: a good subject passes every question, and each way to break the contract fails its own."""

import random

import numpy as np
import pytest
import torch

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


# ---- unseeded generators made in the call ----------------------------------------------------------------------------

LAW = [0.5, 0.3, 0.2]


def unseeded_numpy(context, n_tokens):
    return [int(x) for x in np.random.default_rng().choice(3, p=LAW, size=n_tokens)]


def unseeded_random(context, n_tokens):
    return random.Random().choices(range(3), LAW, k=n_tokens)


def unseeded_random_state(context, n_tokens, seed):
    return [int(x) for x in np.random.RandomState().choice(3, p=LAW, size=n_tokens)]


def unseeded_bit_generator(context, n_tokens):
    rng = np.random.Generator(np.random.Philox())
    return [int(rng.choice(3, p=LAW)) for _ in range(n_tokens)]


def spawned_from_an_unseeded_sequence(context, n_tokens):
    return [int(np.random.default_rng(s).choice(3, p=LAW)) for s in np.random.SeedSequence().spawn(n_tokens)]


def the_module_seeded_anew(context, n_tokens):
    random.seed()
    return random.choices(range(3), LAW, k=n_tokens)


def numpy_seeded_anew(context, n_tokens):
    np.random.seed()
    return [int(np.random.choice(3, p=LAW)) for _ in range(n_tokens)]


def torch_seeded_anew(context, n_tokens):
    torch.seed()
    return [int(x) for x in torch.multinomial(torch.tensor(LAW), n_tokens, replacement=True)]


UNSEEDED = [unseeded_numpy, unseeded_random, unseeded_random_state, unseeded_bit_generator,
            spawned_from_an_unseeded_sequence, the_module_seeded_anew, numpy_seeded_anew,
            torch_seeded_anew]  # fmt: skip


@pytest.mark.parametrize("subject", UNSEEDED)
def test_an_unseeded_generator_is_a_note_and_the_questions_go_on(subject):
    report = conformance(subject, vocab_size=3)
    assert report.ok and report.checks[-1].name == "enumeration"
    (note,) = [check for check in report.checks if "by chance" in check.text]
    line = subject.__code__.co_firstlineno + 1
    assert (note.ok, note.name) == (None, "seed")
    assert f"repeats only by chance: makes an unseeded generator at test_conformance.py:{line}" in note.text


@pytest.mark.parametrize("subject", [unseeded_numpy, unseeded_random, unseeded_bit_generator])
def test_an_unseeded_generator_is_enumerated(subject):
    assert conformance(subject, vocab_size=3).enumerable


class KeepsAGenerator:
    """Made at the first call, unseeded, and kept: a state between calls, whatever it was made of."""

    rng = None

    def __call__(self, context, n_tokens):
        self.rng = self.rng or np.random.default_rng()
        return [int(self.rng.choice(3, p=LAW)) for _ in range(n_tokens)]


def counting_beside_an_unseeded_generator(context, n_tokens, calls=[0]):  # noqa: B006
    calls[0] += 1
    return [(int(np.random.default_rng().integers(2)) + calls[0]) % 3] * n_tokens


def seeding_now_and_then(context, n_tokens, calls=[0]):  # noqa: B006
    calls[0] += 1
    return [random.Random(None if calls[0] % 3 else 5).randrange(3) for _ in range(n_tokens)]


class GeneratorOfTheObject:
    def __init__(self):
        self.rng = random.Random()

    def __call__(self, context, n_tokens):
        return self.rng.choices(range(3), LAW, k=n_tokens)


@pytest.mark.parametrize(
    "subject", [KeepsAGenerator(), counting_beside_an_unseeded_generator, seeding_now_and_then, GeneratorOfTheObject()]
)
def test_a_state_between_calls_fails_beside_an_unseeded_generator_too(subject):
    report = conformance(subject, vocab_size=3)
    assert failing(report) == ["seed"]
    assert "must return the same ids for the same seed" in report.checks[-1].text


class UnseededSample(Good):
    def sample(self, context, n_tokens, samples, seed):
        return np.random.default_rng().integers(3, size=(samples, n_tokens))


def test_an_unseeded_batch_is_a_note():
    report = conformance(UnseededSample(), vocab_size=3)
    assert report.ok and report.enumerable
    assert "note   sample: repeats only by chance: makes an unseeded generator at test_conformance.py" in str(report)


def test_the_entropy_of_the_system_is_put_back():
    conformance(unseeded_random)
    assert random.Random().random() != random.Random().random()
    assert np.random.default_rng().random() != np.random.default_rng().random()
