"""The exact audit: what an enumerated law says against a target or a baseline, and what plain draws say of that.

The laws of small subjects are enumerated, odd ones are written down here: this is about what is built on top of them.
"""

import json
import random
import re
import time
from fractions import Fraction

import pytest

from rheocheck.audit import audit, confirmation, exact
from rheocheck.audit.exact import exact_audit
from rheocheck.audit.methods import audit as by_method
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Pair
from rheocheck.intercept import Enumeration, NotUnderstood, NullEvent
from rheocheck.intercept.run import Step
from tests.audit import subjects
from tests.audit.test_sampled import LawWithBoundary

UNIT = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/2", "1/2"]})
FINE = Pair(3, {(): [0, 0, 1]}, {(): ["1/4", "3/4", 0]})


def enumerated(law, *, stopped=None, boundaries=(), lengths=None):
    """An enumeration as an engine would return it."""
    law = {word: Fraction(mass) for word, mass in law.items()}
    endings = {}
    for word, mass in law.items():
        count = (lengths or {}).get(word, 1)
        step = None
        for weight in [mass] + [Fraction(1)] * (count - 1):
            what = f"drew {word[0]}"
            step = Step(step, 0, (weight, 1 - weight), "decoder.py:7", what)
        endings[word] = [step]
    return Enumeration(law, 1 - sum(law.values()), len(law), stopped, 0.5, endings, tuple(boundaries))


@pytest.fixture
def says(monkeypatch):
    """Makes the engine return these enumerations: of the subject, then (of a run with two) of the baseline."""

    def install(found, baseline=None):
        order = [found] if baseline is None else [baseline, found]
        monkeypatch.setattr(exact, "enumerate_law", lambda *a, **k: order.pop(0))

    return install


def drawing(weights):
    return lambda context, n_tokens: [random.choices(range(len(weights)), weights)[0] for _ in range(n_tokens)]


# verdicts


@pytest.mark.distribution
@pytest.mark.parametrize("target", [subjects.CHAIN, subjects.chain_law], ids=["pair", "float law"])
@pytest.mark.parametrize("subject", [subjects.honest, subjects.unseeded, subjects.flipped])
def test_an_honest_subject_has_the_law_exactly(subject, target):
    verdict = exact_audit(subject, target=target, tokens=3)
    assert (verdict.verdict, verdict.exit_code, verdict.method) == ("no_bias_found", 0, "exact")
    assert verdict.total_variation < 1e-12
    assert verdict.total_variation == verdict.total_variation_lower == verdict.total_variation_upper
    assert (verdict.confidence, verdict.samples, verdict.p_value, verdict.e_value) == (1.0, 0, None, None)
    assert (verdict.unseen, verdict.stopped, verdict.confirmation, verdict.path, verdict.notes) == (
        0,
        None,
        None,
        None,
        (),
    )
    assert verdict.object == 'joint prefix of 3 tokens after context ""'
    assert verdict.tolerance == verdict.smallest_detectable_tv
    assert verdict.tolerance == pytest.approx(1e-6 if target is subjects.CHAIN else 2.5e-6)


@pytest.mark.distribution
@pytest.mark.parametrize("subject", [subjects.biased, subjects.plainly_biased], ids=["with seed", "without"])
def test_a_planted_fault_is_found_with_its_exact_tv_and_confirmed(subject):
    """After 0 (probability 1/2), token 1 has 1/2 instead of 2/5: TV 1/20."""
    verdict = exact_audit(subject, target=subjects.CHAIN, tokens=2, question={"subject": "my:s", "target": "my:law"})
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    assert verdict.total_variation == pytest.approx(1 / 20, abs=1e-12)
    assert (verdict.witness.context, verdict.witness.token) == ((0,), 1)
    assert (verdict.witness.emitted, verdict.witness.target) == pytest.approx((0.5, 0.4))
    assert (verdict.path.word, len(verdict.path.choices)) == ((0, 1), 2)
    assert verdict.path.weight == pytest.approx(0.25)
    assert [step.index for step in verdict.path.choices] == [0, 1]
    assert verdict.path.replay == "rheocheck audit my:s --target my:law --tokens 2 --replay 0,1"
    assert verdict.confirmation.startswith("confirmed by 2375 plain draws: E = 10^")  # 30 / KL
    assert "they fit the enumerated law" in verdict.confirmation
    assert json.loads(verdict.to_json())["path"]["choices"][1]["what"] == "random.choices drew 1"


