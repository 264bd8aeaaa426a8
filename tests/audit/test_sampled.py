"""The sampled audit: verdict words, their claims, seeds, boundary tokens, Ctrl-C, and what it refuses."""

import json
import os
import random
import re
import signal
import time

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.audit.against_baseline import AgainstBaseline
from rheocheck.audit.against_law import AgainstLaw, law_plan
from rheocheck.audit.both_calls import MAIN
from rheocheck.audit.joint_law import joint_law
from rheocheck.audit.tally import Tally
from rheocheck.audit.target import as_target
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Pair
from rheocheck.stats.battery import STATISTICS
from tests.audit import subjects

ALPHA = 1e-3
UNIT = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/2", "1/2"]})

# Every test below is a run with fixed seeds, so it passes always or never. Null: the subject has the target's law. With
# a fresh seed an honest subject would be accused with probability alpha, and a faulty one missed as the test says.


@pytest.mark.distribution
@pytest.mark.parametrize("target", [subjects.CHAIN, subjects.chain_law], ids=["pair", "float law"])
@pytest.mark.parametrize("subject", [subjects.honest, subjects.batched], ids=["one by one", "batched"])
def test_an_honest_subject_is_not_accused(subject, target):
    """A correct subject is accused with probability 1e-3, and passes at 0.1 within the cap with 99.9 %."""
    verdict = audit(subject, target=target, tokens=3, tv=0.1, alpha=ALPHA, seed=11)
    assert (verdict.verdict, verdict.exit_code, verdict.witness) == ("no_bias_found", 0, None)
    assert (verdict.diagnosis, verdict.confirmation) == (None, None)
    seen = [note.partition(":")[0].partition(" was NOT LOOKED AT")[0] for note in verdict.notes]
    assert seen == (["the plain call"] if subject is subjects.batched else []) + ["not looked at"]
    assert verdict.notes[-1].startswith("not looked at: the bonus token of a decoder with more than 1 draft,")
    assert verdict.p_value >= ALPHA
    assert verdict.cross_check >= ALPHA
    share = MAIN if subject is subjects.batched else 1  # of alpha, where a second door has the rest
    assert verdict.p_value <= min(1, 1 / verdict.e_value / share)  # p: largest E of all looks, e_value: of the last
    assert 0 < verdict.total_variation < verdict.total_variation_upper <= verdict.tv == 0.1
    assert verdict.total_variation_lower == 0
    assert verdict.confidence == 0.999
    assert verdict.object == 'joint prefix of 3 tokens after context ""'
    of_logs = {"accepted length", "bonus given context", "replacement given context"}
    of_batches = {"batch neighbour"} if subject is subjects.honest else set()
    assert verdict.statistics.keys() == set(STATISTICS) - of_logs - of_batches
    assert max(verdict.statistics.values()) < 3


@pytest.mark.distribution
def test_an_audit_stops_at_the_look_that_decides():
    """Looks are at 1000, 1250, 1563, ...: a wide bias is found at the first one, a pass takes what it takes."""
    looks = {1000, 1250, 1563, 1954, 2443}
    biased = audit(subjects.biased, target=subjects.CHAIN, tokens=2, tv=0.05, alpha=ALPHA, seed=3)
    honest = audit(subjects.honest, target=subjects.CHAIN, tokens=2, tv=0.08, alpha=ALPHA, seed=3)
    assert (biased.verdict, honest.verdict) == ("biased", "no_bias_found")
    assert {biased.samples, honest.samples} <= looks
    finer = audit(subjects.honest, target=subjects.CHAIN, tokens=2, tv=0.06, alpha=ALPHA, seed=3)
    assert finer.samples > honest.samples


@pytest.mark.distribution
def test_negative_control_a_bias_at_the_second_token_is_found_there():
    """TV 0.05 of two tokens; 15,000 draws find any bias of TV 0.05 with power 99.9 %."""
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=2, samples=15_000, tv=0.01, alpha=ALPHA, seed=4)
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    assert verdict.p_value <= ALPHA
    assert verdict.witness.context == (0,)
    assert verdict.witness.token in (1, 2)
    assert verdict.witness.target == pytest.approx(0.4)
    assert abs(verdict.witness.emitted - 0.4) == pytest.approx(0.1, abs=0.04)
    assert verdict.statistics["next token given context"] >= 3 > verdict.statistics["first token"]
    assert verdict.total_variation_lower < 0.05 < verdict.total_variation_upper


