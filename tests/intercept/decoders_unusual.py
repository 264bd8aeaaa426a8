"""Uses that no interception can follow, or only a very good one: refused, or exact; never wrong."""

import itertools
import os
import random
import secrets
import time

import numpy as np
import torch

from tests.intercept.entries import Table
from tests.intercept.rational import ONE, Law
from tests.intercept.tables import V

UNUSUAL = Table("unusual")


def coin(p) -> Law:
    """Token 1 with probability p."""
    return {(1,): ONE * p, (0,): ONE - p}


# ---- the noise is not fresh, or not noise --------------------------------------------------------------------------


@UNUSUAL.refused()
def torch_reseeded_with_a_constant(context, n_tokens):
    out = []
    while len(out) < n_tokens:
        torch.manual_seed(0)
        out.append(int(torch.rand(()) < 0.5))
    return out


@UNUSUAL.refused()
def torch_generator_made_anew_for_every_token(context, n_tokens):
    out = []
    while len(out) < n_tokens:
        generator = torch.Generator().manual_seed(42)
        out.append(torch.multinomial(torch.ones(V), 1, generator=generator).item())
    return out


@UNUSUAL.refused()
def random_reseeded_with_a_constant(context, n_tokens):
    random.seed(0)
    return [int(random.random() < 0.5) for _ in range(n_tokens)]


@UNUSUAL.refused()
def numpy_reseeded_with_a_constant(context, n_tokens):
    np.random.seed(0)
    return [int(np.random.rand() < 0.5) for _ in range(n_tokens)]


@UNUSUAL.refused()
def numpy_generator_with_a_constant_seed(context, n_tokens):
    rng = np.random.default_rng(0)
    return [int(rng.random() < 0.5) for _ in range(n_tokens)]


@UNUSUAL.refused(tokens=1)
def torch_generators_seeded_alike_used_differently(context, n_tokens, seed):
    drafter, verifier = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
    x = torch.multinomial(torch.tensor([0.5, 0.25, 0.25]), 1, generator=drafter).item()
    return [x if torch.rand(1, generator=verifier) < 0.5 else 0]


@UNUSUAL.refused(tokens=1)
def numpy_generators_seeded_alike_used_differently(context, n_tokens, seed):
    drafter, verifier = np.random.default_rng(seed), np.random.default_rng(seed)
    x = int(drafter.choice(V, p=[0.5, 0.25, 0.25]))
    return [x if verifier.random() < 0.5 else 0]


# ---- the decoder is not a function of its choices ------------------------------------------------------------------


@UNUSUAL.refused(tokens=1)
class CallsCounted:
    """The threshold depends on how often the decoder was called."""

    def __init__(self):
        self.calls = 0

    def __call__(self, context, n_tokens):
        self.calls += 1
        return [int(random.random() < 1 / (1 + self.calls))]


def _closure():
    calls = itertools.count(2)

    def subject(context, n_tokens):
        return [int(torch.rand(()) < 1 / next(calls)) for _ in range(n_tokens)]

    return subject


counter_in_a_closure = _closure()
counter_in_a_closure.__name__ = "counter_in_a_closure"
UNUSUAL.refused()(counter_in_a_closure)


@UNUSUAL.refused(tokens=1)
class TextRemembered:
    """A cache of emitted tokens that no call clears."""

    def __init__(self):
        self.seen = []

    def __call__(self, context, n_tokens):
        x = int(np.random.rand() < 1 / (2 + len(self.seen)))
        self.seen.append(x)
        return [x]


@UNUSUAL.refused(tokens=1)
def clock_as_a_threshold(context, n_tokens):
    return [int(random.random() < (time.perf_counter_ns() % 1_000_003) / 1_000_003)]


@UNUSUAL.refused(tokens=1)
def operating_system_noise(context, n_tokens):
    threshold = int.from_bytes(os.urandom(8), "big") / 2**64
    return [int(torch.rand(()) < threshold)]


@UNUSUAL.refused(tokens=1)
def secret_noise(context, n_tokens):
    return [int(np.random.rand() < secrets.randbelow(2**40) / 2**40)]


@UNUSUAL.refused(tokens=1)
def system_random(context, n_tokens):
    return [int(random.random() < random.SystemRandom().random())]


# ---- other laws than the uniform -----------------------------------------------------------------------------------


@UNUSUAL.refused()
def torch_normal_as_a_coin(context, n_tokens):
    return [int(x) for x in torch.randn(n_tokens) < 0.3]


@UNUSUAL.refused()
def numpy_normal_as_a_coin(context, n_tokens):
    return [int(np.random.normal() < 0.3) for _ in range(n_tokens)]


@UNUSUAL.refused()
def numpy_generator_beta_as_a_coin(context, n_tokens):
    rng = np.random.default_rng()
    return [int(rng.beta(2, 3) < 0.3) for _ in range(n_tokens)]