def test_the_context_is_in_front_of_the_witness_and_in_the_replay():
    asked = {"subject": "my:s", "target": None, "settings": {"flag": True, "name": "a b"}}
    verdict = exact_audit(subjects.biased, target=subjects.CHAIN, context=(2, 0), tokens=1, seed=3, question=asked)
    assert (verdict.witness.context, verdict.object) == ((2, 0), 'first token after context "2 0"')
    expected = "rheocheck audit my:s --set flag=True --set 'name=a b' --context '2 0' --tokens 1 --seed 3 --replay 1"
    assert verdict.path.replay == expected
    unnamed = exact_audit(subjects.biased, target=subjects.CHAIN, context=(2, 0), tokens=1)
    assert unnamed.path.replay == "rheocheck.intercept.replay(subject, [1], context=(2, 0), tokens=1, seed=0)"


def test_the_witness_is_what_comes_too_often(says):
    """1 comes too rarely by 1/4; 0 and 2 too often by 1/8 each: the first of them can be shown, the smallest."""
    law = Pair(3, {(): [0, 0, 1]}, {(): ["1/4", "1/2", "1/4"]})
    says(enumerated({(0,): "3/8", (1,): "1/4", (2,): "3/8"}))
    verdict = exact_audit(drawing([3, 2, 3]), target=law, tokens=1)
    assert (verdict.witness.token, verdict.witness.emitted, verdict.witness.target) == (0, 0.375, 0.25)


def test_the_path_is_the_shortest_through_the_witness(says):
    """Both words begin with what comes too often; only the second one itself does."""
    law = {(0, 0): "1/4", (0, 1): "1/2", (1, 0): "1/8", (1, 1): "1/8"}
    says(enumerated(law, lengths={(0, 0): 1, (0, 1): 3}))
    verdict = exact_audit(drawing([1, 1]), target=UNIT, tokens=2, confirm=False)
    assert (verdict.witness.context, verdict.witness.token) == ((), 0)
    assert (verdict.path.word, len(verdict.path.choices)) == ((0, 1), 3)
    shorter = {word: {(0, 0): 1, (0, 1): 3}.get(word, 1) for word in law}
    says(enumerated(dict(law) | {(0, 0): "3/8", (0, 1): "3/8"}, lengths=shorter))
    both = exact_audit(drawing([1, 1]), target=UNIT, tokens=2, confirm=False)
    assert (both.path.word, len(both.path.choices)) == ((0, 0), 1)


def test_rounding_is_no_bias_and_the_tolerance_is_yours(says):
    half = Fraction(1, 2)
    for tv, tolerance, word in ((4e-8, 1e-6, "no_bias_found"), (2e-6, 1e-6, "biased"), (2e-6, 1e-5, "no_bias_found")):
        says(enumerated({(0,): half + Fraction(tv), (1,): half - Fraction(tv)}))
        verdict = exact_audit(drawing([1, 1]), target=UNIT, tokens=1, float_tolerance=tolerance)
        assert (verdict.verdict, verdict.total_variation) == (word, pytest.approx(tv))


def test_a_float_law_may_owe_half_its_relative_error(says):
    """(1 + 1e-4)^1 - 1: laws this close may lie 5e-5 apart. What has probability 0 owes nothing to it."""
    half, tv = Fraction(1, 2), Fraction(4e-5)
    say = lambda: says(enumerated({(0,): half + tv, (1,): half - tv}))  # noqa: E731
    say()
    assert exact_audit(drawing([1, 1]), target=UNIT, tokens=1, rtol=1e-4).verdict == "no_bias_found"
    say()
    assert exact_audit(drawing([1, 1]), target=UNIT, tokens=1, rtol=1e-6, confirm=False).verdict == "biased"
    says(enumerated({(0,): "1/4", (1,): Fraction(3, 4) - tv, (2,): tv}))
    verdict = exact_audit(drawing([1, 3, 1e-4]), target=FINE, tokens=1, rtol=1e-4, confirm=False)
    assert (verdict.verdict, verdict.witness.token, verdict.witness.target) == ("biased", 2, 0)
    assert verdict.total_variation < verdict.tolerance


