"""Output that no law over the vocabulary emits: biased, by whatever method, with what came and how often.

Exact audits: nothing is random. Sampled ones: null "every word is one of the target's"; a single impossible word proves
the opposite, so alpha is 0, and the power of 1000 draws on an event of probability 1/16 is 1 - 1e-28. Seeds are fixed.
"""

import json
import random
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch

from rheocheck.audit import audit
from rheocheck.audit.replay import replayed
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Pair
from rheocheck.intercept import NotUnderstood, enumerate_law
from rheocheck.intercept.words import ENDED, FAILED, MAX_ID
from rheocheck.report.audit_text import audit_text
from tests.audit import subjects

FLAT = Pair(3, {(): ["1/3", "1/3", "1/3"]}, {(): ["1/2", "1/4", "1/4"]})
NAN, INFINITY = float("nan"), float("inf")


def law(context):
    return [0.5, 0.25, 0.25]


def drawn():
    return random.choices(range(3), law(()))[0]


def with_chance(p, bad):
    """Draws of FLAT's law, except that each token is `bad(drawn token)` with probability p."""

    def subject(context, n_tokens):
        return [bad(drawn()) if random.random() < p else drawn() for _ in range(n_tokens)]

    return subject


falls_off = subjects.bad_id


def bisected(context, n_tokens):
    """The same slip with searchsorted: the id V."""
    return [int(np.searchsorted(np.cumsum([0.5, 0.25, 0.1875]), np.random.random()))]


def summed(context, n_tokens):
    """The same slip in torch."""
    return [int((torch.cumsum(torch.tensor([0.5, 0.25, 0.1875]), 0) <= torch.rand(1)).sum())]


minus_one = with_chance(1 / 16, lambda x: -1)
IDS = {
    "made-up id": (falls_off, 10**6, 1 / 16, "an id outside 0..2"),
    "numpy": (bisected, 3, 1 / 16, "an id outside 0..2"),
    "torch": (summed, 3, 1 / 16, "an id outside 0..2"),
    "beyond 64 bits": (with_chance(1 / 16, lambda x: 2**70), MAX_ID, 1 / 16, "an id outside 0..2"),
    "what a cache hands out for nothing yet": (minus_one, -1, 1 / 16, "an id outside 0..2"),
    "relative to another block": (with_chance(1 / 16, lambda x: x - 17), -17, 1 / 32, "an id outside 0..2"),
    "beyond 64 bits, negative": (with_chance(1 / 16, lambda x: -(2**70)), -MAX_ID, 1 / 16, "an id outside 0..2"),
}


@pytest.mark.distribution
@pytest.mark.parametrize("name", IDS)
def test_an_id_outside_the_vocabulary_has_its_probability_and_path(name):
    subject, token, p, why = IDS[name]
    verdict = audit(subject, target=law, tokens=1, method="exact", progress=False)
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    witness = verdict.witness
    assert (witness.context, witness.token, witness.target, witness.impossible) == ((), token, 0.0, why)
    assert witness.emitted == pytest.approx(p, rel=1e-6)
    assert verdict.path.word == (token,) and verdict.path.stop is None
    assert "confirmed by" in verdict.confirmation and "E = infinite" in verdict.confirmation
    assert f'after context "", token {token}, {why}: emitted with probability' in audit_text(verdict)


@pytest.mark.distribution
@pytest.mark.parametrize("name", IDS)
def test_an_id_outside_the_vocabulary_is_counted_in_draws(name):
    subject, token, p, why = IDS[name]
    verdict = audit(subject, target=FLAT, tokens=1, samples=4000, seed=3, progress=False)
    assert (verdict.verdict, verdict.p_value, verdict.samples) == ("biased", 0.0, 1000)  # at the first look
    witness = verdict.witness
    assert (witness.context, witness.target, witness.impossible) == ((), 0.0, why)
    share = witness.hits / verdict.samples
    assert witness.emitted == share and abs(share - p) < 5 * (p / 1000) ** 0.5
    assert witness.token == token
    assert 0 < verdict.total_variation_lower < 1 / 16
    assert f"token {token}, {why}: in {witness.hits} of 1000 draws" in audit_text(verdict)
    assert any("impossible output in" in note for note in verdict.notes)
    json.loads(verdict.to_json())