def test_the_same_bias_is_invisible_in_the_first_token():
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=1, samples=4000, alpha=ALPHA, seed=4)
    assert verdict.verdict == "no_bias_found"
    assert verdict.object == 'first token after context ""'


@pytest.mark.distribution
def test_the_lower_bound_certifies_a_wide_bias():
    """The target says 1/2 and the subject 0.8: TV 0.3."""
    subject = lambda c, n, seed: [int(random.Random(seed).random() < 0.8)]  # noqa: E731
    verdict = audit(subject, target=UNIT, tokens=1, alpha=ALPHA)
    assert verdict.verdict == "biased"
    assert 0.15 < verdict.total_variation_lower < 0.3 < verdict.total_variation_upper


def test_an_impossible_token_is_proof():
    verdict = audit(subjects.impossible, target=subjects.CHAIN, tokens=2, samples=2000, seed=1)
    assert (verdict.verdict, verdict.p_value, verdict.e_value, verdict.log10_e) == ("biased", 0.0, None, None)
    assert (verdict.witness.context, verdict.witness.token, verdict.witness.target) == ((1,), 0, 0.0)
    assert verdict.witness.emitted == pytest.approx(0.01, abs=0.01)
    assert verdict.statistics["next token given context"] is None  # infinite
    assert verdict.cross_check == 0.0
    assert "E = infinite, reproduced; both together infinite" in verdict.confirmation


@pytest.mark.distribution
@pytest.mark.parametrize(
    "subject, statistic",
    [(subjects.shared_rows, "batch neighbour"), (subjects.RepeatedSeed(), "previous call")],
    ids=["shared rows", "repeated seed"],
)
def test_words_of_the_right_law_that_copy_each_other_are_a_bias(subject, statistic):
    """Under 81 words of probability about 1/81, a copy has a factor of about 80 e: three or four reach 1e3."""
    verdict = audit(subject, target=subjects.CHAIN, tokens=4, samples=8000, alpha=ALPHA)
    assert verdict.verdict == "biased"
    assert max(verdict.statistics, key=verdict.statistics.get) == statistic
    assert verdict.witness is None  # every token is as frequent as it should be
    assert (verdict.total_variation_lower, verdict.total_variation_upper) == (0, 1)
    assert "the draws depend on each other" in verdict.notes[0]


@pytest.mark.distribution
def test_a_context_is_continued():
    verdict = audit(subjects.biased, target=subjects.CHAIN, context=(2, 0), tokens=1, tv=0.05, alpha=ALPHA)
    assert (verdict.verdict, verdict.witness.context) == ("biased", (2, 0))
    assert verdict.object == 'first token after context "2 0"'


@pytest.mark.distribution
def test_sample_size_follows_from_the_bias_worth_finding():
    """V = 3: a pass at 0.1 takes about 14 / 0.01 draws at most; at 0.05, 14 / 0.0025."""
    sizes = [audit(subjects.batched, target=subjects.CHAIN, tokens=1, tv=tv, alpha=ALPHA).samples for tv in (0.1, 0.05)]
    assert 1000 <= sizes[0] <= 1400
    assert 3000 <= sizes[1] <= 5600


@pytest.mark.distribution
@pytest.mark.parametrize("samples", [300, 3000, 12_000])
def test_with_samples_alone_tv_is_what_they_find_and_rule_out(samples):
    """So a correct subject passes with them (99.9 %), and a bias of this size is found (99.9 %)."""
    verdict = audit(subjects.batched, target=subjects.CHAIN, tokens=2, samples=samples, alpha=ALPHA, seed=1)
    assert verdict.verdict == "no_bias_found"
    law = joint_law(as_target(subjects.CHAIN), (), 2, 0.0).cell_law()
    planned = law_plan(law, tv=verdict.tv, alpha=ALPHA, delta=1e-3)
    assert planned.budget == pytest.approx(samples, rel=0.01)

    def subject(context, n_tokens, seed):  # token 0, of probability 1/2, in 2 tv of the draws: TV of at least tv
        words = subjects.honest(context, n_tokens, seed)
        return [0, *words[1:]] if random.Random(seed + 1).random() < 2 * verdict.tv else words

    assert audit(subject, target=subjects.CHAIN, tokens=2, samples=samples, alpha=ALPHA, seed=1).verdict == "biased"