def test_an_impossible_token_below_the_float_tolerance_is_rounding(says):
    tiny = Fraction(1e-8)
    says(enumerated({(0,): "1/4", (1,): Fraction(3, 4) - tiny, (2,): tiny}))
    assert exact_audit(drawing([1, 3]), target=FINE, tokens=1).verdict == "no_bias_found"


# cut short


def test_an_enumeration_cut_short_gives_a_certified_interval(says):
    """s = 3/8, 1/4, r = 3/8 against 1/4, 3/4: between 1/8 and 1/2. A witness that is certain, at least 3/8."""
    says(enumerated({(0,): "3/8", (1,): "1/4"}, stopped="max_paths"))
    verdict = exact_audit(drawing([6, 2]), target=FINE, tokens=1, max_paths=2)
    assert (verdict.verdict, verdict.method, verdict.total_variation) == ("biased", "interval", None)
    assert (verdict.total_variation_lower, verdict.total_variation_upper) == (0.125, 0.5)
    assert (verdict.witness.token, verdict.witness.emitted) == (0, 0.375)
    assert (verdict.unseen, verdict.stopped, verdict.paths, verdict.seconds) == (0.375, "max_paths", 2, 0.5)
    assert "max_paths ended the enumeration at 62.5000% of the probability: raise --max-paths" in verdict.notes[0]
    assert verdict.confirmation.startswith("confirmed by ")


def test_an_interval_that_decides_nothing_is_inconclusive(says):
    says(enumerated({(0,): "1/4", (1,): "1/2"}, stopped="max_seconds"))
    verdict = exact_audit(drawing([1, 3]), target=FINE, tokens=1)
    assert (verdict.verdict, verdict.exit_code, verdict.witness, verdict.path) == ("inconclusive", 3, None, None)
    assert (verdict.total_variation_lower, verdict.total_variation_upper) == (0, 0.25)
    assert verdict.smallest_detectable_tv == pytest.approx(0.25 + 1e-6)
    assert "raise --max-seconds" in verdict.notes[0]


def test_a_rest_below_the_tolerance_decides(says):
    rest = Fraction(1e-9)
    says(enumerated({(0,): "1/4", (1,): Fraction(3, 4) - rest}, stopped="max_paths"))
    verdict = exact_audit(drawing([1, 3]), target=FINE, tokens=1)
    assert (verdict.verdict, verdict.method, verdict.total_variation) == ("no_bias_found", "interval", None)


@pytest.mark.distribution
def test_every_cut_holds_the_exact_value():
    whole = exact_audit(subjects.unsubtracted, target=subjects.FIVE, tokens=1).total_variation
    for paths in range(1, 20, 3):
        cut = exact_audit(subjects.unsubtracted, target=subjects.FIVE, tokens=1, max_paths=paths, confirm=False)
        assert cut.total_variation_lower <= whole + 1e-12 and whole - 1e-12 <= cut.total_variation_upper


def test_a_certain_bias_may_have_no_certain_witness(says):
    """Each word's excess is certain, each single error is not: the path is shown all the same."""
    law = Pair(2, {(): [0, 1]}, {(): ["1/2", "1/2"]})
    says(enumerated({(0, 0): "3/10", (1, 0): "3/10"}, stopped="max_paths"))
    verdict = exact_audit(drawing([1, 1]), target=law, tokens=2, confirm=False)
    assert (verdict.verdict, verdict.total_variation_lower) == ("biased", pytest.approx(0.1))
    assert verdict.witness is None or verdict.witness.emitted > verdict.witness.target
    assert verdict.path.word == (0, 0)


def test_ctrl_c_gives_the_interval_and_no_plain_run(says):
    says(enumerated({(0,): "1/2"}, stopped="interrupted"))
    verdict = exact_audit(drawing([1, 1]), target=FINE, tokens=1)
    assert (verdict.verdict, verdict.interrupted) == ("biased", True)
    assert verdict.confirmation == "not confirmed by plain draws: interrupted"
    assert verdict.notes == ("Ctrl-C ended the enumeration at 50.0000% of the probability",)


