"""Small programs whose law interception once got wrong: found exactly now, or refused.

Each was found by comparing an enumeration with plain samples. `refused` means that refusing is the answer; a law is
the closed form.
"""

import math
import os
import random
import secrets
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
import torch

from rheocheck.intercept import NotUnderstood, enumerate_law

TOLERANCE = 1e-12
HALF = {0: 0.25, 1: 0.5, 2: 0.25}  # heads of two fair coins
FOLLOWED, REFUSED = [], []


def emits(law):
    """A program that emits one token with this law."""

    def add(program):
        FOLLOWED.append(pytest.param(program, law, id=program.__name__))
        return program

    return add


def refused(program):
    """A program that must be refused."""
    REFUSED.append(pytest.param(program, id=program.__name__))
    return program


# ---- in place, views, out= -------------------------------------------------------------------------------------------


@emits({0: 0.7, 1: 0.3})
def where_written_into_a_buffer():
    coin, out = torch.rand(1, dtype=torch.float64) < 0.3, torch.zeros(1)
    torch.where(coin, torch.tensor([1.0]), torch.tensor([0.0]), out=out)
    return int(out)


@emits({0: 0.75, 1: 0.25})
def undecided_coins_as_a_buffer():
    a, b = torch.rand(1) < 0.5, torch.rand(1) < 0.5
    torch.logical_and(a, b, out=a)
    return int(a)


@emits(HALF)
def coins_changed_through_their_transpose():
    coins = torch.rand(2, 2) < 0.5
    coins.T[0] = False
    return int(coins.sum())


@emits(HALF)
def coins_changed_row_by_row():
    coins = torch.rand(2, 2) < 0.5
    for row in coins:
        row[0] = False
    return int(coins.sum())


@emits({2: 1})
def coins_changed_through_data():
    coins = torch.rand(2) < 0.5
    coins.data.fill_(True)
    return int(coins.sum())


@emits({1: 0.5, 2: 0.5})
def coins_changed_through_numpy():
    coins = torch.rand(2) < 0.5
    coins.numpy()[0] = True
    return int(coins.sum())


@emits({0: 0.5, 1: 0.25, 2: 0.25})
def counts_changed_through_a_drawn_index():
    token, counts = torch.multinomial(torch.tensor([0.25, 0.25, 0.5]), 1)[0], torch.zeros(3)
    counts[token].add_(1)
    return int(counts[0] + 2 * counts[1])


@emits({1: 1})
def noise_changed_under_another_name():
    u = torch.rand(2)
    same = u.float()
    same.mul_(0.1)
    return int(u[0] < 0.5)


@emits({0: 0.5, 1: 0.5})
def noise_copied_by_contiguous():
    u = torch.rand(2, 2)
    u[:, 0].contiguous().mul_(0.1)
    return int(u[0, 0] < 0.5)


@emits({1: 1})
def noise_changed_through_a_tensor_index():
    u = torch.rand(2)
    u[torch.tensor(0)].mul_(0.1)
    return int(u[0] < 0.5)


@emits({1: 1})
def noise_changed_through_a_row_seen_in_the_transpose():
    u = torch.rand(2, 2)
    row, transposed = u[0], u.t()
    row.mul_(0.1)
    return int(transposed[0, 0] < 0.5)


@emits({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25})
def noise_drawn_again_seen_in_a_view():
    u = torch.rand(4)
    view, before = u[:2], u[0] < 0.5
    u.uniform_()
    return int(before) + 2 * int(view[0] < 0.5)


@emits({0: 27 / 64, 1: 27 / 64, 2: 9 / 64, 3: 1 / 64})
def noise_set_where_it_is_small():
    u = torch.rand(3)
    u[u < 0.5] = 1.0
    return int((u < 0.75).sum())


@emits({0: 0.999, 1: 0.001})
def a_draw_in_a_thread():
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: int(torch.rand(1, dtype=torch.float64) < 0.001)).result()


@emits({0: 0.5, 1: 0.5})
def numpy_noise_copied_by_flatten():
    u = np.random.rand(2)
    copy = u.flatten()
    copy *= 0.1
    return int(u[0] < 0.5)


@emits(HALF)
def numpy_sum_written_into_a_buffer():
    out = np.zeros((), dtype=int)
    np.sum(np.random.rand(2) < 0.5, out=out)
    return int(out)


@emits({0: 0.5, 1: 0.5})
def numpy_probabilities_left_alone_by_multinomial():
    p = np.array([0.25, 0.25, 0.5])
    p[2] = 0.25
    np.random.multinomial(1, p)
    return int(np.random.rand() < 2 * p[2])


# ---- refused ---------------------------------------------------------------------------------------------------------


@refused
def a_refusal_that_is_caught():
    try:
        return int(random.gauss(0, 1) > 0)
    except Exception:
        return 2


@refused
def numpy_coins_changed_through_a_slice():
    coins = np.random.rand(3) < 0.5
    head = coins[:2]
    head[0] = False
    return int(coins.sum())


@refused
def a_numpy_buffer_filled_through_torch():
    buffer = np.zeros(2)
    torch.from_numpy(buffer).uniform_()
    return int(buffer[0] > 0.4)