def test_too_few_samples_are_inconclusive():
    verdict = audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=200, tv=0.02)
    assert (verdict.verdict, verdict.exit_code, verdict.samples) == ("inconclusive", 3, 200)
    assert "asked was 0.02; of the first token by 0.7" in verdict.notes[0]
    assert verdict.notes[0].endswith("draw more (about 40028), raise --tv, or ask for fewer --tokens")
    assert 0.3 < verdict.smallest_detectable_tv < 0.5
    nothing = audit(subjects.honest, target=subjects.CHAIN, tokens=2, samples=5)
    assert (nothing.verdict, nothing.smallest_detectable_tv, nothing.tv) == ("inconclusive", 1.0, 0.02)
    assert "5 draws bound TV by 1, asked was 0.02" in nothing.notes[0]


@pytest.mark.distribution
def test_an_undecided_audit_stops_at_four_times_the_budget():
    """Copies forbid a pass from the first look on, and are not yet a bias at 1e-100."""
    verdict = audit(subjects.shared_rows, target=subjects.CHAIN, tokens=4, tv=0.45, alpha=1e-100, seed=2)
    law = joint_law(as_target(subjects.CHAIN), (), 4, 0.0).cell_law()
    assert (verdict.verdict, verdict.exit_code) == ("inconclusive", 3)
    assert verdict.samples == law_plan(law, tv=0.45, alpha=1e-100 * MAIN, delta=1e-3).cap
    assert "the draws depend on each other" in verdict.notes[0]


def test_every_smaller_sample_detects_less():
    runs = [
        audit(subjects.batched, target=subjects.CHAIN, tokens=2, samples=n, tv=1e-3, alpha=ALPHA) for n in (500, 2000)
    ]
    assert runs[0].smallest_detectable_tv == pytest.approx(2 * runs[1].smallest_detectable_tv)


@pytest.mark.distribution
def test_a_baseline_takes_the_place_of_a_law():
    same = audit(subjects.honest, baseline=subjects.batched, tokens=2, samples=4000, alpha=ALPHA)
    assert (same.verdict, same.reference) == ("no_bias_found", "baseline")
    assert (same.diagnosis, same.witness, same.total_variation_lower) == (None, None, 0)
    other = audit(subjects.biased, baseline=subjects.honest, tokens=2, samples=20_000, tv=0.02, alpha=ALPHA)
    assert (other.verdict, other.witness.context) == ("biased", (0,))
    assert other.witness.target == pytest.approx(0.4, abs=0.03)
    assert other.total_variation_lower < 0.05 < other.total_variation_upper
    assert "fresh-seed confirmation on" in other.confirmation


@pytest.mark.distribution
def test_a_wide_bias_against_a_baseline_has_a_lower_bound():
    subject = lambda c, n, seed: [int(random.Random(seed).random() < 0.9)]  # noqa: E731
    fair = lambda c, n, seed: [random.Random(seed).randrange(2)]  # noqa: E731
    verdict = audit(subject, baseline=fair, tokens=1, alpha=ALPHA)
    assert verdict.verdict == "biased"
    assert 0.15 < verdict.total_variation_lower < 0.4 < verdict.total_variation_upper


@pytest.mark.distribution
def test_rows_that_copy_each_other_earn_no_pass_against_a_baseline():
    """No law says how likely a repetition is; the bound on TV is void all the same."""
    verdict = audit(subjects.shared_rows, baseline=subjects.batched, tokens=4, samples=12_000, tv=0.05, alpha=ALPHA)
    assert (verdict.verdict, verdict.total_variation_upper) == ("inconclusive", 1)
    assert "the draws depend on each other" in verdict.notes[0]


@pytest.mark.distribution
def test_a_baseline_sizes_itself():
    verdict = audit(subjects.batched, baseline=subjects.batched, tokens=1, tv=0.15, alpha=ALPHA)
    assert verdict.verdict == "no_bias_found"
    assert verdict.total_variation_upper <= verdict.tv == 0.15
    assert verdict.samples <= 2000


