"""Which draws are the same noise: programs whose generators share numbers of one stream, and programs whose do not.

A program draws twice and emits both results. `same`: the two draws are one, whatever the library thinks of its seeds.
`refused`: they share some numbers in a way that is not followed. `apart`: they share nothing, and must not be accused.
"""

import copy
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import torch

from rheocheck.audit import audit
from rheocheck.intercept import NotUnderstood, enumerate_law
from rheocheck.intercept.positions import twisted

SAME, REFUSED, APART = [], [], []
HIGH = 1 << 32  # torch seeds an MT19937 with the low 32 bits of its seed
P = torch.tensor([0.5, 0.25, 0.25])


def same(program):
    SAME.append(pytest.param(program, id=program.__name__))
    return program


def refused(program):
    REFUSED.append(pytest.param(program, id=program.__name__))
    return program


def apart(program):
    APART.append(pytest.param(program, id=program.__name__))
    return program


def coin(u):
    return int(u < 0.25)


def torch_coin(generator, **kwargs):
    return coin(torch.rand(1, generator=generator, **kwargs))


def torch_generator(seed):
    return torch.Generator().manual_seed(seed)


def ahead(seed, steps):
    """A generator of NumPy set forward."""
    engine = np.random.PCG64(seed)
    engine.advance(steps)
    return np.random.Generator(engine)


def twister(seed, following=624):
    """The state of an MT19937 seeded by one word, as NumPy writes it: before word `following` of its first block."""
    words = [seed]
    for i in range(1, 624):
        words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + i) % HIGH)
    key = np.array(words, np.uint32)
    return "MT19937", key if following == 624 else np.frombuffer(twisted(key.tobytes()), np.uint32), following


def torch_from(state):
    """A generator of torch in this state."""
    generator = torch.Generator()
    saved = generator.get_state().numpy().copy()
    words, following = np.asarray(state[1]), int(state[2])
    saved[8:12] = np.array([1 if following == 624 else 625 - following], np.int32).view(np.uint8)
    saved[16:24] = np.array([following], np.int64).view(np.uint8)
    saved[24 : 24 + 8 * 624] = words.astype(np.uint64).view(np.uint8)
    generator.set_state(torch.from_numpy(saved))
    return generator


def random_from(state):
    generator = random.Random()
    generator.setstate((3, (*(int(word) for word in state[1]), int(state[2])), None))
    return generator


def numpy_from(state):
    generator = np.random.RandomState()
    generator.set_state(state)
    return generator


# ---- seed bits that an engine drops ----------------------------------------------------------------------------------


@same
def rows_in_the_high_bits_of_a_torch_seed(seed):
    return [torch_coin(torch_generator(seed + row * HIGH)) for row in range(2)]


@same
def torch_s_own_generator_seeded_by_bits_that_it_drops(seed):
    torch.manual_seed(seed)
    first = coin(torch.rand(1))
    torch.manual_seed(seed + 7 * HIGH)
    return [first, coin(torch.rand(1))]


@same
def a_negative_torch_seed(seed):
    return [torch_coin(torch_generator(seed)), torch_coin(torch_generator(seed - HIGH))]


@same
def random_drops_the_sign_of_a_seed(seed):
    return [coin(random.Random(seed).random()), coin(random.Random(-seed).random())]


@same
def a_generator_seeded_by_its_method(seed):
    torch.default_generator.manual_seed(seed)
    return [coin(torch.rand(1)), torch_coin(torch_generator(seed + HIGH))]


@same
def one_seed_as_a_number_and_as_a_list_of_words(seed):
    sequences = np.random.SeedSequence(seed), np.random.SeedSequence([seed, 0])
    return [coin(np.random.default_rng(sequence).random()) for sequence in sequences]


# ---- advance, jumped, spawn ------------------------------------------------------------------------------------------


@same
def advanced_to_what_was_drawn(seed):
    rng = np.random.default_rng(seed)
    rng.random()
    return [coin(rng.random()), coin(ahead(seed, 1).random())]