@refused
def coins_given_other_data():
    coins = torch.rand(2) < 0.5
    coins.data = torch.ones(2, dtype=torch.bool)
    return int(coins.sum())


@refused
def a_negative_number_turned_into_an_integer():
    return int((random.random() - 0.5) * 3) + 2


@refused
def a_negative_tensor_turned_into_integers():
    return int(((torch.rand(1) - 0.5) * 3).long()) + 2


@refused
def a_number_of_either_sign_divided_by_zero():
    return int(bool((torch.rand(1) - 0.3) / 0.0 > 0))


@refused
def infinity_minus_infinity():
    return int(bool(torch.rand(1) - math.inf + math.inf > -1))


@refused
def a_binary_search_without_cumsum():
    return int(np.searchsorted(np.array([0.5, 0.2, 0.3]), np.random.rand()))


@refused
def choices_with_a_negative_weight():
    return random.choices([0, 1, 2], weights=[0.5, -0.2, 0.7])[0]


@refused
def a_choice_that_is_not_shuffled():
    return int(np.random.default_rng().choice(3, 2, replace=False, shuffle=False)[0])


@refused
def sixteen_bits():
    return int(torch.rand(1, dtype=torch.bfloat16) < 0.004)


@refused
def different_draws_from_numpy_generators_seeded_alike():
    seed = random.randrange(2)
    u, e = np.random.default_rng(seed).random(), np.random.default_rng(seed).exponential()
    return int(u < 0.5) + 2 * int(e < 0.6)


@refused
def the_operating_system():
    return int(os.urandom(1)[0] == 0)


@emits({0: 0.999, 1: 0.001})
def the_module_secrets():
    return int(secrets.randbelow(1000) == 0)


@refused
def a_function_held_as_a_default(draw=random.random):
    return int(draw() < 0.001)


@refused
def a_numpy_function_held_as_a_default(draw=np.random.rand):
    return int(draw() < 0.001)


class Squared(random.Random):
    def random(self):
        return super().random() ** 2


@refused
def a_subclass_with_its_own_numbers():
    return Squared().choices([0, 1])[0]


@pytest.mark.parametrize("program, law", FOLLOWED)
def test_the_law_is_exact(program, law):
    found = enumerate_law(lambda context, n_tokens: [program()], (), 1)
    assert found.unseen == 0
    assert {word[0] for word in found.law} == set(law)
    assert all(abs(float(found.law[(token,)]) - p) <= TOLERANCE for token, p in law.items())


@pytest.mark.parametrize("program", REFUSED)
def test_it_is_refused(program):
    with pytest.raises(NotUnderstood, match="must"):
        enumerate_law(lambda context, n_tokens: [program()], (), 1)


# ---- the budget, and afterwards --------------------------------------------------------------------------------------


def test_an_interrupt_during_a_repetition_loses_no_probability():
    calls = []

    def subject(context, n_tokens):
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return [int(random.random() < 0.25)]

    found = enumerate_law(subject, (), 1)
    assert found.stopped == "interrupted"
    assert sum(found.law.values()) + found.unseen >= 1


def test_a_module_imported_meanwhile_gets_the_real_functions_back():
    module = types.ModuleType("imported_meanwhile")

    def subject(context, n_tokens):
        sys.modules[module.__name__] = module
        module.random, module.rand, module.log = random.random, np.random.rand, math.log
        return [int(module.random() < 0.25)]

    try:
        enumerate_law(subject, (), 1)
    finally:
        sys.modules.pop(module.__name__, None)
    assert (module.random, module.rand, module.log) == (random.random, np.random.rand, math.log)


LATE_IMPORT = """
from rheocheck.intercept import NotUnderstood, enumerate_law

def subject(context, n_tokens):
    import torch
    return [int(torch.rand(1) < 0.001)]

try:
    enumerate_law(subject, (), 1)
except NotUnderstood as error:
    assert "imported" in str(error), error
else:
    raise SystemExit("a law of draws that were not seen")
"""


def test_a_library_imported_by_the_subject_is_refused():
    subprocess.run([sys.executable, "-c", LATE_IMPORT], check=True)


def test_jax_compiled_before_the_audit_is_seen():
    jax = pytest.importorskip("jax")
    compiled = jax.jit(lambda key: jax.random.uniform(key) < 0.001)
    compiled(jax.random.key(0))
    with pytest.raises(NotUnderstood, match="must"):
        enumerate_law(lambda context, n_tokens, seed: [int(compiled(jax.random.key(seed)))], (), 1)


def test_the_primitive_behind_jax_s_randomness_is_found():
    """It is private and may move; without it, draws by other names than those of jax.random would not be seen."""
    pytest.importorskip("jax")
    from rheocheck.intercept.sources.jax import BITS

    assert hasattr(BITS, "bind")


def test_jax_noise_is_not_changed_in_place():
    jax = pytest.importorskip("jax")

    def subject(context, n_tokens, seed):
        u = jax.random.uniform(jax.random.key(seed), (2,))
        v = u
        v *= 0.1
        return [int(u[0] < 0.5)]

    assert enumerate_law(subject, (), 1).law == {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
