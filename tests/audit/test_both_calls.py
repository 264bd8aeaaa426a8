"""A subject that can be drawn from in two ways: both must have the same law, and each is looked at.

Null: both doors have the target's (the baseline's) law. Alternative: the plain call has another one. alpha 1e-3, fixed
seeds: with fresh ones an honest subject would be accused with probability 1e-3.
"""

import random

import numpy as np
import pytest

from rheocheck.audit import against_baseline, against_law, audit
from rheocheck.audit.both_calls import FEWEST, MAIN, MOST, OtherDoor, against_words, share
from rheocheck.audit.subject import LiveSource
from rheocheck.report.audit_text import audit_text
from rheocheck.stats.plan import smallest_detectable_tv
from tests.audit import subjects
from tests.audit.subjects import CHAIN, chain_law, walk

ALPHA = 1e-3
pytestmark = pytest.mark.distribution


class TwoDoors:
    """`sample` is honest; the plain call continues by `choose(rng, prefix)`."""

    def __init__(self, choose):
        self.choose = choose

    def __call__(self, context, n_tokens, seed):
        rng = random.Random(seed)
        return walk(lambda s: self.choose(rng, s), context, n_tokens)

    def sample(self, context, n_tokens, samples, seed):
        return subjects.batched.sample(context, n_tokens, samples, seed)


def right(rng, prefix):
    return rng.choices(range(3), chain_law(prefix))[0]


def greedy(rng, prefix):
    return int(np.argmax(chain_law(prefix)))


def hot(rng, prefix):
    return rng.choices(range(3), [x**0.1 for x in chain_law(prefix)])[0]


def of_the_drafter(rng, prefix):
    return rng.choices(range(3), [float(x) for x in CHAIN.q(prefix)])[0]


def one_seed(rng, prefix):
    """The right law, one word for ever: every call is the same draw."""
    return right(random.Random(len(prefix)), prefix)


def last_is_wrong(rng, prefix):
    return 2 if len(prefix) == 2 else right(rng, prefix)


def again(rng, prefix):
    """Repeats the token before: right at the first token, wrong behind it."""
    return prefix[-1] if prefix and prefix[-1] != 1 and rng.random() < 0.5 else right(rng, prefix)


def right_by_call(context, n_tokens, seed):
    rng = random.Random(seed)
    return walk(lambda s: right(rng, s), context, n_tokens)


WRONG = [greedy, hot, of_the_drafter, one_seed, last_is_wrong, again]


def test_what_would_be_found_is_promised_for_the_share_of_alpha_that_decides(monkeypatch):
    """The look at the plain call has the rest of alpha."""
    asked = []

    def spy(law, samples, alpha):
        asked.append((samples, alpha))
        return smallest_detectable_tv(law, samples, alpha)

    monkeypatch.setattr(against_law, "smallest_detectable_tv", spy)
    question = {"target": CHAIN, "tokens": 1, "samples": 2000, "tv": 0.2, "alpha": ALPHA, "progress": False}
    for subject, share_of_alpha in ((TwoDoors(right), MAIN), (right_by_call, 1.0)):
        asked.clear()
        verdict = audit(subject, **question)
        assert (verdict.samples, pytest.approx(ALPHA * share_of_alpha / against_law.STATISTICS)) in asked


@pytest.mark.parametrize("choose", WRONG, ids=lambda choose: choose.__name__)
@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_a_plain_call_of_another_law_is_a_bias(choose, against):
    verdict = audit(TwoDoors(choose), **against, tokens=3, samples=20_000, tv=0.1, alpha=ALPHA, seed=1, progress=False)
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    assert verdict.p_value <= ALPHA
    than = "the target" if "target" in against else "subject.sample()"
    assert verdict.notes[0].startswith(f"the plain call has another law than {than} (")
    assert verdict.witness is None or verdict.witness.context  # none of the honest draws of `sample` is blamed


@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_two_equal_doors_pass(against):
    for seed in range(3):
        verdict = audit(
            TwoDoors(right), **against, tokens=3, samples=20_000, tv=0.1, alpha=ALPHA, seed=seed, progress=False
        )
        assert verdict.verdict == "no_bias_found"
        assert verdict.notes[0].startswith("the plain call was looked at too (1000 draws, E = ")
        assert "would be found" in verdict.notes[0]