@same
def advanced_beyond_the_buffer_of_half_a_word(seed):
    rng = np.random.default_rng(seed)
    rng.random(dtype=np.float32), rng.random()
    return [coin(rng.random()), coin(ahead(seed, 2).random())]


@refused
def advanced_into_a_draw_of_three(seed):
    several, one = np.random.default_rng(seed).random(3), ahead(seed, 2).random()
    return [coin(several[2]), coin(one)]


@refused
def a_draw_of_three_runs_into_an_advanced_one(seed):
    one, several = ahead(seed, 2).random(), np.random.default_rng(seed).random(3)
    return [coin(several[2]), coin(one)]


@refused
def philox_counters_that_overlap(seed):
    a, b = (np.random.Generator(np.random.Philox(key=seed, counter=c)) for c in (0, 1))
    return [coin(a.random(8)[5]), coin(b.random())]


@same
def philox_counters_that_are_met(seed):
    a, b = (np.random.Generator(np.random.Philox(key=seed, counter=c)) for c in (0, 1))
    for _ in range(4):
        a.random()
    return [coin(a.random()), coin(b.random())]


@same
def jumped_twice_and_by_two(seed):
    engine = np.random.PCG64(seed)
    a, b = engine.jumped().jumped(), engine.jumped(2)
    return [coin(np.random.Generator(a).random()), coin(np.random.Generator(b).random())]


@refused
def jumped_again_from_a_little_later(seed):
    """The second row jumps from where the parent stands after one number: one number behind the first row."""
    engine = np.random.PCG64(seed)
    parent, first = np.random.Generator(engine), np.random.Generator(engine.jumped())
    drawn = first.random(3)
    parent.random()
    return [coin(drawn[1]), coin(np.random.Generator(engine.jumped()).random())]


@same
def a_mersenne_twister_jumped_for_every_row(seed):
    engine = np.random.MT19937(seed)
    return [coin(np.random.Generator(engine.jumped()).random()) for _ in range(2)]


@same
def children_of_equal_seed_sequences(seed):
    (a,), (b,) = (np.random.SeedSequence(seed).spawn(1) for _ in range(2))
    return [coin(np.random.default_rng(a).random()), coin(np.random.default_rng(b).random())]


@same
def a_child_and_its_spawn_key(seed):
    child = np.random.default_rng(seed).spawn(2)[1]
    again = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    return [coin(child.random()), coin(again.random())]


# ---- one MT19937 held by several libraries ---------------------------------------------------------------------------


@refused
def numpy_and_torch_seeded_alike(seed):
    np.random.seed(seed)
    torch.manual_seed(seed)
    return [coin(np.random.rand()), coin(torch.rand(1))]


@refused
def torch_first_and_a_random_state_seeded_alike(seed):
    return [torch_coin(torch_generator(seed), dtype=torch.float64), coin(np.random.RandomState(seed).rand())]


@refused
def random_and_numpy_seeded_by_one_word(seed):
    return [coin(random.Random(seed).random()), coin(np.random.RandomState([seed]).rand())]


@refused
def random_and_torch_in_one_state(seed):
    state = twister(seed, 3)
    return [coin(random_from(state).random()), torch_coin(torch_from(state))]


@refused
def torch_inside_a_draw_of_numpy(seed):
    many = numpy_from(twister(seed, 100)).rand(400)  # 800 words: beyond the first 624
    return [coin(many[250]), torch_coin(torch_from(twister(seed, 601)))]


@refused
def numpy_runs_into_what_random_drew(seed):
    one = random_from(twister(seed, 622)).random()
    return [coin(one), coin(numpy_from(twister(seed, 600)).rand(20)[0])]


@refused
def two_interfaces_of_numpy_around_one_engine(seed):
    a, b = np.random.RandomState(np.random.MT19937(seed)), np.random.Generator(np.random.MT19937(seed))
    return [coin(a.exponential()), coin(b.exponential())]


