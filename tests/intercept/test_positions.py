"""Places in streams: the twist is NumPy's, real draws move as far as NumPy's and random's own, all libraries agree."""

import random

import numpy as np
import pytest
import torch

from rheocheck.intercept.positions import Twister, just_seeded, numpy_position, stretch, twisted
from rheocheck.intercept.real_draws import draw_numpy_really, draw_really
from rheocheck.intercept.sources import random as on_random
from rheocheck.intercept.sources import torch as on_torch

ENGINES = "MT19937 PCG64 PCG64DXSM Philox SFC64".split()


@pytest.mark.parametrize("seed", range(5))
def test_the_twist_is_numpy_s(seed):
    engine = np.random.MT19937(seed)
    for _ in range(3):
        before = numpy_position(engine)
        engine.random_raw(624)
        assert numpy_position(engine) == Twister(twisted(before.words), before.next)


def test_a_wrong_twist_would_be_noticed():
    words = np.frombuffer(numpy_position(np.random.MT19937(1)).words, np.uint32)
    reference = np.frombuffer(twisted(words.tobytes()), np.uint32)
    changed = words.copy()
    changed[5] ^= 1
    assert (np.frombuffer(twisted(changed.tobytes()), np.uint32) != reference).any()


def test_one_seed_is_one_position_in_torch_and_numpy():
    numpy = np.random.RandomState(5)
    torch_generator = torch.Generator().manual_seed(5 + (3 << 32))
    for words in (0, 1, 5, 617, 1, 1, 2000):
        torch.randint(0, 2**20, (words,), generator=torch_generator)
        numpy._bit_generator.random_raw(words)
        a, b = numpy_position(numpy._bit_generator), on_torch._position(torch_generator)
        assert stretch(a, a).places == () and a == b


def test_one_state_is_one_position_in_random_and_numpy():
    ours, numpy = random.Random(9), np.random.RandomState([9])
    for _ in range(700):
        assert on_random._position(ours) == numpy_position(numpy._bit_generator)
        assert ours.random() == numpy.random_sample()


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("words", [0, 1, 2, 15, 16, 17, 623, 624, 625, 5000])
def test_a_stretch_is_as_long_as_the_draw(kind, words):
    """And the same numbers have the same names however they are cut into draws; the engine is left where it was."""
    engine, other = (getattr(np.random, kind)(3) for _ in range(2))
    before = numpy_position(engine)
    engine.random_raw(words)
    after = numpy_position(engine)
    whole = stretch(before, after).places
    assert len(whole) == words == len(set(whole))
    assert numpy_position(engine) == after
    parts = []
    for part in (words // 3, words - words // 3):
        start = numpy_position(other)
        other.random_raw(part)
        parts += stretch(start, numpy_position(other)).places
    assert tuple(parts) == whole


def test_only_a_fresh_seed_is_just_seeded():
    generator = torch.Generator().manual_seed(2**40 + 1)
    assert just_seeded(on_torch._position(generator))
    assert just_seeded(numpy_position(np.random.RandomState(3)._bit_generator))
    for count in (1, 623):  # in the block, and at its end
        torch.randint(0, 2**20, (count,), generator=generator)
        assert not just_seeded(on_torch._position(generator))
    assert not just_seeded(numpy_position(np.random.PCG64(1)))


REQUESTS = {  # as interception asks, and as a program does
    "random": (("uniform", "float64", (7,)), lambda g: g.random(7) if modern(g) else g.random_sample(7)),
    "one number": (("uniform", "float64", ()), lambda g: g.random() if modern(g) else g.random_sample()),
    "uniform": (("uniform", "float64", (3,)), lambda g: g.uniform(2, [3, 4, 5])),
    "exponential": (("exponential", "float64", "zig", (9,)), lambda g: g.exponential([2.0] * 9)),
    "gumbel": (("gumbel", (9,)), lambda g: g.gumbel(1.0, 2.0, 9)),
    "choice": (("choice", np.array([0.5, 0.5]).tobytes(), 2, (5,), True), lambda g: g.choice(2, 5, p=[0.5, 0.5])),
    "one choice": (("choice", np.array([0.5, 0.5]).tobytes(), 2, (), True), lambda g: g.choice(2, p=[0.5, 0.5])),
    "choice without weights": (("choice", None, 5, (5,), True), lambda g: g.choice(5, 5)),
    "choice of some": (("choice", None, 50, (9,), False), lambda g: g.choice(50, 9, replace=False)),
    "choice of some with weights": (
        ("choice", np.array([0.9, 0.05, 0.05]).tobytes(), 3, (2,), False),
        lambda g: g.choice(3, 2, False, [0.9, 0.05, 0.05]),
    ),
    "multinomial": (
        ("multinomial", 3, np.array([0.2, 0.8]).tobytes(), (4,)), lambda g: g.multinomial(3, [0.2, 0.8], 4)
    ),
    "integers": (
        ("integers", 0, 5, (6,), False, 4), lambda g: g.integers(5, size=6) if modern(g) else g.randint(5, size=6)
    ),
    "one integer": (("integers", 0, 5, (), False, 4), lambda g: g.integers(5) if modern(g) else g.randint(5)),
    "bytes": (
        ("integers", 0, 5, (6,), False, 1),
        lambda g: g.integers(5, size=6, dtype=np.int8) if modern(g) else g.randint(5, size=6, dtype=np.int8),
    ),
    "permutation": (("permutation", 6), lambda g: g.permutation(list("abcdef"))),
    "shuffle": (("permutation", 6), lambda g: g.shuffle(list("abcdef"))),
    "rows shuffled": (("permutation", 6), lambda g: g.shuffle(np.zeros((6, 2)))),
    "binomial": (
        ("binomial", np.array([0.0, 0.3, 0.8]).tobytes(), (3,)), lambda g: g.binomial(1, [0.0, 0.3, 0.8])
    ),
}  # fmt: skip


def modern(generator):
    return isinstance(generator, np.random.Generator)


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.Generator])
@pytest.mark.parametrize("engine", ["MT19937", "PCG64"])
def test_a_real_draw_moves_as_far_as_the_program_s_own(name, kind, engine):
    request, draw = REQUESTS[name]
    for seed in range(20):
        ours, theirs = (getattr(np.random, engine)(seed) for _ in range(2))
        draw_numpy_really(kind(ours), request)
        draw(kind(theirs))
        assert numpy_position(ours) == numpy_position(theirs)


RANDOM = {
    "random": ("random", lambda g: g.uniform(1, 2)),
    "choice": (("choice", 0, 5, 1), lambda g: g.choice("abcde")),
    "randrange": (("randrange", 0, 5, 1), lambda g: g.randrange(10, 20, 2)),
    "randint": (("randint", 3, 9, 1), lambda g: g.randint(3, 8)),
    "shuffle": (("shuffle", 9, 9), lambda g: g.shuffle(list(range(9)))),
    "sample": (("sample", 9, 4), lambda g: g.sample("abcdefghi", 4)),
    "sample of many": (("sample", 1000, 4), lambda g: g.sample(range(1000), 4)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_a_real_draw_moves_as_far_as_random_s_own(name):
    request, draw = RANDOM[name]
    for seed in range(50):
        ours, theirs = random.Random(seed), random.Random(seed)
        draw_really(ours, request)
        draw(theirs)
        assert ours.getstate() == theirs.getstate()
