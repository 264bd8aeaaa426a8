"""`eos`: the law of the stopped text, of subject, target, baseline and recordings alike.

Exact audits: nothing is random. Sampled ones: null "the subject stops as the target's texts do"; alpha 1e-3 an audit
for the honest, 1e-6 for the faulty, whose bias (TV at least 0.1) 8000 draws find with power above 99.9 %. Seeds are
fixed.
"""

import itertools
import json
import random

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

from rheocheck.audit import audit
from rheocheck.audit.joint_law import joint_law
from rheocheck.audit.replay import replayed
from rheocheck.audit.stopping import stopped_target
from rheocheck.audit.target import as_target
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Pair
from rheocheck.intercept import conformance, enumerate_law
from rheocheck.report.audit_text import audit_text

EOS = 2
ROWS = {(): ["1/2", "1/4", "1/4"], (0,): ["1/4", "1/2", "1/4"], (1,): ["1/8", "3/8", "1/2"], (2,): ["1/2", "1/2", "0"]}
PAIR = Pair(3, {(): ["1/3", "1/3", "1/3"]}, ROWS)


def law(context):
    return [float(x) for x in PAIR.p(tuple(context))]


def next_token(context):
    return random.choices(range(3), law(context))[0]


def stopping(context, n_tokens):
    """The honest one: stops behind an EOS, and returns it."""
    word = []
    while len(word) < n_tokens and EOS not in word:
        word.append(next_token((*context, *word)))
    return word


def never_stopping(context, n_tokens):
    """Goes on behind an EOS: what it writes there is not looked at."""
    word = []
    for _ in range(n_tokens):
        word.append(next_token((*context, *word)))
    return word


def padding(context, n_tokens):
    """Fills up with a token of its own, as engines do."""
    word = stopping(context, n_tokens)
    return word + [10**9] * (n_tokens - len(word))


def in_blocks(context, n_tokens):
    """Two tokens a block: a block that holds an EOS is handed out whole, and is the last one."""
    word = []
    while len(word) < n_tokens and EOS not in word:
        word += never_stopping((*context, *word), 2)
    return word


def in_torch(context, n_tokens):
    word = torch.zeros(0, dtype=torch.long)
    while len(word) < n_tokens and EOS not in word.tolist():
        word = torch.cat([word, torch.multinomial(torch.tensor(law((*context, *word.tolist()))), 1)])
    return word


HONEST = [stopping, never_stopping, padding, in_blocks, in_torch]


def ignores_it(context, n_tokens):
    """Bans the EOS, and so never ends."""
    word = []
    for _ in range(n_tokens):
        word.append(random.choices(range(2), law((*context, *word))[:2])[0])
    return word


def too_early(context, n_tokens):
    """Ends half of its texts at token 1, without an EOS."""
    word = []
    while len(word) < n_tokens and EOS not in word:
        word.append(next_token((*context, *word)))
        if word[-1] == 1 and random.random() < 1 / 2:
            break
    return word


def swallowed(context, n_tokens):
    """Stops where it must, but does not return the EOS."""
    return [x for x in stopping(context, n_tokens) if x != EOS]


def too_late(context, n_tokens):
    """Overlooks an EOS that is the first token of a text."""
    word = stopping(context, n_tokens)
    return never_stopping((), n_tokens) if word == [EOS] and n_tokens > 1 else word


def sooner(context, n_tokens):
    """A true EOS, but twice as often as it should come first."""
    word = stopping(context, n_tokens)
    return [EOS] if random.random() < 1 / 4 else word


FAULTY = [ignores_it, too_early, swallowed, too_late, sooner]


def stopped_law(context, tokens):
    """The law of stopped words by brute force, an oracle."""
    found = {}
    for word in itertools.product(range(3), repeat=tokens):
        p, ended = 1.0, False
        for i, x in enumerate(word):
            p *= float(x == EOS) if ended else law((*context, *word[:i]))[x]
            ended = ended or x == EOS
        if p:
            found[word] = p
    return found


@pytest.mark.parametrize("context", [(), (1,), (EOS,), (0, EOS)])
def test_the_target_of_stopped_texts(context):
    """An EOS within the context ends nothing."""
    target = stopped_target(as_target(PAIR), EOS, context)
    joint = joint_law(target, context, 3, 0.0)
    words = map(tuple, joint.words().tolist())
    found = {word: p for word, p in zip(words, joint.law, strict=True) if p}
    assert found == pytest.approx(stopped_law(context, 3))
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.distribution
@pytest.mark.parametrize("context", [(), (EOS,)])
@pytest.mark.parametrize("target", [PAIR, law], ids=["pair", "float law"])
@pytest.mark.parametrize("subject", HONEST)
def test_a_decoder_that_stops_correctly_has_the_law_exactly(subject, target, context):
    verdict = audit(
        subject, target=target, tokens=3, context=context, eos=EOS, method="exact", progress=False
    )  # fmt: skip
    assert (verdict.verdict, verdict.witness) == ("no_bias_found", None)
    assert verdict.total_variation < (1e-6 if subject is in_torch else 1e-12)
    found = enumerate_law(subject, context, 3, eos=EOS).law
    assert {word: float(p) for word, p in found.items() if p} == pytest.approx(stopped_law(context, 3), abs=1e-6)


