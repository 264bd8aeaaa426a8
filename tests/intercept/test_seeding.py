"""The seeds of the global generators: unrelated to the call's seed, and to each other."""

import random

import numpy as np
import pytest
import torch

from rheocheck.audit import audit
from rheocheck.intercept import conformance, enumerate_law
from rheocheck.intercept.positions import numpy_position, stretch
from rheocheck.intercept.seeding import call_seed, first_seed, seed_globals
from rheocheck.intercept.sources import random as on_random
from rheocheck.intercept.sources import torch as on_torch

SEEDS = [0, 1, 5, 2**31, 2**32 - 1]


def places(generator):
    """The places of the next 200 words of an MT19937, whatever library holds it."""
    if isinstance(generator, random.Random):
        read, draw = on_random._position, lambda g: g.getrandbits(32 * 200)
    elif isinstance(generator, torch.Generator):
        read, draw = on_torch._position, lambda g: torch.randint(0, 2**20, (200,), generator=g)
    else:
        read, draw = lambda g: numpy_position(g._bit_generator), lambda g: g.bytes(4 * 200)
    before = read(generator)
    draw(generator)
    return set(stretch(before, read(generator)).places)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_generators_share_a_word(seed):
    seed_globals(seed)
    generators = [random._inst, np.random.mtrand._rand, torch.default_generator]
    generators += [random.Random(seed), np.random.RandomState(seed), torch.Generator().manual_seed(seed)]
    *found, seeded_alike = map(places, generators)
    assert seeded_alike == found[-1], "the planted fault that this comparison must see"
    assert len(set().union(*found)) == 200 * len(found)


def test_the_same_seed_gives_the_same_numbers_with_and_without_devices():
    drawn = []
    for devices in (True, False, True):
        seed_globals(3, devices=devices)
        drawn.append((random.random(), np.random.rand(), float(torch.rand(1))))
    assert drawn[0] == drawn[1] == drawn[2]
    seed_globals(4)
    assert random.random() != drawn[0][0]


def test_many_seeds_lead_to_other_states():
    starts = set()
    for seed in range(200):
        seed_globals(seed, devices=False)
        starts.add((random.random(), np.random.rand(), float(torch.rand(1, dtype=torch.float64))))
    assert all(len({start[i] for start in starts}) == 200 for i in range(3))


def test_the_seed_of_a_call_is_a_bijection_of_its_number():
    assert len({call_seed(first_seed(1), stream, call) for stream in range(16) for call in range(2000)}) == 32_000


P, Q = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.3, 0.5])


def drafts_from_torch(context, n, seed):
    """Drafts from torch's own stream, coins from the request's generator."""
    coins, out = torch.Generator().manual_seed(seed), []
    for _ in range(n):
        draft = int(torch.multinomial(Q, 1))
        accepted = torch.rand(1, generator=coins) < P[draft] / Q[draft]
        out.append(draft if accepted else int(torch.multinomial((P - Q).clamp(min=0), 1)))
    return out


def accepts(draw, coin):
    """One drafted token, or the residual's only one: P, whatever `draw` and `coin` are drawn from."""
    draft = draw([0.2, 0.3, 0.5])
    return draft if coin() < float(P[draft] / Q[draft]) else 0


def drafts_from_numpy(context, n, seed):
    rng = np.random.RandomState(seed)
    return [accepts(lambda q: int(np.random.choice(3, p=q)), rng.rand) for _ in range(n)]


def drafts_from_random(context, n, seed):
    rng = random.Random(seed)
    return [accepts(lambda q: random.choices(range(3), q)[0], rng.random) for _ in range(n)]


def drafts_from_numpy_coins_from_torch(context, n):
    return [accepts(lambda q: int(np.random.choice(3, p=q)), lambda: torch.rand(())) for _ in range(n)]


def drafts_from_numpy_coins_of_a_torch_generator(context, n, seed):
    coins = torch.Generator().manual_seed(seed)
    return [accepts(lambda q: int(np.random.choice(3, p=q)), lambda: torch.rand((), generator=coins)) for _ in range(n)]


def a_sequence_of_seeds(context, n, seed):
    """The words of a seed sequence as seeds, one per token: none of them may be torch's own."""
    out = []
    for word in np.random.SeedSequence(seed).generate_state(max(n, 8))[:n]:
        coins = torch.Generator().manual_seed(int(word))
        accepted = torch.rand((), generator=coins)
        out.append(accepts(lambda q: int(torch.multinomial(torch.tensor(q), 1)), lambda u=accepted: u))
    return out


SOUND = [drafts_from_torch, drafts_from_numpy, drafts_from_random, drafts_from_numpy_coins_from_torch,
         drafts_from_numpy_coins_of_a_torch_generator, a_sequence_of_seeds]  # fmt: skip


@pytest.mark.parametrize("subject", SOUND)
def test_a_decoder_with_two_generators_is_not_accused(subject):
    assert enumerate_law(subject, tokens=2).unseen == 0
    assert conformance(subject, vocab_size=3).enumerable
    verdict = audit(subject, target=lambda context: [0.5, 0.3, 0.2], tokens=2, method="exact", progress=False)
    assert (verdict.verdict, verdict.method) == ("no_bias_found", "exact")
    assert verdict.total_variation < 1e-6  # P / Q in float32


@pytest.mark.parametrize("subject", SOUND[:2])
def test_sampled_it_is_not_accused_either(subject):
    """Null: true. alpha 1e-3 of the audit; the PASS needs TV <= 0.1 at 99.9 %. Seed 0."""
    verdict = audit(
        subject, target=lambda context: [0.5, 0.3, 0.2], tokens=2, method="sampled", tv=0.1, alpha=1e-3, progress=False
    )
    assert verdict.verdict == "no_bias_found"


def test_two_generators_that_a_decoder_seeds_alike_are_still_found():
    """The planted fault: the decoder itself seeds torch's own generator with the seed of its coins."""

    def alike(context, n, seed):
        torch.manual_seed(seed)
        coins = torch.Generator().manual_seed(seed)
        return [int(torch.rand(()) < 0.5 and torch.rand((), generator=coins) < 0.5)]

    assert float(enumerate_law(alike, tokens=1).law[(1,)]) == 0.5