def test_a_door_that_cannot_be_used_is_said():
    verdict = audit(subjects.batched, target=CHAIN, tokens=2, samples=6000, tv=0.1, alpha=ALPHA, progress=False)
    assert verdict.verdict == "no_bias_found"
    assert verdict.notes[0].startswith("the plain call was NOT LOOKED AT, and the verdict is not about it: it cannot")
    assert "sample() should have been used" in verdict.notes[0]


def test_a_subject_with_one_door_has_no_note():
    verdict = audit(subjects.honest, target=CHAIN, tokens=2, samples=6000, tv=0.1, alpha=ALPHA, progress=False)
    assert [note.partition(":")[0] for note in verdict.notes] == ["not looked at"]


def test_the_share_is_planned_and_bounded():
    assert [share(n) for n in (1, 4000, 12_000, 10**9)] == [FEWEST, FEWEST, 600, MOST]


def test_alpha_is_shared():
    """A correct subject is accused with probability at most MAIN alpha by one door, (1 - MAIN) alpha by the other."""
    assert not OtherDoor("d", 200, np.log(1 / ALPHA), 0.1).differs(ALPHA)
    assert OtherDoor("d", 200, np.log(1 / (ALPHA * (1 - MAIN))) + 1e-9, 0.1).differs(ALPHA)


def words(law):
    """The law of two tokens."""
    return {(a, b): law(())[a] * law((a,))[b] for a in range(3) for b in range(3) if law(())[a] * law((a,))[b] > 0}


@pytest.mark.parametrize("subject, differs", [(subjects.batched, False), (subjects.shared_rows, False)])
def test_the_batched_door_against_an_enumerated_law(subject, differs):
    source = LiveSource(subject, (), 2, seed=0, stream=6)
    found = against_words(source, words(chain_law), 1000, ALPHA)
    assert (found.draws, found.differs(ALPHA)) == (1000, differs)


@pytest.mark.parametrize(
    "law",
    [
        lambda prefix: [0.3, 0.3, 0.4] if not prefix else chain_law(prefix),
        lambda prefix: [1.0, 0.0, 0.0] if prefix == (2,) else chain_law(prefix),
        lambda prefix: [1 / 3] * 3,
        lambda prefix: [0.5, 0.5, 0.0] if prefix == (0,) else chain_law(prefix),
    ],
)
def test_a_batched_door_of_another_law_than_the_enumerated_one_is_found(law):
    source = LiveSource(subjects.batched, (), 2, seed=0, stream=6)
    found = against_words(source, words(law), 1000, ALPHA)
    assert found.differs(ALPHA)
    assert "subject.sample() has another law than the plain call (1000 draws, E = " in found.text(
        ALPHA, "the plain call"
    )


class Broken:
    """`sample` is honest; the plain call returns what `say(n_tokens)` says, once in so many calls."""

    def __init__(self, say, often=50):
        self.say, self.often = say, often

    def __call__(self, context, n_tokens, seed):
        return self.say(n_tokens) if seed % self.often == 0 else subjects.honest(context, n_tokens, seed)

    def sample(self, context, n_tokens, samples, seed):
        return subjects.batched.sample(context, n_tokens, samples, seed)


def refused(n_tokens):
    return random.choices(range(3), [0.0, 0.0, 0.0], k=n_tokens)


IMPOSSIBLE = [
    (lambda n: [0] * (n - 1) + [2**40], "an id outside 0..2", "an id beyond any vocabulary"),
    (lambda n: [-1] * n, "an id outside 0..2", "a negative id"),
    (lambda n: [0] * (n - 1), "the end of the text", "the end of the text"),
    (lambda n: [], "the end of the text", "the end of the text"),
    (refused, "no output: ", "no output: "),
]