@pytest.mark.distribution
def test_the_fault_of_a_chain_gets_its_name():
    """TV of the first token 0.14; 2,000 draws find it with power 99.9 %."""
    verdict = audit(subjects.unsubtracted, target=subjects.FIVE, tokens=2, samples=8000, alpha=1e-30)
    assert verdict.verdict == "biased"
    assert "best named fault, by the first token: 'residual not subtracted'" in verdict.diagnosis
    law = audit(subjects.unsubtracted, target=subjects.five_law, tokens=2, samples=8000, alpha=1e-30)
    assert (law.verdict, law.diagnosis) == ("biased", None)  # no drafter, no name


def test_a_fault_that_the_first_token_does_not_show_gets_no_name():
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=2, tv=0.02, alpha=ALPHA)
    assert (verdict.verdict, verdict.diagnosis) == (
        "biased",
        "token 2 depends on token 1 in a way that the target does not have",
    )


@pytest.mark.distribution
def test_a_bias_is_confirmed_with_fresh_seeds():
    verdict = audit(subjects.biased, target=subjects.CHAIN, tokens=2, tv=0.02, alpha=1e-12, seed=3)
    assert verdict.confirmation.startswith(f"fresh-seed confirmation on {verdict.samples} draws: E = 10^")
    assert ", reproduced; both together 10^" in verdict.confirmation
    assert audit(subjects.biased, target=subjects.CHAIN, tokens=2, tv=0.02, seed=3, confirm=False).confirmation is None


@pytest.mark.distribution
def test_a_bias_that_goes_away_is_not_reproduced_and_stays_a_bias():
    calls = []

    def warms_up(context, n_tokens, seed):
        calls.append(seed)
        return (subjects.impossible if len(calls) <= 1000 else subjects.honest)(context, n_tokens, seed)

    verdict = audit(warms_up, target=subjects.CHAIN, tokens=2, samples=1000, seed=3)
    assert (verdict.verdict, len(set(calls))) == ("biased", 2000)  # fresh seeds
    assert re.search("fresh-seed confirmation on 1000 draws: E = 10\\^-?0", verdict.confirmation)

    assert ", not reproduced: a fault that comes and goes" in verdict.confirmation


def test_both_arms_get_different_seeds():
    seen = []

    def subject(context, n_tokens, seed):
        seen.append(seed)
        return [seed % 2]

    verdict = audit(subject, baseline=subject, tokens=1, samples=3000, tv=0.01)
    assert (verdict.verdict, verdict.samples) == ("inconclusive", 3000)
    assert len(seen) == len(set(seen)) == 500 + 6000  # the pilot, and two arms


@pytest.mark.distribution
def test_the_confirmation_gets_seeds_of_its_own():
    seen = []

    def subject(context, n_tokens, seed):
        seen.append(seed)
        return [int(random.Random(seed).random() < 0.9)]

    verdict = audit(subject, target=UNIT, tokens=1)
    assert (verdict.verdict, verdict.samples) == ("biased", 1000)
    assert len(seen) == len(set(seen)) == 2000


def test_an_unseeded_subject_is_confirmed_with_other_draws_than_before():
    drawn = []

    def subject(context, n_tokens):
        drawn.append(random.random())
        return [int(drawn[-1] < 0.9)]

    verdict = audit(subject, target=UNIT, tokens=1)
    assert (verdict.verdict, verdict.seed) == ("biased", "best effort")
    assert len(drawn) == len(set(drawn)) == 2000


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

    runs = [audit(subject, target=UNIT, tokens=2, samples=300, seed=8) for _ in range(2)]
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
    verdict = audit(
        keeps_the_boundary_token, target=LawWithBoundary(law), tokens=3, samples=2000, tv=0.03, alpha=ALPHA, seed=2
    )
    assert (verdict.verdict, verdict.samples) == ("inconclusive", 2000)  # no bias, and no pass at 0.03 yet
    first = verdict.boundary_tokens[0]
    assert (first.context, first.token, first.target) == ((0,), 1, law[1])
    assert 150 < first.hits < 350
    assert verdict.object.endswith("cut at boundary tokens")
    assert verdict.statistics.keys() == {
        "words", "previous call", "word given previous call", "rows and calls", "carried over",
    }  # fmt: skip
    passed = audit(keeps_the_boundary_token, target=LawWithBoundary(law), tokens=3, tv=0.1, alpha=ALPHA, seed=2)
    assert passed.verdict == "no_bias_found"