def stops(context, n_tokens):
    """Now and then one token short of what it was asked for."""
    word = [drawn() for _ in range(n_tokens)]
    return word[:-1] if random.random() < 1 / 8 else word


def drops_the_bonus(context, n_tokens):
    """A block that is rejected at once emits nothing at all."""
    return [] if random.random() < 1 / 8 else [drawn() for _ in range(n_tokens)]


def stops_after_two(context, n_tokens):
    """Takes token 2 for an end of text, though nobody said so."""
    word = []
    for _ in range(n_tokens):
        word.append(drawn())
        if word[-1] == 2:
            break
    return word


def stops_at_once(context, n_tokens):
    return [drawn()]


SHORT = {
    "one short": (stops, 2, None, 1 / 8),
    "nothing": (drops_the_bonus, 2, (), 1 / 8),
    "an end that nobody named": (stops_after_two, 2, (2,), 1.0),
    "always": (stops_at_once, 2, None, 1.0),
}


@pytest.mark.distribution
@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("name", SHORT)
def test_too_few_tokens_are_a_bias(name, method):
    subject, tokens, context, p = SHORT[name]
    verdict = audit(subject, target=law, tokens=tokens, method=method, seed=1, progress=False)
    witness = verdict.witness
    assert (verdict.verdict, witness.token, witness.impossible) == ("biased", None, "the end of the text")
    assert witness.target == 0.0 and (context is None or witness.context == context)
    assert witness.emitted == pytest.approx(p, abs=1e-6 if method == "exact" else 0.08)
    text = audit_text(verdict)
    assert ", the end of the text: " in text
    assert "note: texts end early: if SUBJECT may stop, name its end-of-text token by --eos ID" in text
    if method == "exact":
        assert verdict.path.stop == "the end of the text"
        assert "the end of the text\n" in text.split("path: ")[1] or verdict.path.word == ()
    json.loads(verdict.to_json())


# probabilities that are none


def residual(x, divide):
    """The residual of a draft that was rejected for no reason: 0/0 in the library at hand."""
    return divide([0.0, 0.0, 0.0]) if random.random() < x else [0.5, 0.25, 0.25]


def nan_in_torch(context, n_tokens):
    p = torch.tensor(residual(1 / 16, list))
    return [int(torch.multinomial(p / p.sum(), 1))]


def nan_in_numpy(context, n_tokens):
    p = np.array(residual(1 / 16, list))
    with np.errstate(invalid="ignore"):
        return [int(np.random.choice(3, p=p / p.sum()))]


def nan_in_a_generator(context, n_tokens, seed):
    rng = np.random.default_rng(seed)
    p = np.array([0.0, 0.0, 0.0] if rng.random() < 1 / 16 else [0.5, 0.25, 0.25])
    with np.errstate(invalid="ignore"):
        return [int(rng.choice(3, p=p / p.sum()))]


def nan_in_random(context, n_tokens):
    return [random.choices(range(3), residual(1 / 16, lambda p: [NAN] * 3))[0]]


def nothing_left(context, n_tokens):
    return [random.choices(range(3), residual(1 / 16, list))[0]]


def nothing_left_in_torch(context, n_tokens):
    return [int(torch.multinomial(torch.tensor(residual(1 / 16, list)), 1))]


def infinite_in_torch(context, n_tokens):
    return [int(torch.multinomial(torch.tensor(residual(1 / 16, lambda p: [INFINITY, 0.0, 0.0])), 1))]


def infinite_in_random(context, n_tokens):
    return [random.choices(range(3), residual(1 / 16, lambda p: [INFINITY, 0.0, 0.0]))[0]]


def infinite_in_numpy(context, n_tokens):
    return [int(np.random.choice(3, p=residual(1 / 16, lambda p: [INFINITY, 0.0, 0.0])))]


def negative_in_torch(context, n_tokens):
    return [int(torch.multinomial(torch.tensor(residual(1 / 16, lambda p: [1.5, -0.5, 0.0])), 1))]


def negative_in_numpy(context, n_tokens):
    return [int(np.random.choice(3, p=residual(1 / 16, lambda p: [1.5, -0.5, 0.0])))]


