"""The object of a verdict is what was asked: tokens, drafts, the longest prefix in reach, and sparse laws.

Every run has fixed seeds, so it passes always or never. Null: the subject has the target's law. A fresh seed would
accuse an honest subject with probability alpha = 1e-6, and leave it without its pass in at most 3 % of runs.
"""

import random

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.audit.against_law import AgainstLaw
from rheocheck.audit.choose_object import choose_object
from rheocheck.audit.evidence import Draws
from rheocheck.audit.object_bet import ObjectBet
from rheocheck.audit.objects import asked_tokens, not_looked_at
from rheocheck.audit.target import as_target
from rheocheck.core.errors import InputError
from rheocheck.report.audit_text import audit_text

EIGHT = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02])
FOUR = np.array([0.4, 0.3, 0.2, 0.1])


class Words:
    """Independent tokens of one law; fault(words, rng) changes them."""

    def __init__(self, law, fault=None):
        self.law, self.fault = law, fault

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        rng = np.random.default_rng(seed)
        words = rng.choice(len(self.law), size=(samples, n_tokens), p=self.law)
        if self.fault is not None:
            self.fault(words, rng)
        return words


def copies(source, to, probability):
    """Token `to` copies token `source` with this probability."""

    def fault(words, rng):
        copied = rng.random(len(words)) < probability
        if words.shape[1] > to:
            words[copied, to] = words[copied, source]

    return fault


def bonus_from_the_drafter(drafts):
    """Speculative sampling with K drafts: the token after K accepted ones has another law, one round in three."""

    def fault(words, rng):
        if words.shape[1] > drafts:
            accepted = rng.random(len(words)) < 1 / 3
            words[accepted, drafts] = rng.choice(4, size=int(accepted.sum()), p=FOUR[::-1])

    return fault


def ask(subject, law, **question):
    return audit(subject, target=lambda context: law, method="sampled", progress=False, **question)


@pytest.mark.distribution
@pytest.mark.parametrize(
    "tokens, fault",
    [
        (6, copies(1, 5, 0.5)),  # the first five tokens are right
        (5, copies(1, 4, 0.5)),
        (5, copies(0, 4, 0.6)),
        (5, copies(2, 4, 1.0)),
    ],
)
def test_a_fault_in_the_last_of_the_tokens_asked_for_earns_no_pass(tokens, fault):
    verdict = ask(Words(EIGHT, fault), EIGHT, tokens=tokens, tv=0.05, samples=4000, confirm=False)
    assert verdict.verdict in ("biased", "inconclusive")
    assert verdict.object == f'joint prefix of {tokens} tokens after context ""'
    assert (verdict.tokens, verdict.asked) == (tokens, True)


def test_what_the_draws_cannot_bound_is_inconclusive_and_says_what_they_did_bound():
    lines = []
    verdict = ask(Words(FOUR), FOUR, tokens=5, tv=0.1, samples=3000, announce=lines.append)
    assert (verdict.verdict, verdict.tokens) == ("inconclusive", 5)
    assert len(lines) == 1
    assert lines[0].startswith('joint prefix of 5 tokens after context "", 1024 possible words: about ')
    assert lines[0].endswith("at most 3000 are drawn, which may be too few: raise --samples or --tv, or ask for fewer "
                             "--tokens")  # fmt: skip
    assert "of the first 3 tokens by 0.09" in verdict.notes[0]
    assert verdict.notes[0].endswith("or ask for fewer --tokens")


def test_without_being_asked_the_object_is_what_the_draws_can_bound_and_the_first_line_says_so():
    few = ask(Words(FOUR), FOUR, tv=0.1, samples=4000)
    assert (few.verdict, few.tokens, few.asked) == ("no_bias_found", 3, False)
    first = audit_text(few).splitlines()[0]
    assert first.startswith("NO BIAS FOUND about the first 3 tokens only, down to TV 0.0")
    more = ask(Words(FOUR), FOUR, tv=0.1, samples=10_000)
    assert (more.verdict, more.tokens) == ("no_bias_found", 4)
    asked = ask(Words(FOUR), FOUR, tv=0.1, samples=10_000, tokens=4)
    assert audit_text(asked).splitlines()[0].startswith("NO BIAS FOUND down to TV 0.0")


@pytest.mark.distribution
@pytest.mark.parametrize("drafts", [3, 4, 5])
def test_the_number_of_drafts_brings_the_bonus_token_into_sight(drafts):
    """Without it a decoder with more drafts than 3 passes at 4 tokens, and the pass says what it did not look at."""
    subject = Words(FOUR, bonus_from_the_drafter(drafts))
    found = ask(subject, FOUR, drafts=drafts, tv=0.1, samples=20_000, confirm=False)
    assert (found.verdict, found.tokens) == ("biased", drafts + 2)
    blind = ask(subject, FOUR, tv=0.1)
    if drafts > 3:
        assert (blind.verdict, blind.tokens) == ("no_bias_found", 4)
        assert (
            "not looked at: the bonus token of a decoder with more than 2 drafts, and later rounds" in blind.notes[-1]
        )