@pytest.mark.distribution
@pytest.mark.parametrize("subject", HONEST)
def test_a_decoder_that_stops_correctly_earns_its_bound_by_draws(subject):
    verdict = audit(
        subject, target=PAIR, tokens=3, eos=EOS, tv=0.1, alpha=1e-3, seed=2, confirm=False, progress=False
    )  # fmt: skip
    assert (verdict.verdict, verdict.witness) == ("no_bias_found", None), audit_text(verdict)


def variation(subject, tokens):
    """The true TV, from the enumerated law and the oracle."""
    emitted = {word: float(p) for word, p in enumerate_law(subject, (), tokens, eos=EOS).law.items()}
    target = stopped_law((), tokens)
    return sum(max(0.0, p - target.get(word, 0.0)) for word, p in emitted.items())


@pytest.mark.distribution
@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("subject", FAULTY)
def test_a_decoder_that_stops_wrongly_is_biased(subject, method):
    true = variation(subject, 3)
    assert true > 0.1
    limits = {} if method == "exact" else {"samples": 8000}
    verdict = audit(subject, target=PAIR, tokens=3, eos=EOS, method=method, seed=3, progress=False, **limits)
    assert verdict.verdict == "biased", audit_text(verdict)
    if method == "exact":
        assert verdict.total_variation_lower == pytest.approx(true)
    if subject in (too_early, swallowed):
        assert (verdict.witness.token, verdict.witness.impossible) == (None, "the end of the text")
        assert "note: texts end early without the end-of-text token 2: SUBJECT must return it" in audit_text(verdict)
    else:
        assert verdict.witness.impossible is None


@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_without_eos_an_honest_stop_is_a_bias(method):
    """The control of `eos` itself."""
    verdict = audit(stopping, target=PAIR, tokens=3, method=method, progress=False)
    assert (verdict.verdict, verdict.witness.token) == ("biased", None)
    assert "name its end-of-text token by --eos ID" in audit_text(verdict)


@pytest.mark.distribution
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_against_a_baseline(method):
    question = dict(baseline=never_stopping, tokens=2, eos=EOS, method=method, alpha=1e-3, tv=0.15, seed=4)
    assert audit(padding, progress=False, **question).verdict == "no_bias_found"
    assert audit(sooner, progress=False, **question).verdict == "biased"
    assert audit(swallowed, progress=False, **question).verdict == "biased"


def words_of(subject, n, tokens, seed):
    random.seed(seed)
    return [list(map(int, subject((), tokens))) for _ in range(n)]


def recorded(tmp_path, kind, words, tokens):
    path = tmp_path / f"draws.{kind}"
    if kind == "npy":
        np.save(path, np.array([word + [-1] * (tokens - len(word)) for word in words]))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"tokens": word}) + "\n" for word in words))
    else:
        pyarrow.parquet.write_table(pyarrow.table({"tokens": words}), path)
    return str(path)


@pytest.mark.distribution
@pytest.mark.parametrize("kind", ["npy", "jsonl", "parquet"])
def test_recordings_of_stopped_texts(tmp_path, kind):
    question = dict(target=PAIR, tokens=3, eos=EOS, alpha=1e-3, tv=0.2, progress=False)
    honest = recorded(tmp_path, kind, words_of(stopping, 4000, 3, seed=5), 3)
    assert audit(honest, **question).verdict == "no_bias_found"
    assert audit(honest, **question | {"eos": None}).verdict == "biased"
    wrong = recorded(tmp_path, kind, words_of(sooner, 4000, 3, seed=6), 3)
    assert audit(wrong, **question).verdict == "biased"
    early = recorded(tmp_path, kind, words_of(too_early, 4000, 3, seed=7), 3)
    verdict = audit(early, **question)
    assert verdict.verdict == "biased" and verdict.witness.impossible in ("the end of the text", "an id outside 0..2")


@pytest.mark.distribution
def test_recorded_arms(tmp_path):
    """Two recordings, and a live subject beside a recorded baseline."""
    honest = recorded(tmp_path, "jsonl", words_of(stopping, 3000, 2, seed=8), 2)
    question = dict(baseline=honest, tokens=2, eos=EOS, alpha=1e-3, tv=0.2, progress=False, confirm=False)
    assert audit(padding, **question).verdict == "no_bias_found"
    assert audit(sooner, **question).verdict == "biased"
    with pytest.raises(InputError, match="and the end of the text: name its end-of-text token by --eos ID"):
        audit(padding, **question | {"eos": None})