# ---- different requests ----------------------------------------------------------------------------------------------


@refused
def two_types_of_torch_from_one_seed(seed):
    return [torch_coin(torch_generator(seed), dtype=d) for d in (torch.float32, torch.float64)]


@refused
def a_row_and_its_first_element(seed):
    return [coin(torch.rand(3, generator=torch_generator(seed))[2]), torch_coin(torch_generator(seed))]


@refused
def a_token_and_a_coin_of_torch(seed):
    token = torch.multinomial(P, 1, generator=torch_generator(seed))
    return [int(token), torch_coin(torch_generator(seed + HIGH))]


@refused
def a_shuffle_and_a_number_of_random(seed):
    a, b = random.Random(seed), random.Random(seed)
    order = a.sample(range(3), 3)
    return [order[0], coin(b.random())]


@refused
def float32_of_numpy_in_the_middle_of_float64(seed):
    half = np.random.default_rng(seed).random(4, dtype=np.float32)
    return [coin(half[2]), coin(ahead(seed, 1).random())]


# ---- copies ----------------------------------------------------------------------------------------------------------


@same
def a_deep_copy_of_a_numpy_generator(seed):
    rng = np.random.default_rng(seed)
    rng.random()
    twin = copy.deepcopy(rng)
    return [coin(rng.random()), coin(twin.random())]


@same
def a_deep_copy_of_a_random(seed):
    rng = random.Random(seed)
    twin = copy.deepcopy(rng)
    return [coin(rng.random()), coin(twin.random())]


@same
def a_clone_of_a_torch_generator(seed):
    generator, twin = torch_generator(seed), torch.Generator()
    torch.rand(5, generator=generator)
    twin.set_state(generator.get_state())
    return [torch_coin(generator), torch_coin(twin)]


@same
def a_copy_made_while_half_a_word_waits(seed):
    rng = np.random.default_rng(seed)
    rng.random(dtype=np.float32)
    twin = copy.deepcopy(rng)
    rng.random()
    return [coin(rng.random(dtype=np.float32)), coin(twin.random(dtype=np.float32))]


@refused
def a_copy_that_draws_a_whole_word_where_half_was_drawn(seed):
    rng = np.random.default_rng(seed)
    twin = copy.deepcopy(rng)
    return [coin(rng.random(dtype=np.float32)), coin(twin.random())]


@refused
def a_copy_behind_a_long_draw(seed):
    rng = np.random.Generator(np.random.SFC64(seed))
    twin = copy.deepcopy(rng)
    drawn = rng.random(200)
    for _ in range(150):
        twin.random()
    return [coin(drawn[0]), coin(drawn[199])]


# ---- controls: nothing is shared -------------------------------------------------------------------------------------


@apart
def a_generator_per_row(seed):
    return [torch_coin(torch_generator(seed + row)) for row in range(2)]


@apart
def a_numpy_generator_per_row(seed):
    return [coin(np.random.default_rng([seed, row]).random()) for row in range(2)]


@apart
def spawned_streams(seed):
    return [coin(rng.random()) for rng in np.random.default_rng(seed).spawn(2)]


@apart
def jumped_streams(seed):
    engine = np.random.MT19937(seed)
    return [coin(np.random.Generator(e).random(700)[3]) for e in (engine, engine.jumped())]


@apart
def advanced_beyond_what_is_drawn(seed):
    rng = np.random.default_rng(seed)
    return [coin(rng.random(100)[99]), coin(ahead(seed, 100).random())]


@apart
def one_seed_in_three_libraries_that_use_it_otherwise(seed):
    return [coin(random.Random(seed).random()), torch_coin(torch_generator(seed))]


@apart
def all_global_generators(seed):
    first = random.random(), np.random.rand(), torch.rand(1)
    second = random.random(), np.random.rand(), torch.rand(1)
    return [coin(first[seed % 3]), coin(second[(seed + 1) % 3])]