def test_an_honest_decoder_passes_for_its_drafts_and_nothing_is_left_unsaid():
    verdict = ask(Words(FOUR), FOUR, drafts=2, tv=0.1)
    assert (verdict.verdict, verdict.tokens) == ("no_bias_found", 4)
    assert len(verdict.notes) == 1 and verdict.notes[0].startswith("the plain call was looked at too")


def test_the_tokens_of_a_question():
    assert asked_tokens(None, None) == (4, False)
    assert asked_tokens(3, None) == (3, True)
    assert asked_tokens(None, 5) == (7, True)
    assert asked_tokens(9, 5) == (9, True)
    with pytest.raises(InputError, match="--tokens must be at least 7 with --drafts 5, got 4: .* leave --tokens out"):
        asked_tokens(4, 5)
    with pytest.raises(InputError, match="--drafts must be an integer >= 1, got 0"):
        asked_tokens(None, 0)
    assert not_looked_at(3).startswith("not looked at: the bonus token of a decoder with more than 1 draft, and")
    assert not_looked_at(1).startswith("not looked at: the bonus token of a decoder with any drafts, and")


@pytest.mark.distribution
@pytest.mark.parametrize("fault", [None, copies(0, 2, 0.4)], ids=["same", "copies"])
def test_a_baseline_is_asked_for_exactly_as_many_tokens(fault):
    question = {"baseline": Words(FOUR), "method": "sampled", "tokens": 3, "tv": 0.15, "confirm": False}
    verdict = audit(Words(FOUR, fault), progress=False, **question)
    assert (verdict.verdict, verdict.tokens) == ("biased" if fault else "no_bias_found", 3)
    few = audit(Words(FOUR, fault), progress=False, samples=1500, **question | {"tv": 0.12})
    assert few.verdict != "no_bias_found"
    if fault is None:
        assert "of the first token by 0.1" in few.notes[0]
        free = audit(Words(FOUR), progress=False, samples=1500, **question | {"tokens": None, "tv": 0.15})
        assert free.tokens < 4 and not free.asked


class TopThree:
    """Three possible tokens of 49,152, named by the one before."""

    def __init__(self, vocab_size=None):
        if vocab_size:
            self.vocab_size = vocab_size

    def __call__(self, context):
        last = context[-1] if context else 0
        return {(7 * last + 11 * i) % 49_152: p for i, p in enumerate((0.5, 0.3, 0.2))}


class Sparse:
    """Follows TopThree; with this probability the last token is one that the law never emits, or a wrong choice."""

    def __init__(self, wrong=0.0, token=None):
        self.wrong, self.token = wrong, token

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        rng = np.random.default_rng(seed)
        words = np.zeros((samples, n_tokens), dtype=np.int64)
        last = np.zeros(samples, dtype=np.int64)
        for t in range(n_tokens):
            choice = rng.choice(3, size=samples, p=[0.5, 0.3, 0.2])
            last = words[:, t] = (7 * last + 11 * choice) % 49_152
        bad = rng.random(samples) < self.wrong
        before = words[bad, -2] if n_tokens > 1 else 0
        words[bad, -1] = (7 * before + 11) % 49_152 if self.token is None else self.token
        return words


@pytest.mark.distribution
@pytest.mark.parametrize("size", [None, 49_152])
def test_a_sparse_law_of_a_real_vocabulary_gets_a_joint_bound(size):
    law = TopThree(size)
    verdict = audit(Sparse(), target=law, tokens=3, tv=0.1, method="sampled", progress=False)
    assert (verdict.verdict, verdict.object) == ("no_bias_found", 'joint prefix of 3 tokens after context ""')
    assert verdict.total_variation_upper <= 0.1 and verdict.smallest_detectable_tv < 0.3
    assert "joint prefix of 3 tokens" in verdict.statistics
    free = audit(Sparse(), target=law, tv=0.1, method="sampled", progress=False)
    assert (free.verdict, free.tokens) == ("no_bias_found", 4)  # 81 words


@pytest.mark.distribution
@pytest.mark.parametrize(
    "subject, token, probability",
    [
        (Sparse(0.3), None, 0.3),  # the second choice too often
        (Sparse(0.01, token=5), 5, 0.0),
        (Sparse(0.01, token=49_151), 49_151, 0.0),
        (Sparse(0.01, token=10**12), 10**12, 0.0),
    ],
)
def test_faults_against_a_sparse_law_are_found_with_their_tokens(subject, token, probability):
    verdict = audit(subject, target=TopThree(), tokens=3, tv=0.1, method="sampled", confirm=False, progress=False)
    assert verdict.verdict == "biased"
    if token is not None:
        assert (verdict.witness.token, verdict.witness.target) == (token, probability)
        assert len(verdict.witness.context) == 2