def test_ctrl_c_before_the_plain_runs_leaves_no_pass(says):
    """The law is all there, but nothing hidden was looked for."""
    says(enumerated({(0,): "1/2", (1,): "1/2"}, stopped="interrupted"))
    verdict = exact_audit(drawing([1, 1]), target=lambda context: [0.5, 0.5], tokens=1)
    assert (verdict.verdict, verdict.interrupted, verdict.plain_runs) == ("inconclusive", True, 0)
    assert verdict.hidden_tv == verdict.hidden_event == 1.0
    assert verdict.notes[0] == "Ctrl-C left no time for plain runs of the real code"


@pytest.mark.parametrize(
    ("kind", "word", "said"),
    [
        (subjects.unseeded, "inconclusive", None),
        (
            lambda context, n: [int(random.random() < 0.9) for _ in range(n)],
            "biased",
            "not confirmed by plain draws: interrupted",
        ),
    ],
)
def test_ctrl_c_in_the_engine(kind, word, said):
    calls = []

    def subject(context, n_tokens):
        calls.append(1)
        if len(calls) > 30:
            raise KeyboardInterrupt
        return kind(context, n_tokens)

    verdict = exact_audit(subject, target=subjects.CHAIN, tokens=3)
    assert (verdict.verdict, verdict.interrupted, verdict.stopped) == (word, True, "interrupted")
    assert verdict.confirmation == said
    assert 0 < verdict.unseen < 1


# a baseline


@pytest.mark.distribution
def test_a_baseline_is_enumerated_too():
    same = exact_audit(subjects.flipped, baseline=subjects.unseeded, tokens=2)
    assert (same.verdict, same.reference, same.unseen) == ("no_bias_found", "baseline", 0)
    other = exact_audit(subjects.biased, baseline=subjects.honest, tokens=2)
    assert (other.verdict, other.total_variation) == ("biased", pytest.approx(0.05))
    assert (other.witness.context, other.witness.token, other.witness.target) == ((0,), 1, pytest.approx(0.4))
    assert other.confirmation.startswith("confirmed by 2375 plain draws")


def test_an_interval_against_an_interval(says):
    """Excess 1/2 - 1/4; r2 = 1/2 may be where it is, r = 1/4 may be more of it."""
    says(
        enumerated({(0,): "1/2", (1,): "1/4"}, stopped="max_paths"),
        enumerated({(0,): "1/4", (1,): "1/4"}, stopped="max_paths"),
    )
    verdict = exact_audit(drawing([1, 1]), baseline=drawing([1, 1]), tokens=1)
    assert (verdict.total_variation_lower, verdict.total_variation_upper) == (0, 0.5)
    assert (verdict.verdict, verdict.unseen) == ("inconclusive", 0.75)


def test_certain_against_an_unfinished_baseline(says):
    says(enumerated({(0,): "3/4", (1,): "1/4"}), enumerated({(1,): "3/4", (0,): "1/8"}, stopped="max_paths"))
    verdict = exact_audit(drawing([3, 1]), baseline=drawing([1, 3]), tokens=1)
    assert (verdict.verdict, verdict.total_variation_lower) == ("biased", 0.5)
    assert (verdict.witness.token, verdict.witness.emitted, verdict.witness.target) == (0, 0.75, 0.25)
    assert verdict.confirmation.startswith("confirmed by 200 plain draws")


def test_ctrl_c_while_a_baseline_is_enumerated_leaves_the_subject_alone():
    def interrupted(context, n_tokens):
        raise KeyboardInterrupt

    def untouched(context, n_tokens):
        raise AssertionError

    verdict = exact_audit(untouched, baseline=interrupted, tokens=1)
    assert (verdict.verdict, verdict.paths, verdict.interrupted) == ("inconclusive", 0, True)
    assert (verdict.total_variation_lower, verdict.total_variation_upper) == (0, 1)


def test_the_time_is_shared(monkeypatch):
    budgets = []

    def engine(subject, context, tokens, *, max_paths, max_seconds, progress, seed, eos):
        budgets.append(max_seconds)
        return enumerated({(0,): 1})

    monkeypatch.setattr(exact, "enumerate_law", engine)
    exact_audit(drawing([1]), baseline=drawing([1]), tokens=1, max_seconds=10)
    exact_audit(drawing([1]), target=UNIT, tokens=1, max_seconds=10, confirm=False)
    assert budgets == [5, 9.5, 10]