@pytest.mark.distribution
def test_a_bias_before_the_boundary_is_found_and_behind_it_is_not():
    def subject(first, later):
        def draw(context, n_tokens, seed):
            rng = random.Random(seed)
            laws = {(): first, (1,): [0.5, 0.5, 0.0]}
            return subjects.walk(lambda s: rng.choices(range(3), laws.get(s, later))[0], context, n_tokens)

        return draw

    law = LawWithBoundary([0.75, 0.25, 0.0])
    before = audit(subject([0.4, 0.6, 0.0], [0.5, 0.5, 0.0]), target=law, tokens=2, tv=0.05, alpha=ALPHA)
    assert (before.verdict, before.witness.context) == ("biased", ())
    behind = audit(subject([0.5, 0.5, 0.0], [0.1, 0.9, 0.0]), target=law, tokens=2, tv=0.05, alpha=ALPHA)
    assert behind.verdict == "no_bias_found"  # what follows a boundary context counts as one cell


@pytest.mark.distribution
def test_copies_are_seen_where_there_are_boundary_tokens():
    class Copies:
        def __call__(self, context, n_tokens):
            raise AssertionError

        def sample(self, context, n_tokens, samples, seed):
            rng = np.random.default_rng(seed)
            words = rng.integers(0, 2, (samples, n_tokens))
            words[3::4] = words[2::4]
            return words

    verdict = audit(Copies(), target=LawWithBoundary([0.5, 0.5, 0.0]), tokens=3, tv=0.1, alpha=ALPHA)
    assert (verdict.verdict, verdict.witness) == ("biased", None)
    assert max(verdict.statistics, key=verdict.statistics.get) == "batch neighbour"


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

    few = audit(interrupted_at(30), target=subjects.CHAIN, tokens=2, samples=2000, tv=0.02, seed=4)
    assert (few.verdict, few.samples) == ("inconclusive", 30)
    assert few.notes[0] == "interrupted after 30 of at most 2000 draws: the verdict is about these"
    many = audit(interrupted_at(900), target=subjects.CHAIN, tokens=2, samples=2000, seed=4)
    assert (many.verdict, many.samples) == ("biased", 900)
    assert many.confirmation is None  # whoever pressed Ctrl-C wants no more draws
    none = audit(interrupted_at(0), target=subjects.CHAIN, tokens=2, samples=2000)
    assert (none.verdict, none.samples, none.p_value, none.total_variation) == ("inconclusive", 0, None, None)
    assert (none.e_value, none.log10_e, none.cross_check, none.statistics) == (None, None, None, {})
    json.loads(none.to_json())
    arms = audit(interrupted_at(31), baseline=subjects.honest, tokens=2, samples=2000)
    assert (arms.verdict, arms.samples) == ("inconclusive", 31)


def test_ctrl_c_that_the_subject_turns_into_something_else():
    """A subject may catch KeyboardInterrupt and raise what it likes; the signal is not forgotten over it."""

    calls = []

    def subject(context, n_tokens, seed):
        calls.append(seed)
        if len(calls) == 41:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(1)
            except KeyboardInterrupt:
                raise RuntimeError("the runtime was cancelled") from None
        return subjects.honest(context, n_tokens, seed)

    before = signal.getsignal(signal.SIGINT)
    verdict = audit(subject, target=subjects.CHAIN, tokens=2, samples=2000, tv=0.02)
    assert (verdict.verdict, verdict.samples) == ("inconclusive", 40)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("kind", [AgainstLaw, AgainstBaseline])
def test_ctrl_c_never_cuts_a_look_in_half(monkeypatch, kind):
    """The signal comes in the middle of counting: what was drawn is counted, whole, and then reported."""
    add = Tally.add

    def interrupting(self, drawn):
        add(self, drawn)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
        monkeypatch.setattr(Tally, "add", add)

    monkeypatch.setattr(Tally, "add", interrupting)
    against = {"target": subjects.CHAIN} if kind is AgainstLaw else {"baseline": subjects.honest}
    verdict = audit(subjects.honest, **against, tokens=2, samples=4000, tv=0.01)
    assert (verdict.verdict, verdict.samples) == ("inconclusive", 1000)
    assert verdict.notes[0] == "interrupted after 1000 of at most 4000 draws: the verdict is about these"