@UNUSUAL.refused()
def random_gauss_as_a_coin(context, n_tokens):
    return [int(random.gauss(0, 1) < 0.3) for _ in range(n_tokens)]


# ---- the uniform leaves the road: no law can be told ---------------------------------------------------------------


@UNUSUAL.refused(tokens=1)
def hash_of_a_uniform(context, n_tokens):
    return [hash(random.random()) % 2]


@UNUSUAL.refused(tokens=1)
def text_of_a_uniform(context, n_tokens):
    return [int(str(random.random())[-1] in "02468")]


@UNUSUAL.refused(tokens=1)
def formatted_uniform(context, n_tokens):
    return [int(f"{np.random.rand():.3f}"[-1]) % 2]


@UNUSUAL.refused(tokens=1)
def fourier_transform_of_uniforms(context, n_tokens):
    return [int(torch.fft.fft(torch.rand(4)).real[1] < 0.1)]


@UNUSUAL.refused(tokens=1)
def bits_of_a_uniform(context, n_tokens):
    return [int(torch.rand(1).view(torch.int32).item()) % 2]


@UNUSUAL.refused(tokens=1)
def bytes_of_a_uniform(context, n_tokens):
    return [np.random.rand(1).tobytes()[0] % 2]


@UNUSUAL.refused(tokens=1)
def product_of_uniforms_through_numpy(context, n_tokens):
    """The square root of a product: two libraries and two uniforms deep."""
    r = torch.rand(2, dtype=torch.float64).numpy()
    return [int(np.sqrt(r[0] * r[1]) < 0.4)]


# ---- hard, but with a law that is known ----------------------------------------------------------------------------


@UNUSUAL.emits(coin(ONE * 9 / 32), tokens=1, may_raise=True)
def sum_of_two_uniforms(context, n_tokens):
    return [int(random.random() + random.random() < 0.75)]


@UNUSUAL.emits(coin(ONE / 2), tokens=1, may_raise=True)
def two_uniforms_compared(context, n_tokens):
    r = torch.rand(2)
    return [int(r[0] < r[1])]


@UNUSUAL.emits(coin(ONE / 2), tokens=1, may_raise=True)
def uniform_added_to_its_square(context, n_tokens):
    u = torch.rand((), dtype=torch.float64)
    return [int(u**2 + float(u) < 0.75)]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def square_of_a_uniform(context, n_tokens):
    return [int(np.random.rand() ** 2 < 1 / 16)]


@UNUSUAL.emits({(0,): ONE * 333_333_334 / 10**9, (1,): ONE * 333_333_333 / 10**9, (2,): ONE * 333_333_333 / 10**9},
               tokens=1, may_raise=True)  # fmt: skip
def digits_of_a_uniform(context, n_tokens):
    return [int(random.random() * 1e9) % 3]


@UNUSUAL.emits({(x,): ONE / 4 for x in range(4)}, tokens=1, may_raise=True)
def integer_part_of_a_uniform(context, n_tokens):
    return [int(np.random.random() * 4)]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def distance_from_the_middle(context, n_tokens):
    return [int(abs(random.random() - 0.5) < 0.125)]


@UNUSUAL.emits(coin(ONE * 3 / 4), tokens=1, may_raise=True)
def remainder_of_a_uniform(context, n_tokens):
    return [int(random.random() % 0.5 < 0.375)]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def larger_of_two_uniforms(context, n_tokens):
    return [int(max(random.random(), random.random()) < 0.5)]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def uniform_cut_off(context, n_tokens):
    return [int(torch.rand(1, dtype=torch.float64).clamp(0.125, 0.75).item() < 0.25)]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def redrawn_while_zero(context, n_tokens):
    u = random.random()
    while u == 0.0:
        u = random.random()
    return [int(u < 0.25)]


@UNUSUAL.emits(coin(ONE / 2), tokens=1, may_raise=True)
def rounded_uniform(context, n_tokens):
    return [round(random.random())]


@UNUSUAL.emits(coin(ONE / 4), tokens=1, may_raise=True)
def random_bits(context, n_tokens):
    return [int(random.getrandbits(2) == 0)]


@UNUSUAL.emits({(x,): ONE / 3 for x in range(V)}, tokens=1, may_raise=True)
def order_of_random_keys(context, n_tokens):
    return [sorted(range(V), key=lambda _: random.random())[0]]


@UNUSUAL.emits({(x,): ONE / 3 for x in range(V)}, tokens=1, may_raise=True)
def random_permutation(context, n_tokens):
    return [int(torch.randperm(V)[0])]


@UNUSUAL.emits(coin(ONE * 3 / 8), tokens=1, may_raise=True)
def index_of_the_largest_uniform_and_a_coin(context, n_tokens):
    """The winner of a race is used twice: as an index and, by its value, nowhere else."""
    r = torch.rand(4, dtype=torch.float64)
    winner = r[:2].argmax().item()
    return [int(r[2] < (0.25, 0.5)[winner])]