# boundaries


def test_boundary_tokens_merge_what_lies_behind_them():
    def subject(context, n_tokens):
        keeps = lambda s: [0.75, 0.25, 0.0] if s[-1:] == (0,) else [0.5, 0.5, 0.0]  # noqa: E731
        return subjects.walk(lambda s: random.choices(range(3), keeps(s))[0], context, n_tokens)

    verdict = exact_audit(subject, target=LawWithBoundary([1.0, 0.0, 0.0]), tokens=3)
    assert verdict.verdict == "no_bias_found"
    assert verdict.object.endswith(", cut at boundary tokens")
    first = verdict.boundary_tokens[0]
    assert (first.context, first.token, first.target, first.hits, first.emitted) == ((0,), 1, 0.0, 0, 0.25)


def test_an_impossible_token_next_to_a_boundary_token_is_a_bias():
    def subject(context, n_tokens):
        leaks = lambda s: [0.7, 0.25, 0.05] if s[-1:] == (0,) else [0.5, 0.5, 0.0]  # noqa: E731
        return subjects.walk(lambda s: random.choices(range(3), leaks(s))[0], context, n_tokens)

    verdict = exact_audit(subject, target=LawWithBoundary([1.0, 0.0, 0.0]), tokens=2)
    assert verdict.verdict == "biased"
    assert (verdict.witness.context, verdict.witness.token, verdict.witness.target) == ((0,), 2, 0.0)
    assert verdict.path.word == (0, 2)


EVENT = ("uniform 0 satisfies uniform <= 0", "decoder.py:9")


def test_events_of_probability_zero_are_boundary_faults_and_no_bias(says):
    """Only what the target never emits, and the subject with no probability, is one."""
    events = [NullEvent((2,), *EVENT), NullEvent((2,), *EVENT), NullEvent((0,), *EVENT)]
    says(enumerated({(0,): "1/4", (1,): "3/4"}, boundaries=events))
    verdict = exact_audit(drawing([1, 3]), target=FINE, tokens=1)
    assert (verdict.verdict, verdict.total_variation) == ("no_bias_found", 0)
    assert [(f.word, f.what, f.line) for f in verdict.boundary_faults] == [((2,), *EVENT)]


def test_an_event_of_probability_zero_may_leave_the_vocabulary(says):
    """A search in cumulated probabilities that finds no place for the largest uniform."""
    says(enumerated({(0,): "1/4", (1,): "3/4"}, boundaries=[NullEvent((3,), *EVENT)]))
    assert [fault.word for fault in exact_audit(drawing([1, 3]), target=FINE, tokens=1).boundary_faults] == [(3,)]


def test_a_word_that_is_emitted_anyway_is_no_boundary_fault(says):
    says(enumerated({(0,): "1/4", (1,): "1/4", (2,): "1/2"}, boundaries=[NullEvent((2,), *EVENT)]))
    assert exact_audit(drawing([1, 1, 2]), target=FINE, tokens=1).boundary_faults == ()


def test_a_baseline_has_boundary_faults_only_when_it_is_known_to_its_end(says):
    for rest, count in ((0, 1), (Fraction(1, 8), 0)):
        says(enumerated({(0,): 1}, boundaries=[NullEvent((1,), *EVENT)]), enumerated({(0,): 1 - rest}))
        assert len(exact_audit(drawing([1]), baseline=drawing([1]), tokens=1, confirm=False).boundary_faults) == count


def test_a_draw_of_a_boundary_fault_does_not_contradict_the_enumeration(says):
    """A rounded generator may hit an event of probability zero."""
    law = Pair(4, {(): [0, 0, 0, 1]}, {(): ["1/2", "1/2", 0, 0]})
    calls = []

    def subject(context, n_tokens):
        calls.append(1)
        return [3] if len(calls) == 5 else [random.choices([0, 1], [3, 1])[0]]

    says(enumerated({(0,): "3/4", (1,): "1/4"}, boundaries=[NullEvent((3,), *EVENT)]))
    assert exact_audit(subject, target=law, tokens=1).verdict == "biased"
    calls.clear()
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    assert exact_audit(subject, target=law, tokens=1).verdict == "inconclusive"


