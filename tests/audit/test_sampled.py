"""The sampled audit: verdict words, their claims, seeds, boundary tokens, Ctrl-C, and what it refuses."""

import json
import random

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Pair
from tests.audit import subjects

ALPHA = 1e-3


@pytest.mark.distribution
@pytest.mark.parametrize("target", [subjects.CHAIN, subjects.chain_law], ids=["pair", "float law"])
@pytest.mark.parametrize("subject", [subjects.honest, subjects.batched], ids=["one by one", "batched"])
def test_an_honest_subject_is_not_accused(subject, target):
    verdict = audit(subject, target=target, tokens=3, samples=4000, alpha=ALPHA, seed=11)
    assert (verdict.verdict, verdict.exit_code, verdict.witness) == ("no_bias_found", 0, None)
    assert verdict.p_value >= ALPHA
    assert verdict.total_variation <= verdict.total_variation_upper < 0.1
    assert verdict.smallest_detectable_tv == verdict.tv < 0.15
    assert verdict.confidence == 0.999
    assert verdict.object == 'joint prefix of 3 tokens after context ""'


@pytest.mark.distribution
def test_negative_control_a_bias_at_the_second_token_is_found_there():
    """TV 0.05 of two tokens, df 7: noncentrality 0.025 * 4000 = 100, and 56.7 has power 99.9 % at 1e-3."""
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=2, samples=4000, alpha=ALPHA, seed=3)
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    assert verdict.witness.context == (0,)
    assert verdict.witness.token in (1, 2)
    assert verdict.witness.target == pytest.approx(0.4)
    assert abs(verdict.witness.emitted - 0.4) == pytest.approx(0.1, abs=0.03)


def test_the_same_bias_is_invisible_in_the_first_token():
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=1, samples=4000, alpha=ALPHA, seed=3)
    assert verdict.verdict == "no_bias_found"
    assert verdict.object == 'first token after context ""'


def test_an_impossible_token_is_proof():
    verdict = audit(subjects.impossible, target=subjects.CHAIN, tokens=2, samples=2000, seed=1)
    assert (verdict.verdict, verdict.p_value) == ("biased", 0.0)
    assert (verdict.witness.context, verdict.witness.token, verdict.witness.target) == ((1,), 0, 0.0)
    assert verdict.witness.emitted == pytest.approx(0.01, abs=0.01)


@pytest.mark.distribution
def test_a_context_is_continued():
    verdict = audit(subjects.biased, target=subjects.CHAIN, context=(2, 0), tokens=1, samples=4000, alpha=ALPHA)
    assert (verdict.verdict, verdict.witness.context) == ("biased", (2, 0))
    assert verdict.object == 'first token after context "2 0"'


@pytest.mark.distribution
def test_sample_size_follows_from_the_bias_worth_finding():
    verdict = audit(subjects.batched, target=subjects.CHAIN, tokens=1, tv=0.1, alpha=ALPHA)
    assert verdict.verdict == "no_bias_found"
    assert verdict.smallest_detectable_tv <= verdict.tv == 0.1
    assert 800 < verdict.samples < 1200  # noncentrality 38.2 (df 2) / (4 * 0.01) = 956


def test_too_few_samples_are_inconclusive():
    verdict = audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=200, tv=0.02)
    assert (verdict.verdict, verdict.exit_code) == ("inconclusive", 3)
    assert "asked was 0.02: draw more, or raise --tv" in verdict.notes[0]
    nothing = audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=5)
    assert (nothing.verdict, nothing.smallest_detectable_tv) == ("inconclusive", 1.0)
    assert "5 draws find no bias for certain" in nothing.notes[0]


@pytest.mark.distribution
def test_a_baseline_takes_the_place_of_a_law():
    same = audit(subjects.honest, baseline=subjects.batched, tokens=2, samples=4000, alpha=ALPHA)
    assert (same.verdict, same.reference) == ("no_bias_found", "baseline")
    other = audit(subjects.biased, baseline=subjects.honest, tokens=2, samples=8000, alpha=ALPHA)
    assert (other.verdict, other.witness.context) == ("biased", (0,))
    assert other.witness.target == pytest.approx(0.4, abs=0.03)


@pytest.mark.distribution
def test_a_baseline_sizes_itself():
    verdict = audit(subjects.batched, baseline=subjects.batched, tokens=1, tv=0.15, alpha=ALPHA)
    assert verdict.verdict == "no_bias_found"
    assert verdict.smallest_detectable_tv <= verdict.tv == 0.15


def test_both_arms_get_different_seeds():
    seen = []

    def subject(context, n_tokens, seed):
        seen.append(seed)
        return [seed % 2]

    audit(subject, baseline=subject, tokens=1, samples=3000)
    assert len(set(seen)) == 6000


def test_the_seed_repeats_the_run():
    def run(seed):
        return audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=500, seed=seed)

    assert run(5) == run(5)
    assert run(5).seed == 5
    assert run(5).total_variation != run(6).total_variation