def test_a_sparse_law_with_too_many_words_must_say_its_vocabulary():
    with pytest.raises(InputError, match="must say its vocab_size where 40 tokens have too many possible words"):
        audit(Sparse(), target=TopThree(), tokens=40, samples=10, method="sampled")


def evidence(law, tokens, tv, samples=None):
    target = as_target(lambda context: law)
    about = choose_object(target, (), tokens, True, 0.0, tv=tv, samples=samples, alpha=1e-6, delta=1e-3)
    return AgainstLaw(about, target, (), tokens, tv=tv, alpha=1e-6, delta=1e-3, rtol=0.0, samples=samples)


def draws(words, start):
    return Draws(words, np.zeros(len(words), dtype=np.int64), np.arange(start, start + len(words)))


def test_the_debiased_bound_is_used_at_planned_looks_only():
    """1,024 words: one draw before the planned look the bound is the anytime one, far above; at it the debiased."""
    seen = evidence(FOUR, 5, 0.2)
    first = seen.planned[0]
    words = Words(FOUR).sample((), 5, first, 1)
    seen.add(draws(words[: first - 1], 0))
    seen.look()
    before = seen.tv_upper
    seen.add(draws(words[first - 1 :], first - 1))
    seen.look()
    assert seen.tv_upper <= 0.2 < before


def test_a_resumed_run_keeps_the_looks_that_were_planned():
    one, other = evidence(FOUR, 5, 0.2, samples=500), evidence(FOUR, 5, 0.15)
    assert one.planned[0] == 500 and one.planned != other.planned
    other.restore(one.state())
    assert other.planned == one.planned
    assert other.state()["planned"] == one.state()["planned"]


def test_the_bet_on_the_object_counts_where_it_was_placed_and_as_nothing_elsewhere():
    bet = ObjectBet(np.array([0.5, 0.5]), rtol=0.0, weight=0.25)
    assert bet.mixed(0.0, 10) == pytest.approx(np.log(0.75))
    bet.place(np.array([100.0, 0.0]))
    both = np.log(0.75 + 0.25 * np.exp(bet.log_e))
    assert bet.mixed(0.0, 100) == pytest.approx(both)
    assert bet.mixed(0.0, 101) == pytest.approx(np.log(0.75))
    impossible = ObjectBet(np.array([1.0, 0.0]), rtol=0.0, weight=0.25)
    impossible.place(np.array([1.0, 1.0]))
    assert impossible.mixed(0.0, 2) == np.inf
    assert ObjectBet(np.array([1.0, 0.0]), rtol=0.0, weight=0.25).state() == [0, 0.0]


def a_coin(context, n_tokens):
    return [7 if random.random() < 0.75 else 40_000 for _ in range(n_tokens)]


@pytest.mark.parametrize("law, word", [({7: 0.75, 40_000: 0.25}, "no_bias_found"), ({7: 0.5, 40_000: 0.5}, "biased")])
def test_an_exact_audit_follows_a_sparse_law(law, word):
    verdict = audit(a_coin, target=lambda context: law, tokens=2, method="exact", progress=False)
    assert (verdict.verdict, verdict.tokens) == (word, 2)
    assert verdict.total_variation == pytest.approx(0.0 if word == "no_bias_found" else 0.75**2 - 0.5**2)
    if word == "no_bias_found":
        assert verdict.notes[-1].startswith("not looked at: the bonus token")


def test_an_exact_audit_finds_what_a_sparse_law_never_emits():
    verdict = audit(a_coin, target=lambda context: {7: 1.0}, tokens=1, method="exact", progress=False)
    assert (verdict.verdict, verdict.witness.token, verdict.witness.target) == ("biased", 40_000, 0.0)


def test_a_resumed_audit_keeps_its_object_whatever_it_may_draw_now(tmp_path):
    question = {"tv": 0.06, "resume": str(tmp_path / "audit.json")}
    first = ask(Words(FOUR), FOUR, samples=1000, **question)
    resumed = ask(Words(FOUR), FOUR, samples=10_000, **question)
    assert (first.verdict, resumed.verdict) == ("inconclusive", "no_bias_found")
    assert first.tokens == resumed.tokens == 1
    with pytest.raises(InputError, match="must continue the same question"):
        ask(Words(FOUR), FOUR, samples=10_000, tokens=4, **question)


def test_a_sign_of_dependence_leaves_no_pass_until_the_law_is_known_to_be_wrong(monkeypatch):
    """E of the bets on dependence between draws 10^4, of the others 10^5: more than that only where E is 10^6."""
    seen = evidence(FOUR, 2, 0.2)
    found = {"previous call": np.log(1e4), "next token given context": np.log(1e5)}
    monkeypatch.setattr(seen, "_each", lambda: found)
    seen.peak = np.log(9e5)
    assert not seen.clean()
    seen.peak = np.log(1.1e6)
    assert seen.clean()
    found["previous call"] = np.log(900)
    seen.peak = 0.0
    assert seen.clean()