# plain draws


@pytest.mark.distribution
def test_draws_that_contradict_the_enumeration_leave_no_verdict(says):
    """The control: the engine says 3/4, the subject draws fairly."""
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    verdict = exact_audit(drawing([1, 1]), target=UNIT, tokens=1)
    assert (verdict.verdict, verdict.exit_code) == ("inconclusive", 3)
    assert "they contradict the enumerated law" in verdict.confirmation
    assert verdict.notes[0].startswith("interception and plain runs disagree, so nothing is said")
    assert verdict.total_variation == 0.25  # what was computed is still shown


@pytest.mark.distribution
def test_draws_that_contradict_an_interval(says):
    says(enumerated({(0,): "3/4"}, stopped="max_paths"))
    verdict = exact_audit(drawing([1, 1]), target=UNIT, tokens=1)
    assert (verdict.verdict, "they contradict" in verdict.confirmation) == ("inconclusive", True)


@pytest.mark.distribution
def test_draws_of_a_baseline_that_contradict_its_enumeration(says):
    """Both enumerations wrong or one: the subject's draws alone would confirm a bias that is not there."""
    says(enumerated({(0,): "1/2", (1,): "1/2"}), enumerated({(0,): "1/4", (1,): "3/4"}))
    verdict = exact_audit(drawing([1, 1]), baseline=drawing([1, 1]), tokens=1)
    assert (verdict.verdict, "they contradict" in verdict.confirmation) == ("inconclusive", True)
    says(enumerated({(0,): "3/4", (1,): "1/4"}), enumerated({(0,): "1/8", (1,): "3/4"}, stopped="max_paths"))
    verdict = exact_audit(drawing([3, 1]), baseline=drawing([3, 1]), tokens=1)
    assert (verdict.verdict, "they contradict" in verdict.confirmation) == ("inconclusive", True)


@pytest.mark.distribution
def test_an_impossible_word_confirms_at_its_first_hit(says):
    says(enumerated({(0,): "1/4", (1,): "1/2", (2,): "1/4"}))
    verdict = exact_audit(drawing([1, 2, 1]), target=FINE, tokens=1)
    assert verdict.confirmation.startswith("confirmed by 200 plain draws: E = infinite; they fit")


def test_a_bias_too_small_for_draws_says_so(says):
    half, tv = Fraction(1, 2), Fraction(1, 10**5)
    says(enumerated({(0,): half + tv, (1,): half - tv}))
    verdict = exact_audit(drawing([1, 1]), target=UNIT, tokens=1)
    assert verdict.verdict == "biased"
    assert verdict.confirmation.startswith(
        "too small to be confirmed by 2000 plain draws, it would take about 2e+11; they fit"
    )


@pytest.mark.distribution
def test_a_bias_that_plain_draws_do_not_show(says):
    """1/2 against 1/2 + 0.03, drawn half way: too near to the enumerated law to contradict it, and no E."""
    half, tv = Fraction(1, 2), Fraction(3, 100)
    says(enumerated({(0,): half + tv, (1,): half - tv}))
    verdict = exact_audit(drawing([516, 484]), target=UNIT, tokens=1, seed=1)
    assert verdict.verdict == "biased"
    assert verdict.confirmation.startswith("not confirmed by ")


def test_plain_draws_end_with_the_time(monkeypatch, says):
    monkeypatch.setattr(confirmation, "SECONDS", 0.0)
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    verdict = exact_audit(drawing([3, 1]), target=UNIT, tokens=1)
    assert verdict.confirmation.startswith(
        "too small to be confirmed by 0 plain draws, it would take about 2e+02; they fit"
    )


def test_ctrl_c_ends_plain_draws(says):
    calls = []

    def subject(context, n_tokens):
        calls.append(1)
        if len(calls) > 40:
            raise KeyboardInterrupt
        return [random.choices([0, 1], [3, 1])[0]]

    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    assert " 40 plain draws" in exact_audit(subject, target=UNIT, tokens=1).confirmation


