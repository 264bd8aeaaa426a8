"""One uniform: what comparisons, arithmetic and rounding ask of it, against numbers drawn for real."""

import itertools
import math
import operator
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.intercept import NotUnderstood
from rheocheck.intercept.noise import COMPARE, Noise
from rheocheck.intercept.run import Run
from rheocheck.intercept.search import Search, current
from rheocheck.intercept.uniform import END, START, Uniform

STEPS = {
    "+": lambda x, c: x + c,
    "c -": lambda x, c: c - x,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / (c or 1),
    "1 -": lambda x, c: 1 - x,
    "clamp": lambda x, c: x.clamp(c, c + 1) if isinstance(x, Noise) else min(max(x, c), c + 1),
    "exp": lambda x, c: x.exp() if isinstance(x, Noise) else math.exp(x),
}
NUMBERS = st.integers(-6, 6).map(lambda n: n / 2)


def law(program):
    """{result: probability} of a program that takes one uniform."""
    found = {}
    for run, result in Search(lambda: program(Noise(current().uniform()))):
        if run.null is None:
            found[result] = found.get(result, 0) + float(run.weight)
    return found


@given(
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), NUMBERS), max_size=4), st.sampled_from(sorted(COMPARE)), NUMBERS
)
def test_a_comparison_after_any_arithmetic_is_one_of_the_uniform(steps, op, c):
    """Against the same arithmetic on a grid of numbers: the share of it that satisfies the comparison."""

    def value(u):
        for name, constant in steps:
            u = STEPS[name](u, constant)
        return u

    grid = [(i + 0.5) / 4096 for i in range(4096)]
    share = sum(COMPARE[op](value(u), c) for u in grid) / 4096
    if op in ("==", "!="):  # only a constant can be equal with positive probability, and a clamp makes it
        share = round(share, 3)
    found = law(lambda u: COMPARE[op](value(u), c)).get(True, 0.0)
    assert found == pytest.approx(share, abs=1e-3)


def test_two_comparisons_of_one_uniform_are_one_draw():
    assert law(lambda u: (u < 0.25, u < 0.5)) == {(True, True): 0.25, (False, True): 0.25, (False, False): 0.5}
    assert law(lambda u: (u > 0.75, 1 - u > 0.75)) == {(True, False): 0.25, (False, True): 0.25, (False, False): 0.5}


@pytest.mark.parametrize(
    ("ask", "branches"),
    [
        (lambda u: u < 0, 1), (lambda u: u <= 0, 2), (lambda u: u > 0, 2), (lambda u: u == 0, 2), (lambda u: u >= 0, 1),
        (lambda u: 1 - u >= 1, 2), (lambda u: 1 - u > 1, 1), (lambda u: u >= 1, 1), (lambda u: u.log() <= -math.inf, 2),
        (lambda u: u < math.nan, 1), (lambda u: u < math.inf, 1), (lambda u: u > -math.inf, 1),
    ],
)  # fmt: skip
def test_only_a_coin_that_is_exactly_0_makes_a_null_event(ask, branches):
    runs = list(Search(lambda: ask(Noise(current().uniform()))))
    assert len(runs) == branches
    assert sum(run.weight for run, _ in runs) == 1
    assert [run.null is not None for run, _ in runs] == [False, True][:branches]


def test_the_integer_part_is_a_draw():
    assert law(lambda u: int(u * 3)) == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3})
    assert law(lambda u: math.floor(4 - 4 * u)) == pytest.approx({0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25})


@pytest.mark.parametrize(
    "use",
    [
        float, bool, hash, str, lambda u: f"{u}", round, abs, operator.index, lambda u: u % 1, lambda u: u // 1,
        lambda u: u + u, lambda u: u * u, lambda u: u < u, lambda u: 2**u, lambda u: (u - 1).log(), lambda u: u**0,
        lambda u: int(u - 2), lambda u: (u * 1e9).floor(),
    ],
)  # fmt: skip
def test_what_is_not_understood_says_what_and_where(use):
    with pytest.raises(NotUnderstood, match=r"must .* got .* at test_noise\.py:\d+: "):
        law(use)


def test_cells_are_half_open():
    uniform = Uniform(Run(), 1)
    half = Fraction(1, 2)
    assert uniform.cells([(half, 0), (half, 1)]) == [(START, (half, 0)), ((half, 1), END)]  # the number 1/2 has no cell
    assert uniform.cells([(Fraction(0), 1)]) == [(START, (Fraction(0), 1)), ((Fraction(0), 1), END)]  # the number 0 has
    uniform.narrow((START, (half, 0)))
    assert uniform.cells([(half, 0), (half, 1), (Fraction(3, 4), 0)]) == [(START, (half, 0))]
    assert repr(uniform) == "uniform 1 in [0, 0.5)"


def test_plain_draws_agree():
    """The same program, on numbers drawn for real: 20,000 draws, seed 0, five standard deviations."""

    def program(u):
        return (u * 2 - 1 < 0.3, int(u * 4), 1 - u <= 0.9)

    source = random.Random(0)
    drawn = [program(source.random()) for _ in range(20_000)]
    for result, p in law(program).items():
        assert drawn.count(result) / 20_000 == pytest.approx(p, abs=5 * math.sqrt(p / 20_000))


def test_branches_of_a_program_are_every_combination():
    runs = [result for _, result in Search(lambda: tuple(Noise(current().uniform()) < 0.5 for _ in range(3)))]
    assert sorted(runs) == sorted(itertools.product([False, True], repeat=3))