def test_a_subject_without_seed_is_seeded_once_and_says_so():
    def run():
        return audit(subjects.unseeded, target=subjects.CHAIN, tokens=2, samples=500, seed=5)

    random.seed(99)
    first = run()
    assert first.seed == "best effort"
    assert run() == first


def test_numpy_is_seeded_as_well():
    def subject(context, n_tokens):
        return list(np.random.randint(0, 2, n_tokens))

    law = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/2", "1/2"]})
    runs = [audit(subject, target=law, tokens=2, samples=300, seed=8) for _ in range(2)]
    assert runs[0] == runs[1]


class LawWithBoundary:
    """Two tokens; after token 0 rounding decides whether token 1 can follow."""

    def __init__(self, after_zero):
        self.after_zero = after_zero

    def __call__(self, context):
        return self.after_zero if context[-1:] == (0,) else [0.5, 0.5, 0.0]

    def boundary(self, context):
        return {1} if context[-1:] == (0,) else set()


def keeps_the_boundary_token(context, n_tokens, seed):
    rng = random.Random(seed)
    after_zero = [0.75, 0.25, 0.0]
    return walk_three(rng, after_zero, context, n_tokens)


def emits_token_two(context, n_tokens, seed):
    rng = random.Random(seed)
    return walk_three(rng, [0.7, 0.25, 0.05], context, n_tokens)


def walk_three(rng, after_zero, context, n_tokens):
    return subjects.walk(
        lambda s: rng.choices(range(3), after_zero if s[-1:] == (0,) else [0.5, 0.5, 0.0])[0],
        context,
        n_tokens,
    )


@pytest.mark.parametrize("law", [[1.0, 0.0, 0.0], [0.75, 0.25, 0.0]], ids=["law drops it", "law keeps it"])
def test_a_boundary_token_is_no_proof_of_bias(law):
    verdict = audit(keeps_the_boundary_token, target=LawWithBoundary(law), tokens=3, samples=2000, alpha=ALPHA, seed=2)
    assert verdict.verdict == "no_bias_found"
    first = verdict.boundary_tokens[0]
    assert (first.context, first.token, first.target) == ((0,), 1, law[1])
    assert 150 < first.hits < 350
    assert verdict.object.endswith("cut at boundary tokens")


def test_an_impossible_token_next_to_a_boundary_token_still_is():
    verdict = audit(
        emits_token_two, target=LawWithBoundary([1.0, 0.0, 0.0]), tokens=3, samples=2000, alpha=ALPHA, seed=2
    )
    assert (verdict.verdict, verdict.p_value) == ("biased", 0.0)
    assert (verdict.witness.context, verdict.witness.token, verdict.witness.target) == ((0,), 2, 0.0)


def test_ctrl_c_reports_on_what_was_drawn():
    def interrupted_at(call):
        calls = iter(range(call))

        def subject(context, n_tokens, seed):
            if next(calls, None) is None:
                raise KeyboardInterrupt
            return subjects.impossible(context, n_tokens, seed)

        return subject

    few = audit(interrupted_at(30), target=subjects.CHAIN, tokens=2, samples=2000, seed=4)
    assert (few.verdict, few.samples) == ("inconclusive", 30)
    assert few.notes[0] == "interrupted after 30 of 2000 draws: the verdict is about these"
    many = audit(interrupted_at(1500), target=subjects.CHAIN, tokens=2, samples=2000, seed=4)
    assert (many.verdict, many.samples) == ("biased", 1500)
    none = audit(interrupted_at(0), target=subjects.CHAIN, tokens=2, samples=2000)
    assert (none.verdict, none.samples, none.p_value, none.total_variation) == ("inconclusive", 0, None, None)
    json.loads(none.to_json())
    arms = audit(interrupted_at(31), baseline=subjects.honest, tokens=2, samples=2000)
    assert (arms.verdict, arms.samples) == ("inconclusive", 31)


def test_a_progress_bar_only_on_request_or_on_a_terminal(capsys):
    audit(subjects.honest, target=subjects.CHAIN, tokens=1, samples=50)
    assert capsys.readouterr() == ("", "")
    audit(subjects.honest, target=subjects.CHAIN, tokens=1, samples=50, progress=True)
    out, err = capsys.readouterr()
    assert (out, "50/50" in err) == ("", True)


def test_json_has_the_documented_keys_and_only_finite_numbers():
    data = json.loads(audit(subjects.impossible, target=subjects.CHAIN, tokens=2, samples=500).to_json())
    documented = {
        "verdict", "method", "total_variation", "total_variation_upper", "confidence", "object", "p_value",
        "e_value", "samples", "paths", "smallest_detectable_tv", "witness", "seed", "boundary_tokens",
    }  # fmt: skip
    assert documented <= data.keys()
    assert data["witness"].keys() == {"context", "token", "emitted", "target"}
    assert (data["method"], data["e_value"], data["paths"]) == ("sampled", None, None)


