"""The enumeration as a whole: order, budgets, checks of the subject, boundaries, replay, and what is left behind."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch

from rheocheck.core.errors import InputError
from rheocheck.intercept import NotUnderstood, Path, enumerate_law, replay

P, Q = [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]


def decoder(context, n_tokens):
    """Speculative sampling of one draft a token, lossless."""
    words = []
    for _ in range(n_tokens):
        x = random.choices(range(3), Q)[0]
        if random.random() >= P[x] / Q[x]:
            x = random.choices(range(3), [max(p - q, 0) for p, q in zip(P, Q, strict=True)])[0]
        words.append(x)
    return words


@pytest.mark.distribution
def test_the_law_of_a_decoder():
    found = enumerate_law(decoder, tokens=2)
    assert found.law == {(i, j): Fraction(P[i]) * Fraction(P[j]) for i in range(3) for j in range(3)}
    assert (found.unseen, found.stopped, found.boundaries) == (0, None, ())


def test_likely_runs_come_first():
    seen = []
    enumerate_law(
        lambda context, n: random.choices(range(3), [0.8, 0.15, 0.05], k=n),
        tokens=4, progress=lambda covered, paths: seen.append(float(covered)),
    )  # fmt: skip
    assert len(seen) == 81 and seen == sorted(seen) and seen[-1] == 1
    assert seen[9] > 0.75, "10 of 81 runs hold three quarters of the probability"


@pytest.mark.distribution
def test_a_budget_leaves_a_partial_law_that_is_certain():
    whole = enumerate_law(decoder, tokens=3).law
    part = enumerate_law(decoder, tokens=3, max_paths=10)
    assert (part.stopped, part.paths) == ("max_paths", 10)
    assert 0 < part.unseen < 1 and sum(part.law.values()) + part.unseen == 1
    assert all(mass <= whole[word] for word, mass in part.law.items())
    assert enumerate_law(decoder, tokens=3, max_seconds=0.0).stopped == "max_seconds"


def test_ctrl_c_leaves_a_partial_law():
    def interrupted(covered, paths):
        if paths == 5:
            raise KeyboardInterrupt

    found = enumerate_law(decoder, tokens=3, progress=interrupted)
    assert (found.stopped, found.paths) == ("interrupted", 5)
    assert sum(found.law.values()) + found.unseen == 1


def test_what_does_not_matter_is_not_branched():
    """An unused uniform, coins after the first rejection, a drawn token that nobody looks at."""

    def wasteful(context, n_tokens):
        torch.rand(50), np.random.random(50), [random.random() for _ in range(50)]
        torch.multinomial(torch.ones(5), 1)
        coins = torch.rand(5) < 0.5
        return [int(coins.long().cumprod(-1).sum())]

    found = enumerate_law(wasteful, tokens=1)
    assert found.paths == 6
    assert found.law == {(n,): Fraction(1, 2 ** min(n + 1, 5)) for n in range(6)}


def test_a_boundary_is_reported_with_what_it_emits():
    def inclusive(context, n_tokens):
        masked = torch.tensor([0.5, 0.5, 0.0])
        return [2 if torch.rand(1) <= masked[2] else 0]

    found = enumerate_law(inclusive, tokens=1)
    assert found.law == {(0,): 1}
    (boundary,) = found.boundaries
    assert (boundary.word, boundary.what) == ((2,), "uniform 1 = 0")
    assert boundary.line.startswith("test_enumeration.py:")

    def exclusive(context, n_tokens):
        return [2 if torch.rand(1) < 0.0 else 0]

    assert enumerate_law(exclusive, tokens=1).boundaries == ()


def test_every_path_can_be_replayed():
    found = enumerate_law(decoder, tokens=2)
    paths = [Path.to(last, word) for word, endings in found.endings.items() for last in endings]
    for path in paths:
        again = replay(decoder, path.script, tokens=2)
        assert (again.word, again.weight, again.choices) == (path.word, path.weight, path.choices)
    assert math.prod(choice.weight for choice in path.choices) == path.weight
    assert path.choices[0].what == "uniform 1 in [0, 0.25)" or path.choices[0].outcomes == 3


@pytest.mark.parametrize(
    ("choices", "message"), [((7,), r"choice 1 must be one of \[0, 1, 2\]"), ((0,) * 9, "must be at most the")]
)
def test_wrong_choices_are_refused(choices, message):
    with pytest.raises(InputError, match=message):
        replay(decoder, choices, tokens=1)


# -- subjects that do not keep the contract --------------------------------------------------------------------------


def test_a_state_kept_between_calls_is_found():
    calls = []

    def drifting(context, n_tokens):
        calls.append(0)
        return [int(random.random() < 0.5 + 0.001 * len(calls))]

    with pytest.raises(NotUnderstood, match="keeps state between calls"):
        enumerate_law(drifting, tokens=1)


def test_a_cache_of_draws_is_found():
    cache = []

    def caching(context, n_tokens):
        if not cache:
            cache.append(random.random())
        return [int(cache[0] < 0.5)]

    with pytest.raises(NotUnderstood, match="noise of an earlier call"):
        enumerate_law(caching, tokens=1)


def test_unseen_randomness_is_found():
    hidden = random.SystemRandom()

    def secretive(context, n_tokens):
        return [int.from_bytes(hidden.randbytes(1), "big") % 2]

    with pytest.raises(NotUnderstood):
        enumerate_law(secretive, tokens=1)


@pytest.mark.parametrize("library", ["torch", "numpy", "random"])
def test_a_constant_seed_is_found_and_the_call_s_own_is_not(library):
    def seeded(seed):
        if library == "torch":
            return float(torch.rand(1, generator=torch.Generator().manual_seed(seed)) < 0.25)
        if library == "numpy":
            return np.random.default_rng(seed).random() < 0.25
        return random.Random(seed).random() < 0.25

    with pytest.raises(NotUnderstood, match="seeds its generator with a constant"):
        enumerate_law(lambda context, n_tokens: [int(seeded(3))], tokens=1)
    fresh = enumerate_law(lambda context, n_tokens, seed: [int(seeded(seed))], tokens=1)
    assert fresh.law == {(1,): Fraction(1, 4), (0,): Fraction(3, 4)}


@pytest.mark.distribution
def test_two_generators_seeded_alike_draw_the_same_noise():
    """Fault 58: drafter and verifier seeded alike. The coin that drafted decides again."""

    def alike(context, n_tokens, seed):
        a, b = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
        first, second = torch.rand(1, generator=a) < 0.25, torch.rand(1, generator=b) < 0.5
        return [int(first), int(second)]

    assert enumerate_law(alike, tokens=2).law == {
        (1, 1): Fraction(1, 4), (0, 1): Fraction(1, 4), (0, 0): Fraction(1, 2)
    }  # fmt: skip


def test_a_generator_set_back_draws_the_same_noise():
    def back(context, n_tokens):
        state = torch.get_rng_state()
        first = torch.rand(1) < 0.5
        torch.set_rng_state(state)
        return [int(first), int(torch.rand(1) < 0.5)]

    assert enumerate_law(back, tokens=2).law == {(1, 1): Fraction(1, 2), (0, 0): Fraction(1, 2)}


# -- bad input, and what is left behind ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "tokens", "message"),
    [
        (3, 1, "must be a function"), (lambda c, n: [0], 0, "tokens must be an integer >= 1"),
        (lambda c, n: [0.5], 1, "must return integer token ids"),
        (lambda c, n: 1 / 0, 1, "it raised ZeroDivisionError"),
    ],
)  # fmt: skip
def test_bad_subjects_are_one_clear_line(subject, tokens, message):
    with pytest.raises(InputError, match=message):
        enumerate_law(subject, tokens=tokens)


def test_everything_is_put_back():
    names = [(random, "random"), (random.Random, "random"), (np.random, "random"), (np.random, "default_rng")]
    names += [(torch.Tensor, "uniform_"), (math, "log"), (np.random, "Generator")]
    before = [getattr(owner, name) for owner, name in names]
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    enumerate_law(decoder, tokens=1)
    with pytest.raises(InputError):
        enumerate_law(lambda c, n: 1 / 0, tokens=1)
    assert [getattr(owner, name) for owner, name in names] == before
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == states
    assert isinstance(random.random(), float) and torch.rand(2).sum() >= 0