@apart
def the_global_generator_and_one_with_the_seed(seed):
    return [coin(torch.rand(1)), torch_coin(torch_generator(seed))]


@apart
def numpy_s_global_generator_and_one_with_the_seed(seed):
    return [coin(np.random.rand()), coin(np.random.RandomState(seed).rand())]


@apart
def both_halves_of_a_word(seed):
    rng = np.random.default_rng(seed)
    return [coin(rng.random(dtype=np.float32)) for _ in range(2)]


@apart
def a_half_that_waits_while_whole_words_are_drawn(seed):
    rng = np.random.default_rng(seed)
    first = rng.random(dtype=np.float32)
    rng.random(40)
    return [coin(first), coin(rng.random(dtype=np.float32))]


@apart
def one_generator_across_the_end_of_its_block(seed):
    generator = torch_generator(seed)
    first = torch_coin(generator)
    for _ in range(3):
        torch.rand(620, generator=generator)
    return [first, torch_coin(generator)]


@apart
def a_copy_that_goes_on_elsewhere(seed):
    rng = np.random.default_rng(seed)
    first = rng.random()
    twin = copy.deepcopy(rng)
    return [coin(first), coin(twin.random())]


ODDS = {0: Fraction(3, 4), 1: Fraction(1, 4)}


def law(program):
    found = enumerate_law(lambda context, n_tokens, seed: program(seed), (), 2)
    assert found.unseen == 0
    return found.law


@pytest.mark.parametrize("program", SAME)
def test_the_same_numbers_are_the_same_noise(program):
    assert law(program) == {(x, x): odds for x, odds in ODDS.items()}


@pytest.mark.parametrize("program", REFUSED)
def test_an_overlap_is_refused_with_both_lines_and_the_stream(program):
    with pytest.raises(NotUnderstood) as caught:
        law(program)
    message = str(caught.value)
    assert "share numbers of one stream of a" in message and "the noise is used twice" in message
    assert message.count("test_identity.py:") == 2


@pytest.mark.parametrize("program", APART)
def test_what_shares_nothing_is_not_accused(program):
    assert law(program) == {(x, y): ODDS[x] * ODDS[y] for x, y in itertools.product(ODDS, ODDS)}


@pytest.mark.parametrize("program", SAME)
def test_they_are_the_same_without_interception(program):
    """The table itself is true: plain calls show it, one by one."""
    assert all(a == b for a, b in map(program, range(40)))


# ---- whole audits ----------------------------------------------------------------------------------------------------


def rows(context, n_tokens, seed):
    out = []
    for row in range(2):
        generator = torch.Generator()
        generator.manual_seed(seed + (row << 32))
        out.append(int(torch.multinomial(torch.tensor([0.5, 0.3, 0.2]), 1, generator=generator)))
    return out


def test_rows_that_share_a_torch_seed_are_biased():
    """By hand: both tokens are equal, so that the law (p_x on the diagonal) is 1 - sum p_x^2 = 0.62 away."""
    verdict = audit(rows, target=lambda context: [0.5, 0.3, 0.2], tokens=2, method="auto", progress=False)
    assert verdict.verdict == "biased"
    assert verdict.total_variation == pytest.approx(0.62, abs=1e-6)


def constant_in_the_bits_that_count(context, n_tokens, seed):
    return [torch_coin(torch_generator(seed * HIGH)) for _ in range(n_tokens)]


def a_block_of_one_stream_per_seed(context, n_tokens, seed):
    """The seed sets a generator forward along one constant stream, by too little: blocks of neighbours overlap."""
    return [coin(ahead(0, seed % 4).random(8)[0]) for _ in range(n_tokens)]


@pytest.mark.parametrize("subject", [constant_in_the_bits_that_count, a_block_of_one_stream_per_seed])
def test_a_seed_that_does_not_count_is_found(subject):
    with pytest.raises(NotUnderstood, match="seeds its generator with a constant"):
        enumerate_law(subject, (), 1)
