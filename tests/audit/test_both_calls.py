"""A subject that can be drawn from in two ways: both must have the same law, and each is looked at.

Null: both doors have the target's (the baseline's) law. Alternative: the plain call has another one. alpha 1e-3, fixed
seeds: with fresh ones an honest subject would be accused with probability 1e-3.
"""

import random

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.audit.both_calls import FEWEST, MAIN, MOST, OtherDoor, against_words, share
from rheocheck.audit.subject import LiveSource
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


WRONG = [greedy, hot, of_the_drafter, one_seed, last_is_wrong, again]


@pytest.mark.parametrize("choose", WRONG, ids=lambda choose: choose.__name__)
@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_a_plain_call_of_another_law_is_a_bias(choose, against):
    verdict = audit(TwoDoors(choose), **against, tokens=3, samples=20_000, tv=0.1, alpha=ALPHA, seed=1, progress=False)
    assert (verdict.verdict, verdict.exit_code) == ("biased", 1)
    assert verdict.p_value <= ALPHA
    than = "the target" if "target" in against else "subject.sample()"
    assert verdict.notes[-1].startswith(f"the plain call has another law than {than} (")
    assert verdict.witness is None or verdict.witness.context  # none of the honest draws of `sample` is blamed


@pytest.mark.parametrize("against", [{"target": CHAIN}, {"baseline": subjects.batched}], ids=["target", "baseline"])
def test_two_equal_doors_pass(against):
    for seed in range(3):
        verdict = audit(
            TwoDoors(right), **against, tokens=3, samples=20_000, tv=0.1, alpha=ALPHA, seed=seed, progress=False
        )
        assert verdict.verdict == "no_bias_found"
        assert verdict.notes[-1].startswith("the plain call was looked at too (1000 draws, E = ")
        assert "would be found" in verdict.notes[-1]


def test_a_door_that_cannot_be_used_is_said():
    verdict = audit(subjects.batched, target=CHAIN, tokens=2, samples=6000, tv=0.1, alpha=ALPHA, progress=False)
    assert verdict.verdict == "no_bias_found"
    assert "the plain call was not looked at, it cannot be used" in verdict.notes[-1]
    assert "sample() should have been used" in verdict.notes[-1]


def test_a_subject_with_one_door_has_no_note():
    verdict = audit(subjects.honest, target=CHAIN, tokens=2, samples=6000, tv=0.1, alpha=ALPHA, progress=False)
    assert verdict.notes == ()


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
    found = against_words(source, words(chain_law), 1000, ALPHA, "subject.sample()")
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
    found = against_words(source, words(law), 1000, ALPHA, "subject.sample()")
    assert found.differs(ALPHA)
    assert "subject.sample() has another law than the plain call (1000 draws, E = " in found.text(
        ALPHA, "the plain call"
    )