def nan_coin(context, n_tokens):
    p = residual(1 / 16, lambda p: [NAN, 0.0, 0.0])[0]
    return [0 if torch.bernoulli(torch.tensor(p)) else random.choices([1, 2])[0]]


def coin_above_one(context, n_tokens):
    """min(1, p / q) was forgotten."""
    p = residual(1 / 16, lambda p: [1.25, 0.0, 0.0])[0]
    return [0 if np.random.binomial(1, p) else random.choices([1, 2])[0]]


def categorical(context, n_tokens):
    p = torch.tensor(residual(1 / 16, lambda p: [NAN] * 3))
    return [int(torch.distributions.Categorical(probs=p).sample())]


def checks_itself(context, n_tokens):
    p = torch.tensor(residual(1 / 16, lambda p: [NAN] * 3))
    assert torch.isfinite(p).all()
    return [int(torch.multinomial(p, 1))]


def says_so(context, n_tokens):
    p = residual(1 / 16, lambda p: [NAN] * 3)
    if p[0] != p[0]:
        raise ValueError("the residual contains NaN")
    return [random.choices(range(3), p)[0]]


def nan_as_an_id(context, n_tokens):
    return [int(residual(1 / 16, lambda p: [NAN] * 3)[0] + drawn())]  # int(NaN) raises


FAILING = [
    nan_in_torch, nan_in_numpy, nan_in_a_generator, nan_in_random, nothing_left, nothing_left_in_torch,
    infinite_in_torch, infinite_in_random, infinite_in_numpy, negative_in_torch, negative_in_numpy, nan_coin,
    coin_above_one, categorical, checks_itself, says_so, nan_as_an_id,
]  # fmt: skip
# `nan_as_an_id` also has another law: 0.5 + a draw is cut to the draw, so that it emits what `drawn` does.


@pytest.mark.distribution
@pytest.mark.parametrize("subject", FAILING)
def test_probabilities_that_are_none_are_no_output(subject):
    exact = audit(subject, target=law, tokens=1, method="exact", progress=False)
    assert exact.verdict == "biased"
    assert (exact.witness.token, exact.witness.target) == (None, 0.0)
    assert exact.witness.emitted == pytest.approx(1 / 16, rel=1e-6)
    assert exact.total_variation == pytest.approx(1 / 16, rel=1e-4)
    assert exact.witness.impossible.startswith("no output: ") and " at test_impossible.py:" in exact.witness.impossible
    assert exact.path.word == () and exact.path.stop == exact.witness.impossible
    assert "they fit the enumerated law" in exact.confirmation
    sampled = audit(subject, target=law, tokens=1, samples=1000, seed=5, progress=False)
    assert (sampled.verdict, sampled.samples, sampled.witness.token) == ("biased", 1000, None)
    assert 0.02 < sampled.witness.hits / 1000 < 0.11
    assert " at test_impossible.py:" in sampled.witness.impossible
    assert f"in {sampled.witness.hits} of 1000 draws" in audit_text(sampled)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("out of memory"), KeyError("nan"), ZeroDivisionError("division by zero"), OSError("NaN"),
     ValueError("bananas"), AssertionError(), IndexError("index 3 is out of bounds"), TypeError("NaN")],
)  # fmt: skip
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_any_other_exception_is_an_input_error(error, method):
    def subject(context, n_tokens):
        if random.random() < 1 / 16:
            raise error
        return [drawn()]

    with pytest.raises(InputError, match=f"it raised {type(error).__name__}"):
        audit(subject, target=law, tokens=1, method=method, progress=False)


@pytest.mark.parametrize("logits", [[0.0, NAN, 0.0], [-INFINITY] * 3, [INFINITY, 0.0, 0.0]])
def test_jax_draws_on_and_is_not_accused(logits):
    """Its samplers never complain: out of NaN comes some token. Not followed exactly, and counted by draws."""

    def subject(context, n_tokens, seed):
        return [int(jax.random.categorical(jax.random.key(seed), jnp.array(logits)))]

    def coin(context, n_tokens, seed):
        return [int(jax.random.bernoulli(jax.random.key(seed), jnp.exp(logits[1])))]

    with pytest.raises(NotUnderstood, match="jax.random.categorical by NaN"):
        audit(subject, target=law, tokens=1, method="exact", progress=False)
    verdict = audit(subject, target=law, tokens=1, samples=1000, confirm=False, progress=False)
    assert verdict.verdict == "biased" and verdict.witness.impossible is None  # always one token
    real = {coin((), 1, seed)[0] for seed in range(20)}
    assert {x for (x,) in enumerate_law(coin, (), 1).law} == real