def test_a_progress_bar_only_on_request_or_on_a_terminal(capsys):
    audit(subjects.honest, target=subjects.CHAIN, tokens=1, samples=50)
    assert capsys.readouterr() == ("", "")
    audit(subjects.honest, target=subjects.CHAIN, tokens=1, samples=50, progress=True)
    out, err = capsys.readouterr()
    assert (out, "50/50" in err) == ("", True)
    assert re.search(r"TV <= 0\.\d{4}, E = 10\^-?\d", err)  # the bound and E so far


def test_json_has_the_documented_keys_and_only_finite_numbers():
    data = json.loads(audit(subjects.impossible, target=subjects.CHAIN, tokens=2, samples=500, seed=1).to_json())
    documented = {
        "verdict", "method", "total_variation", "total_variation_upper", "confidence", "object", "p_value",
        "e_value", "samples", "paths", "smallest_detectable_tv", "witness", "seed", "boundary_tokens",
    }  # fmt: skip
    assert documented <= data.keys()
    assert data["witness"].keys() == {"context", "token", "emitted", "target", "impossible", "hits"}
    assert (data["method"], data["e_value"], data["paths"]) == ("sampled", None, None)
    assert data["statistics"]["next token given context"] is None


def raising(context, n_tokens):
    raise RuntimeError("out of memory")


class Filtered:
    """A law with filters, which are near no cut-off."""

    def __call__(self, context):
        return subjects.chain_law(context)

    def boundary(self, context):
        return ()


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
    "depth": ({"target": LAW, "depth": -1}, "--depth must be an integer >= 0, got -1"),
    "depth without a log": ({"target": LAW, "depth": 2}, "--depth must go with recorded blocks, got 2 without any"),
    "vocabulary": ({"target": lambda c: np.full(2**20 + 1, 1 / (2**20 + 1))}, r"at most 1048576 possible ids, got"),
    "filters": ({"target": Filtered(), "tokens": 20}, "at most 1048576 words, got more of 20 tokens"),
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
    "None": (lambda c, n: None, "must return integer token ids, got None"),
    "two rows": (lambda c, n: [[0, 0]], r"at least 2 new ids, got shape \(1, 2\)"),
    "ragged": (lambda c, n: [[0], [0, 0]], "must return token ids, got list"),
    "floats": (lambda c, n: [0.0, 1.0], r"must return integer token ids, got \[0.0, 1.0\]"),
    "text": (lambda c, n: "01", "must return integer token ids, got '01'"),
    "bools": (lambda c, n: [True, False], "must return integer token ids"),
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


@pytest.mark.distribution
@pytest.mark.parametrize("tokens", [4, 12])
def test_filters_that_are_near_no_cut_off_change_nothing(tokens):
    runs = [
        audit(subjects.honest, target=target, tokens=tokens, samples=300, alpha=ALPHA)
        for target in (Filtered(), subjects.chain_law)
    ]
    assert runs[0] == runs[1]


@pytest.mark.distribution
def test_words_far_longer_than_the_object_are_evidence_all_the_same():
    """A bound needs few words; bets on the next token do not. Token 30 is wrong in every draw."""
    verdict = audit(subjects.honest, target=LAW, tokens=40, tv=0.4, alpha=ALPHA)
    assert (verdict.verdict, verdict.object) == ("inconclusive", 'joint prefix of 40 tokens after context ""')
    assert (verdict.total_variation, verdict.total_variation_upper, verdict.smallest_detectable_tv) == (None, 1.0, 1.0)
    assert re.search(
        r"of the first [5-9] tokens by 0\.[23]\d+; 40 tokens have too many possible words", verdict.notes[0]
    )

    def late(context, n_tokens, seed):
        words = subjects.honest(context, n_tokens, seed)
        return [*words[:29], 0, *words[30:]]

    verdict = audit(late, target=LAW, tokens=40, tv=0.4, alpha=ALPHA)
    assert (verdict.verdict, len(verdict.witness.context)) == ("biased", 29)


def test_more_tokens_than_asked_are_cut():
    verdict = audit(lambda c, n, seed: subjects.honest(c, n + 3, seed), target=LAW, tokens=2, samples=2000)
    assert verdict.verdict == "no_bias_found"