@pytest.mark.parametrize("say, against_target, against_baseline", IMPOSSIBLE)
def test_impossible_output_of_the_plain_call_is_a_bias(say, against_target, against_baseline):
    question = dict(tokens=3, samples=8000, tv=0.2, alpha=ALPHA, confirm=False, progress=False)
    verdict = audit(Broken(say), target=CHAIN, **question)
    assert (verdict.verdict, verdict.p_value) == ("biased", 0.0)
    assert f"the plain call gives impossible output (100 draws): {against_target}" in verdict.notes[0]
    verdict = audit(Broken(say), baseline=subjects.batched, **question)
    assert verdict.verdict == "biased"
    assert f"the plain call gives impossible output (100 draws): {against_baseline}" in verdict.notes[0]


def test_an_id_that_only_the_plain_call_has_is_a_bias_without_a_law_too():
    """A baseline does not say where its vocabulary ends: one draw in five is enough to be found all the same."""
    subject = Broken(lambda n: [7] * n, often=5)
    question = dict(tokens=3, samples=20_000, tv=0.2, alpha=ALPHA, confirm=False, progress=False)
    assert audit(subject, baseline=subjects.batched, **question).verdict == "biased"
    verdict = audit(subject, target=CHAIN, **question)
    assert verdict.notes[0] == "the plain call gives impossible output (100 draws): an id outside 0..2"


def raising(n_tokens):
    raise RuntimeError("out of memory")


@pytest.mark.parametrize("say", [raising, lambda n: None, lambda n: [[0] * n], lambda n: [0.5] * n])
@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_a_plain_call_that_cannot_be_used_is_said_aloud(say, against):
    verdict = audit(Broken(say), **against, tokens=2, samples=8000, tv=0.2, alpha=ALPHA, progress=False)
    assert verdict.verdict == "no_bias_found"
    assert verdict.notes[0].startswith("the plain call was NOT LOOKED AT, and the verdict is not about it: it cannot")


def test_a_door_that_breaks_after_it_has_shown_a_bias_stays_biased():
    door = OtherDoor("the plain call", 300, 100.0, 1.0, "it cannot be used: it died")
    assert door.differs(ALPHA)
    assert door.text(ALPHA, "the target").startswith("the plain call has another law than the target (300 draws, ")


def test_ctrl_c_in_the_other_door_is_said():
    def interrupted(n_tokens):
        raise KeyboardInterrupt

    verdict = audit(Broken(interrupted), target=CHAIN, tokens=2, samples=8000, tv=0.2, alpha=ALPHA, progress=False)
    assert (verdict.verdict, verdict.interrupted) == ("no_bias_found", True)
    assert "the plain call was NOT LOOKED AT, and the verdict is not about it: Ctrl-C" in " ".join(verdict.notes)


def test_ctrl_c_before_the_other_door_is_said():
    """The draws made so far earn a pass, the plain call was not asked once: a pass must not be silent about it."""

    class Stopped(TwoDoors):
        def sample(self, context, n_tokens, samples, seed):
            self.drawn = getattr(self, "drawn", 0) + samples
            if self.drawn > 500:
                raise KeyboardInterrupt
            return super().sample(context, n_tokens, samples, seed)

    verdict = audit(Stopped(greedy), target=CHAIN, tokens=2, samples=8000, tv=0.3, alpha=ALPHA, progress=False)
    assert (verdict.verdict, verdict.interrupted) == ("no_bias_found", True)
    assert "the plain call was NOT LOOKED AT, and the verdict is not about it: Ctrl-C" in " ".join(verdict.notes)


@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_the_other_door_promises_what_its_own_share_of_alpha_finds(against, monkeypatch):
    asked = []

    def seen(law, n, alpha):
        asked.append((n, alpha))
        return smallest_detectable_tv(law, n, alpha)

    for module in (against_law, against_baseline):
        monkeypatch.setattr(module, "smallest_detectable_tv", seen)
    verdict = audit(TwoDoors(right), **against, tokens=2, samples=4000, tv=0.2, alpha=ALPHA, progress=False)
    assert verdict.verdict == "no_bias_found"
    assert verdict.notes[0].startswith("the plain call was looked at too (200 draws")
    bets, draws = (against_law.STATISTICS, 200) if "target" in against else (against_baseline.STATISTICS, 100)
    assert (draws, pytest.approx(ALPHA * (1 - MAIN) / bets)) in asked