def test_trouble_of_interception_with_nan_is_not_the_subjects():
    """Plain code goes on with a comparison with NaN, and with what is infinite: it must not be said to fail there."""

    def subject(context, n_tokens):
        u = random.random()
        return [int(u < NAN) + int(u * 2 < INFINITY)]

    assert enumerate_law(subject, (), 1).law == {(1,): Fraction(1)}


def test_a_subject_that_survives_its_sampler_is_followed():
    """Whoever catches the complaint of its sampler falls back, in an enumeration as in a plain run."""

    def torch_falls_back(context, n_tokens):
        try:
            return nan_in_torch(context, n_tokens)
        except RuntimeError:
            return [2]

    def numpy_falls_back(context, n_tokens):
        try:
            return nan_in_numpy(context, n_tokens)
        except ValueError:
            return [2]

    for subject in (torch_falls_back, numpy_falls_back):
        found = enumerate_law(subject, (), 1).law
        assert float(found[(2,)]) == pytest.approx(1 / 16 + 15 / 64)


@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_a_call_that_always_fails_asks_whether_it_is_the_wrapper(method):
    verdict = audit(lambda c, n: random.choices(range(3), [NAN] * 3), target=law, method=method, progress=False)
    assert (verdict.verdict, verdict.witness.emitted) == ("biased", 1.0)
    assert "no call gives any output: check how SUBJECT wraps its decoder" in verdict.notes


# baselines, batches, recordings


@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize("subject", [minus_one, nan_in_random, falls_off, with_chance(1 / 16, lambda x: 2**40)])
def test_against_a_baseline(subject, method):
    """A baseline tells no vocabulary: there the made-up id is one that it never emits; the others are impossible."""

    def baseline(context, n_tokens):
        return [drawn()]

    verdict = audit(
        subject, baseline=baseline, tokens=1, method=method, seed=2, alpha=1e-3, tv=0.1, progress=False
    )  # fmt: skip
    assert verdict.verdict == "biased"
    if subject is not falls_off:
        assert verdict.witness.target == 0.0
        why = {minus_one: "a negative id", nan_in_random: "no output: "}.get(subject, "an id beyond any vocabulary")
        assert verdict.witness.impossible.startswith(why)


@pytest.mark.parametrize("method", ["exact", "sampled"])
@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (
            with_chance(1 / 8, lambda x: -1),
            r"emit token ids >= 0, as many as asked, got \[-1\] and a negative id: run it by itself",
        ),
        (stops_at_once, "and the end of the text: name its end-of-text token by --eos ID"),
        (nan_in_random, r"got \[\] and no output: .* at test_impossible.py:[0-9]+: run it by itself"),
    ],
)
def test_what_a_baseline_emits_must_be_text(baseline, message, method):
    with pytest.raises(InputError, match=message):
        audit(
            subjects.unseeded, baseline=baseline, tokens=1 + (baseline is stops_at_once), method=method, progress=False
        )


def test_a_cut_short_baseline_still_emits_no_negative_ids():
    """Of a law half known an id may come yet; a negative one may not."""

    def subject(context, n_tokens):
        return [-1, -1] if random.random() < 1 / 2 else [drawn(), drawn()]

    verdict = audit(subject, baseline=subjects.unseeded, tokens=2, method="exact", max_paths=5, progress=False)
    assert (verdict.method, verdict.verdict, verdict.witness.token) == ("interval", "biased", -1)
    assert verdict.total_variation_lower == 0.5


class Batched:
    """Draws of FLAT; `bad(rng, words)` spoils some of them."""

    def __init__(self, bad):
        self.bad = bad

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        rng = np.random.default_rng(seed)
        return self.bad(rng, rng.choice(3, p=law(()), size=(samples, n_tokens)))