def test_plain_draws_have_fresh_seeds_and_leave_sample_alone(says):
    class Both:
        def __init__(self):
            self.seeds = []

        def __call__(self, context, n_tokens, seed):
            self.seeds.append(seed)
            return random.Random(seed).choices([0, 1], [3, 1])

        def sample(self, context, n_tokens, samples, seed):
            raise AssertionError

    subject = Both()
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    verdict = exact_audit(subject, target=UNIT, tokens=1)
    assert (verdict.verdict, len(set(subject.seeds))) == ("biased", len(subject.seeds))
    assert verdict.notes == ("this is the law of single calls: what subject.sample() draws was not looked at",)


def test_confirm_can_be_left_out(says):
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    assert exact_audit(drawing([1, 1]), target=UNIT, tokens=1, confirm=False).confirmation is None


# methods


def test_the_default_of_the_function_is_sampled():
    verdict = audit(subjects.honest, target=subjects.CHAIN, tokens=2, tv=0.1, alpha=1e-3)
    assert (verdict.method, verdict.object) == ("sampled", 'joint prefix of 2 tokens after context ""')
    assert audit is by_method


@pytest.mark.distribution
def test_auto_is_exact_where_that_decides():
    for subject, word in ((subjects.honest, "no_bias_found"), (subjects.biased, "biased")):
        verdict = audit(subject, target=subjects.CHAIN, tokens=2, method="auto")
        assert (verdict.verdict, verdict.method) == (word, "exact")
        assert len(verdict.notes) == (word == "no_bias_found")  # a pass says what it did not look at


def fell_back(verdict):
    assert verdict.method == "sampled"
    (note,) = [note for note in verdict.notes if note.startswith("method auto")]
    return note


@pytest.mark.distribution
def test_auto_falls_back_and_says_why(monkeypatch, says):
    ask = dict(target=subjects.CHAIN, tokens=2, tv=0.1, alpha=1e-3, method="auto")
    note = fell_back(audit(subjects.honest, **ask, max_paths=2))
    assert note.startswith("method auto fell back to sampling: max_paths ended the enumeration at")
    assert "TV lies between 0 and 0." in note

    def refuses(*arguments, **keywords):
        raise NotUnderstood("torch.cholesky of a uniform, decoder.py:3: draw it another way")

    monkeypatch.setattr(exact, "enumerate_law", refuses)
    note = fell_back(audit(subjects.honest, **ask))
    assert note.endswith("fell back to sampling: torch.cholesky of a uniform, decoder.py:3: draw it another way")


@pytest.mark.distribution
def test_auto_samples_where_plain_draws_contradict(says):
    says(enumerated({(0,): "3/4", (1,): "1/4"}))
    verdict = audit(drawing([1, 1]), target=UNIT, tokens=1, tv=0.1, alpha=1e-3, method="auto")
    assert "interception and plain runs disagree" in fell_back(verdict)
    assert verdict.verdict == "no_bias_found"


@pytest.mark.distribution
def test_auto_samples_where_a_law_is_too_large_to_list():
    verdict = audit(subjects.honest, target=subjects.CHAIN, tokens=40, tv=0.4, alpha=1e-3, method="auto")
    assert "the joint law must have at most 1048576 words, got more of 40 tokens" in fell_back(verdict)


def test_auto_has_a_budget_of_20_seconds(monkeypatch):
    budgets = []

    def engine(*arguments, max_seconds, **keywords):
        budgets.append(max_seconds)
        return enumerated({(0,): "1/2", (1,): "1/2"})

    monkeypatch.setattr(exact, "enumerate_law", engine)
    for more in ({}, {"max_seconds": 3.0}):
        assert audit(drawing([1, 1]), target=UNIT, tokens=1, method="auto", **more).method == "exact"
    assert budgets == [20, 3]


def test_auto_after_ctrl_c_does_not_begin_to_sample(says):
    says(enumerated({(0,): "1/4"}, stopped="interrupted"))
    verdict = audit(drawing([1, 1]), target=UNIT, tokens=1, method="auto")
    assert (verdict.method, verdict.verdict, verdict.interrupted) == ("interval", "inconclusive", True)