# the batched door of an enumerated subject


class Enumerable:
    """The plain call is honest; `sample` draws words by `word(rng, n_tokens)`."""

    def __init__(self, word):
        self.word = word

    def __call__(self, context, n_tokens):
        return subjects.unseeded(context, n_tokens)

    def sample(self, context, n_tokens, samples, seed):
        rng = random.Random(seed)
        return [self.word(rng, n_tokens) for _ in range(samples)]


def by(choose):
    return lambda rng, n_tokens: walk(lambda prefix: choose(rng, prefix), (), n_tokens)


def second_is_wrong(rng, prefix):
    return rng.choices(range(3), [0.2, 0.6, 0.2])[0] if prefix[-1:] == (0,) else right(rng, prefix)


def once_outside(rng, n_tokens):
    return [7] * n_tokens if rng.random() < 0.02 else by(right)(rng, n_tokens)


def once_short(rng, n_tokens):
    return [0] if rng.random() < 0.02 else by(right)(rng, n_tokens)


def once_impossible(rng, n_tokens):
    return [1, 0] if rng.random() < 0.02 else by(right)(rng, n_tokens)  # token 0 never follows token 1


DIFFERENT = "subject.sample() has another law than the plain call ("
BATCHES = [
    (by(greedy), DIFFERENT),
    (by(hot), DIFFERENT),
    (by(of_the_drafter), DIFFERENT),
    (by(second_is_wrong), DIFFERENT),
    (once_impossible, DIFFERENT),
    (once_outside, "subject.sample() gives impossible output"),
    (once_short, "subject.sample() gives impossible output"),
    (lambda rng, n_tokens: refused(n_tokens), "subject.sample() gives impossible output"),
]


@pytest.mark.distribution
@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.unseeded}], ids=["target", "baseline"])
@pytest.mark.parametrize("word, note", BATCHES)
def test_a_batched_door_of_another_law_makes_an_exact_pass_a_bias(word, note, against):
    """TV 0.1 and more by 1000 draws; alpha 1e-6."""
    verdict = audit(
        Enumerable(word), **against, tokens=2, method="exact", plain_runs=1000, question=None, progress=False
    )
    assert (verdict.verdict, verdict.exit_code, verdict.total_variation) == ("biased", 1, None)
    assert verdict.p_value <= 1e-6
    said = [text for text in verdict.notes if text.startswith("subject.sample()")]
    assert len(said) == 1
    if not (note.endswith("output") and "baseline" in against and word is once_outside):
        assert said[0].startswith(note)
    assert said[0] in audit_text(verdict) and audit_text(verdict).startswith("BIASED")


@pytest.mark.distribution
def test_an_exact_pass_is_about_both_doors():
    for seed in range(3):
        verdict = audit(Enumerable(by(right)), target=CHAIN, tokens=2, method="exact", seed=seed, progress=False)
        assert verdict.verdict == "no_bias_found"
        assert verdict.notes[0].startswith("subject.sample() was looked at too (1000 draws, E = 10^")


def test_a_batched_door_that_cannot_be_looked_at_is_said():
    def raises(rng, n_tokens):
        raise RuntimeError("no batches today")

    def interrupted(rng, n_tokens):
        raise KeyboardInterrupt

    def asked(word, **more):
        return audit(Enumerable(word), target=CHAIN, tokens=2, method="exact", progress=False, **more)

    verdict = asked(raises, plain_runs=200)
    assert verdict.verdict == "no_bias_found"
    assert verdict.notes[0].startswith("subject.sample() was NOT LOOKED AT, and the verdict is not about it: it cannot")
    assert "no batches today" in verdict.notes[0]
    verdict = asked(interrupted, plain_runs=200)
    assert (verdict.verdict, verdict.interrupted) == ("no_bias_found", True)
    assert "not about it: Ctrl-C came before" in verdict.notes[0]
    verdict = asked(by(greedy), confirm=False)
    assert verdict.verdict == "no_bias_found"
    assert verdict.notes[0] == "this is the law of single calls: what subject.sample() draws was not looked at"