def spoil(rng, words):
    words[rng.random(len(words)) < 1 / 16, -1] = 99
    return words


def ragged(rng, words):
    return [word[:-1] if rng.random() < 1 / 16 else word for word in words.tolist()]


def unsigned(rng, words):
    words = words.astype(np.uint64)
    words[rng.random(len(words)) < 1 / 16, -1] = 2**64 - 1  # -1 of an engine that counts in unsigned numbers
    return words


def fails(rng, words):
    if rng.random() < 1 / 4:
        raise ValueError("probabilities contain NaN")
    return words


@pytest.mark.parametrize(
    ("bad", "token", "why"),
    [(spoil, 99, "an id outside"), (ragged, None, "the end of the text"), (unsigned, MAX_ID, "an id outside"),
     (fails, None, "no output: ValueError: probabilities contain NaN at test_impossible.py")],
)  # fmt: skip
def test_a_batch_with_impossible_output(bad, token, why):
    verdict = audit(Batched(bad), target=FLAT, tokens=2, samples=8000, alpha=1e-3, seed=4, progress=False)
    assert (verdict.verdict, verdict.witness.token) == ("biased", token)
    assert verdict.witness.impossible.startswith(why)
    if bad is fails:  # whole calls: 500 rows that fail together are not 500 independent ones
        assert verdict.witness.hits % 500 == 0 and verdict.total_variation_lower == 0.0
    else:
        assert abs(verdict.witness.hits / verdict.samples - 1 / 16) < 0.04 and verdict.total_variation_lower > 0


def recorded(tmp_path, kind, words):
    path = tmp_path / f"draws.{kind}"
    if kind == "npy":
        np.save(path, np.array(words))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"tokens": word}) + "\n" for word in words))
    else:
        pyarrow.parquet.write_table(pyarrow.table({"tokens": words}), path)
    return str(path)


@pytest.mark.parametrize("kind", ["npy", "jsonl", "parquet"])
@pytest.mark.parametrize("bad", [[0, 99], [0, -1], [0, 2**62 + 5], [0]], ids=["large", "negative", "huge", "short"])
def test_recordings(tmp_path, kind, bad):
    bad = [0, -1] if kind == "npy" and bad == [0] else bad  # an array has no shorter rows, but it may be padded
    rng = np.random.default_rng(8)
    words = rng.choice(3, p=law(()), size=(500, 2)).tolist()
    words[16] = words[40] = bad
    verdict = audit(recorded(tmp_path, kind, words), target=FLAT, tokens=2, progress=False)
    assert (verdict.verdict, verdict.samples, verdict.witness.hits) == ("biased", 500, 2)
    assert verdict.witness.context == (0,)
    assert verdict.witness.token == (None if len(bad) == 1 else min(bad[1], MAX_ID))
    place = "line 17" if kind == "jsonl" else "row 16"
    assert verdict.notes[0].startswith("impossible output in 2 of 500 draws, first in ")
    assert verdict.notes[0].endswith(f"draws.{kind}, {place}")


def test_a_short_array(tmp_path):
    """Every row of an array is too short: a proof too, with the question what was meant."""
    verdict = audit(recorded(tmp_path, "npy", np.zeros((30, 1), int)), target=FLAT, tokens=2, progress=False)
    assert (verdict.verdict, verdict.witness.hits, verdict.witness.emitted) == ("biased", 30, 1.0)
    assert "note: texts end early: if SUBJECT may stop" in audit_text(verdict)


# what else a run says


def test_draws_are_not_lost_and_a_resumed_run_repeats_the_verdict(tmp_path):
    """A rare id in a run with many looks: all draws count, and the file holds what was found."""
    file = str(tmp_path / "state.json")

    def rare(context, n_tokens, seed):
        rng = random.Random(seed)
        return [7] if rng.random() < 1 / 3000 else [rng.choices(range(3), law(()))[0]]

    question = dict(target=FLAT, tokens=1, samples=60_000, tv=0.001, seed=1, confirm=False, progress=False)
    first = audit(rare, resume=file, **question)
    assert (first.verdict, first.witness.token, first.witness.impossible) == ("biased", 7, "an id outside 0..2")
    again = audit(rare, resume=file, **question)
    assert (again.samples, again.witness, again.verdict) == (first.samples, first.witness, "biased")
    assert set(first.notes) < set(again.notes)
    assert first.samples > 1000  # several looks before the first hit