class Batched:
    """Whole batches, as a list of texts of different lengths or filled up."""

    def __init__(self, fill):
        self.fill = fill

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        rng = random.Random(seed)
        rows = []
        for _ in range(samples):
            word = []
            while len(word) < n_tokens and EOS not in word:
                word.append(rng.choices(range(3), law((*context, *word)))[0])
            rows.append(word + [self.fill] * (n_tokens - len(word)) if self.fill is not None else word)
        return rows if self.fill is None else np.array(rows)


@pytest.mark.distribution
@pytest.mark.parametrize("fill", [None, -1, 0, EOS])
def test_batches(fill):
    subject = Batched(fill)
    verdict = audit(subject, target=PAIR, tokens=3, eos=EOS, alpha=1e-3, tv=0.1, seed=9, progress=False)
    assert verdict.verdict == "no_bias_found", audit_text(verdict)
    assert conformance(subject, tokens=3, vocab_size=3, eos=EOS).ok
    if fill is None:
        assert not conformance(subject, tokens=3, vocab_size=3).ok


class Filtered:
    """A law whose filter may or may not keep EOS behind token 0: rounding decides."""

    def __call__(self, context):
        return law(context) if context[-1:] != (0,) else [0.5, 0.5, 0.0]

    def boundary(self, context):
        return {EOS} if context[-1:] == (0,) else ()


@pytest.mark.distribution
@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_an_end_that_is_a_boundary_token(method, share):
    """Whether EOS stays behind token 0 is not known: neither is a bias; what comes elsewhere still is looked at."""

    def subject(context, n_tokens, first=(0.5, 0.25, 0.25)):
        word = []
        while len(word) < n_tokens and EOS not in word:
            p = first if not word else law(word) if word[-1] != 0 else [0.5, 0.5 - share, share]
            word.append(random.choices(range(3), p)[0])
        return word

    question = dict(target=Filtered(), tokens=2, eos=EOS, method=method, alpha=1e-3, tv=0.1, seed=10, progress=False)
    assert audit(subject, **question).verdict == "no_bias_found"
    worse = lambda context, n_tokens: subject(context, n_tokens, (0.3, 0.45, 0.25))  # noqa: E731
    assert audit(worse, **question).verdict == "biased"


def test_a_resumed_audit_asks_for_the_same_end(tmp_path):
    file = str(tmp_path / "state.json")
    question = dict(target=PAIR, tokens=2, alpha=1e-3, samples=1500, seed=1, resume=file, progress=False)
    first = audit(stopping, eos=EOS, **question)
    assert audit(stopping, eos=EOS, **question).samples == first.samples
    with pytest.raises(InputError, match="got eos = 2 there and None now"):
        audit(stopping, **question)


def test_a_replay_stops_too():
    found = audit(sooner, target=PAIR, tokens=3, eos=EOS, method="exact", progress=False)
    assert f"tokens=3, seed=0, eos={EOS})" in found.path.replay
    again = replayed(sooner, [step.index for step in found.path.choices], target=PAIR, tokens=3, eos=EOS)
    assert again.path.word == found.path.word
    end = found.path.word.index(EOS)
    assert again.target[end + 1 :] == (1.0,) * (2 - end)


REFUSED = {
    "negative": ({"eos": -1}, "--eos must be an integer >= 0, got -1"),
    "no integer": ({"eos": "2"}, "--eos must be an integer >= 0, got '2'"),
    "outside": ({"eos": 3}, r"--eos must be a token of the target, 0..2, got 3: do both use one vocabulary\?"),
}


@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_line(name, method):
    arguments, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        audit(stopping, target=PAIR, tokens=2, method=method, **arguments)
    assert "\n" not in str(caught.value)


def test_a_decode_log_does_not_go_with_stopped_texts(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"tokens": [0, 2], "blocks": [[1, 2]]}) + "\n")
    with pytest.raises(InputError, match="--eos must go without a decode log, got --depth 2: .* --depth 0 leaves"):
        audit(str(path), target=PAIR, tokens=3, eos=EOS, depth=2)
    assert audit(str(path), target=PAIR, tokens=3, eos=EOS, depth=0, progress=False).samples == 1


def test_conformance_knows_the_end():
    assert conformance(stopping, tokens=3, vocab_size=3, eos=EOS).ok
    assert "at least 3 new ids" in str(conformance(stopping, tokens=3, vocab_size=3))
    assert "stop only behind the end-of-text token 2" in str(conformance(too_early, tokens=3, vocab_size=3, eos=EOS))
    assert "on some random choices it has none: " in str(
        conformance(lambda c, n: random.choices(range(3), [0.0] * 3 if random.random() < 1e-3 else [1, 1, 1], k=n))
    )