def raising(context, n_tokens):
    raise RuntimeError("out of memory")


LAW = subjects.CHAIN
REFUSED = {
    "no reference": ({}, "exactly one of --target and --baseline must be given, got neither"),
    "two references": ({"target": LAW, "baseline": subjects.honest}, "must be given, got both"),
    "tokens": ({"target": LAW, "tokens": 0}, "--tokens must be an integer >= 1, got 0"),
    "samples": ({"target": LAW, "samples": -1}, "--samples must be an integer >= 1, got -1"),
    "samples float": ({"target": LAW, "samples": 10.0}, "--samples must be an integer >= 1, got 10.0"),
    "alpha": ({"target": LAW, "alpha": 0}, "--alpha must lie strictly between 0 and 1, got 0"),
    "alpha NaN": ({"target": LAW, "alpha": float("nan")}, "--alpha must lie strictly .* got nan"),
    "tv": ({"target": LAW, "tv": 1}, "--tv must lie strictly between 0 and 1, got 1"),
    "rtol": ({"target": LAW, "rtol": -0.1}, r"--rtol must lie in \[0, 1\), got -0.1"),
    "seed": ({"target": LAW, "seed": -1}, "--seed must be an integer >= 0, got -1"),
    "context": ({"target": LAW, "context": (0, 3)}, r"the context must hold tokens 0..2, got \(0, 3\)"),
    "negative context": ({"target": LAW, "context": (-1,)}, "the context must be token ids >= 0"),
    "too many words": ({"target": LAW, "tokens": 40}, r"1048576 words, got 3\^40: lower --tokens to 12"),
    "target": ({"target": 3}, r"must be a Pair or a law\(context\) -> probabilities, got int"),
    "law raises": ({"target": lambda c: 1 / 0}, "must return numbers, it raised ZeroDivisionError"),
    "law NaN": ({"target": lambda c: [0.5, float("nan")]}, r"target\(\(\)\) must be probabilities >= 0, got"),
    "law negative": ({"target": lambda c: [1.5, -0.5]}, r"must be probabilities >= 0, got \[1.5, -0.5\]"),
    "law sum": ({"target": lambda c: [0.5, 0.6]}, r"target\(\(\)\) must sum to 1, got 1.1"),
    "law length": (
        {"target": lambda c: [0.5, 0.5] if not c else [1.0], "tokens": 2},
        r"must have shape \(2,\), got \(1,\)",
    ),
    "law scalar": ({"target": lambda c: 1.0}, "must return numbers, it raised TypeError"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_arguments_are_refused_in_one_line(name):
    arguments, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        audit(subjects.honest, **{"tokens": 1, **arguments})
    assert "\n" not in str(caught.value)


SUBJECTS = {
    "raises": (raising, r"subject\(\(\), 2\) must return token ids, it raised RuntimeError: out of memory"),
    "too short": (lambda c, n: [0], r"must return one row of at least 2 new ids, got shape \(1,\)"),
    "empty": (lambda c, n: [], "at least 2 new ids"),
    "None": (lambda c, n: None, "must return integer token ids, got None"),
    "two rows": (lambda c, n: [[0, 0]], r"at least 2 new ids, got shape \(1, 2\)"),
    "ragged": (lambda c, n: [[0], [0, 0]], "must return token ids, got list"),
    "floats": (lambda c, n: [0.0, 1.0], r"must return integer token ids, got \[0.0, 1.0\]"),
    "text": (lambda c, n: "01", "must return integer token ids, got '01'"),
    "bools": (lambda c, n: [True, False], "must return integer token ids"),
    "too large": (lambda c, n: [0, 3], r"must return token ids in 0..2, got 3: do both use one vocabulary\?"),
    "negative": (lambda c, n: [0, -1], r"must return token ids in 0..2, got -1"),
    "not callable": (7, r"a subject must be a function \(context, n_tokens\) -> ids, got int"),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_bad_subject_is_one_clear_line(name):
    subject, message = SUBJECTS[name]
    with pytest.raises(InputError, match=message) as caught:
        audit(subject, target=LAW, tokens=2, samples=10)
    assert "\n" not in str(caught.value)


def test_a_batch_of_the_wrong_shape_is_refused():
    class Short(subjects.Batched):
        def sample(self, context, n_tokens, samples, seed):
            return np.zeros((samples - 1, n_tokens), int)

    with pytest.raises(InputError, match=r"subject.sample\(\(\), 2, 10, seed\) must return shape \(10, 2\)"):
        audit(Short(), target=LAW, tokens=2, samples=10)


def test_more_tokens_than_asked_are_cut():
    verdict = audit(lambda c, n, seed: subjects.honest(c, n + 3, seed), target=LAW, tokens=2, samples=2000)
    assert verdict.verdict == "no_bias_found"