def test_the_witness_is_the_impossible_output_also_where_another_error_is_larger():
    def subject(context, n_tokens):
        return [5] if random.random() < 1 / 64 else [random.choices(range(3), [0.9, 0.05, 0.05])[0]]

    for method in ("exact", "sampled"):
        verdict = audit(subject, target=law, tokens=1, method=method, progress=False)
        assert (verdict.witness.token, verdict.witness.impossible) == (5, "an id outside 0..2"), method


def test_behind_a_context_the_witness_is_there():
    """The path goes through the fault: the id comes behind token 1 only."""

    def subject(context, n_tokens):
        word = [drawn()]
        word.append(3 if word == [1] and random.random() < 1 / 4 else drawn())
        return word

    for method in ("exact", "sampled"):
        verdict = audit(subject, target=law, tokens=2, context=(2,), method=method, progress=False)
        assert (verdict.witness.context, verdict.witness.token) == ((2, 1), 3)
        assert verdict.witness.emitted == pytest.approx(1 / 4, abs=1e-6 if method == "exact" else 0.1)


def test_less_than_the_float_tolerance_is_no_verdict_but_said():
    """A CDF of float32 ends 6e-8 before 1: rounding, as the float tolerance allows, and the report says it."""

    def subject(context, n_tokens):
        return [3] if random.random() < 2.0**-24 else [drawn()]

    verdict = audit(subject, target=law, tokens=1, method="exact", progress=False)
    assert verdict.verdict == "no_bias_found"
    assert "impossible output with probability 5.96e-08, too rare to be a verdict" in verdict.notes


def test_an_event_of_probability_zero_is_a_boundary_fault():
    """Only where the coin is exactly 0 something impossible comes: no part of TV, but shown."""

    def fault(output):
        subject = lambda context, n_tokens: output() if random.random() <= 0 else [drawn()]  # noqa: E731
        verdict = audit(subject, target=law, tokens=1, method="exact", progress=False)
        assert verdict.verdict == "no_bias_found"
        (found,) = verdict.boundary_faults
        assert "is emitted only on an event of probability zero" in audit_text(verdict)
        return found.word, found.stop

    assert fault(lambda: [99]) == ((99,), None)
    assert fault(list) == ((), "the end of the text")
    assert fault(lambda: random.choices(range(3), [NAN] * 3)) == ((), "no output: its probabilities were none")


def test_honest_subjects_are_not_accused():
    """The controls: no impossible output, no witness, TV 0 exact and a bound by draws."""
    assert audit(subjects.unseeded, target=subjects.CHAIN, tokens=2, method="exact").total_variation < 1e-9
    verdict = audit(subjects.honest, target=subjects.CHAIN, tokens=2, tv=0.1, alpha=1e-3, progress=False)
    assert (verdict.verdict, verdict.witness) == ("no_bias_found", None)
    assert not any("impossible" in note for note in verdict.notes)


def test_a_replay_shows_the_impossible_output():
    found = audit(falls_off, target=law, tokens=1, method="exact", progress=False)
    indices = [step.index for step in found.path.choices]
    again = replayed(falls_off, indices, target=law, tokens=1)
    assert (again.path.word, again.target) == ((10**6,), (0.0,))
    failed = audit(nan_in_random, target=law, tokens=1, method="exact", progress=False)
    again = replayed(nan_in_random, [step.index for step in failed.path.choices], target=law, tokens=1)
    assert (again.path.word, again.target, again.path.stop) == ((), (), failed.path.stop)


def test_marks_are_no_ids():
    """However large or small an id is, it is not taken for a mark."""
    assert enumerate_law(lambda c, n: [-(2**63)], (), 1).law == {(-MAX_ID,): Fraction(1)}
    assert enumerate_law(lambda c, n: [0], (), 3).law == {(0, ENDED, ENDED): Fraction(1)}
    assert enumerate_law(nan_in_random, (), 2).law[(FAILED, FAILED)] == Fraction(1, 16)