def test_auto_means_sampled_with_what_only_that_can_do(tmp_path):
    path = tmp_path / "draws.jsonl"
    path.write_text('{"tokens": [0]}\n' * 20)
    ask = dict(target=UNIT, tokens=1, method="auto")
    assert fell_back(audit(drawing([1, 1]), samples=50, **ask)) == "method auto means sampled with --samples"
    resumed = audit(
        subjects.honest, target=subjects.CHAIN, tokens=1, tv=0.2, alpha=1e-3, resume=str(tmp_path / "a"), method="auto"
    )
    assert fell_back(resumed) == "method auto means sampled with --resume"
    assert fell_back(audit(str(path), **ask)) == "method auto means sampled with recorded samples"


def test_a_subject_that_raises_is_one_line_and_auto_still_samples():
    """Its call is broken, what is sampled is not."""
    with pytest.raises(
        InputError,
        match=r"subject\(\(\), 1\) must return token ids, it raised AssertionError .*: sample",
    ):
        exact_audit(subjects.batched, target=subjects.CHAIN, tokens=1)
    verdict = audit(subjects.batched, target=subjects.CHAIN, tokens=1, tv=0.2, alpha=1e-3, method="auto")
    assert "it raised AssertionError" in fell_back(verdict)


def test_a_bar_of_the_probability_covered(capsys):
    def slow(context, n_tokens):
        time.sleep(0.03)
        return subjects.unseeded(context, n_tokens)

    exact_audit(slow, target=subjects.CHAIN, tokens=2, progress=True)
    assert re.search(r"subject +\d\d% of the probability .* \d paths", capsys.readouterr().err)
    exact_audit(subjects.honest, target=subjects.CHAIN, tokens=2, progress=False)
    assert capsys.readouterr().err == ""


REFUSED = {
    "no reference": ({"target": None}, "exactly one of --target and --baseline must be given, got neither"),
    "tokens": ({"tokens": 0}, "--tokens must be an integer >= 1, got 0"),
    "context": ({"context": (-1,)}, "the context must be token ids >= 0"),
    "seed": ({"seed": -1}, "--seed must be an integer >= 0"),
    "rtol": ({"rtol": 1}, r"--rtol must lie in \[0, 1\), got 1"),
    "alpha": ({"alpha": 2}, "--alpha must lie strictly between 0 and 1"),
    "paths": ({"max_paths": 0}, "--max-paths must be an integer >= 1, got 0"),
    "seconds": ({"max_seconds": 0}, "--max-seconds must be above 0, got 0"),
    "seconds nan": ({"max_seconds": float("nan")}, "--max-seconds must be above 0, got nan"),
    "float tolerance": ({"float_tolerance": -1e-6}, r"--float-tolerance must lie in \[0, 1\), got -1e-06"),
    "not callable": ({"subject": 7}, "a subject must be a function"),
    "endpoint": ({"subject": "https://host/v1"}, "got the endpoint"),
    "words": ({"tokens": 16}, "at most 1048576 words, got more of 16 tokens"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_line(name):
    arguments, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        exact_audit(**({"subject": subjects.honest, "target": subjects.CHAIN, "tokens": 2} | arguments))
    assert "\n" not in str(caught.value)


def test_methods_refuse_what_does_not_go_together(tmp_path):
    path = tmp_path / "draws.jsonl"
    path.write_text('{"tokens": [0]}\n')
    with pytest.raises(InputError, match="--method must be one of auto, exact, sampled, got 'guess'"):
        audit(subjects.honest, target=subjects.CHAIN, method="guess")
    for more in ({"samples": 9}, {"depth": 1}, {"resume": "x"}):
        with pytest.raises(InputError, match=f"--{next(iter(more))} must go with --method sampled, got --method exact"):
            audit(subjects.honest, target=subjects.CHAIN, method="exact", **more)
    for name, value in (("paths", 9), ("seconds", 1.5)):
        with pytest.raises(InputError, match=f"--max-{name} must go with --method exact or auto, got {value}"):
            audit(subjects.honest, target=subjects.CHAIN, **{f"max_{name}": value})
    with pytest.raises(InputError, match="must have code to run, got the recorded samples"):
        audit(str(path), target=UNIT, tokens=1, method="exact")
