"""Races of exponential clocks: closed forms, and numbers drawn for real where noise runs twice."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from rheocheck.intercept import NotUnderstood, symbols
from rheocheck.intercept.race import race, ranking
from rheocheck.intercept.search import Search, current

P = [0.2, 0.3, 0.5]


def law(program):
    found = {}
    for run, result in Search(program):
        found[result] = found.get(result, 0) + float(run.weight)
    return found


def clocks(n=3):
    return symbols.exponentials(current(), (n,))


FORMS = {
    "p / E": lambda e: (symbols.binary("/", symbols.plain(P), e), True),
    "E / p": lambda e: (symbols.binary("/", e, symbols.plain(P)), False),
    "log p - log E": lambda e: (symbols.binary("-", symbols.plain(np.log(P)), symbols.unary("log", e)), True),
    "log (p / E)": lambda e: (symbols.unary("log", symbols.binary("/", symbols.plain(P), e)), True),
    "-E / p": lambda e: (symbols.unary("neg", symbols.binary("/", e, symbols.plain(P))), True),
    "exp(-E / p)": lambda e: (symbols.unary("exp", FORMS["-E / p"](e)[0]), True),
    "sqrt(E / p)": lambda e: (symbols.unary("sqrt", symbols.binary("/", e, symbols.plain(P))), False),
    "3 + 2 (log p - log E)": lambda e: (
        symbols.binary("+", symbols.plain(3), symbols.binary("*", symbols.plain(2), FORMS["log p - log E"](e)[0])), True
    ),
}  # fmt: skip


@pytest.mark.distribution
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_race_is_won_by_weight(form):
    def program():
        noises, largest = FORMS[form](clocks())
        return race(list(noises), largest)

    assert law(program) == pytest.approx(dict(enumerate(P)), abs=1e-12)


@pytest.mark.distribution
@pytest.mark.parametrize("base", ["u", "1 - u"])
def test_the_power_trick_is_a_race(base):
    """argmax u^(1/p), u or 1 - u: reservoir sampling by weights."""

    def program():
        u = symbols.uniforms(current(), (3,))
        u = u if base == "u" else symbols.binary("-", symbols.plain(1), u)
        e = symbols.unary("log", u)
        return race(list(symbols.binary("/", e, symbols.plain(P))), True)

    assert law(program) == pytest.approx(dict(enumerate(P)), abs=1e-12)


@pytest.mark.distribution
def test_the_first_two_are_plackett_luce():
    found = law(lambda: tuple(ranking(list(symbols.binary("/", symbols.plain(P), clocks())), 2, True)))
    assert found == pytest.approx({(i, j): P[i] * P[j] / (1 - P[i]) for i in range(3) for j in range(3) if i != j})


@pytest.mark.distribution
def test_what_cannot_win_does_not_run():
    weights = symbols.plain([0.0, 0.25, 0.75])
    for noises in (
        lambda: symbols.binary("/", weights, clocks()),
        lambda: symbols.binary("-", symbols.unary("log", weights), symbols.unary("log", clocks())),
    ):
        assert law(lambda noises=noises: race(list(noises()), True)) == {1: 0.25, 2: 0.75}


@pytest.mark.distribution
@pytest.mark.parametrize("q", [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.0, 0.5, 0.5]])
def test_noise_that_runs_twice(q):
    """Fault 57: the race that drafted is run again to recover. 200,000 real pairs of races, seed 1, five deviations."""

    def program():
        e = clocks()
        first = race(list(symbols.binary("/", symbols.plain(P), e)), True)
        return first, race(list(symbols.binary("/", symbols.plain(q), e)), True)

    found = law(program)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    e = np.random.default_rng(1).exponential(size=(200_000, 3))
    drawn = list(zip((P / e).argmax(1).tolist(), (q / e).argmax(1).tolist(), strict=True))
    for pair in {*drawn, *found}:
        p = found.get(pair, 0.0)
        assert drawn.count(pair) / 200_000 == pytest.approx(p, abs=5 * math.sqrt(p / 200_000) + 1e-9), pair
    if q == P:
        assert found == pytest.approx({(i, i): P[i] for i in range(3)})


@pytest.mark.distribution
def test_a_third_race_of_two_winners():
    def program():
        e = clocks()
        races = (P, [0.5, 0.3, 0.2], P)
        return tuple(race(list(symbols.binary("/", symbols.plain(w), e)), True) for w in races)

    found = law(program)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert all(first == third for first, _, third in found)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda e: race(list(symbols.unary("exp", e)), True),  # the last clock to ring
        lambda e: race(list(symbols.uniforms(current(), (3,))), True),
        lambda e: race([*e, Fraction(1)], True),
        lambda e: race([e[0], e[0], e[1]], False),
        lambda e: race(list(symbols.binary("+", e, symbols.plain([0, 1, 2]))), False),
        lambda e: race([e[0].log(), e[1]], False),
        lambda e: ranking(list(symbols.binary("/", symbols.plain([0, 0, 1]), e)), 2, True),
        lambda e: (race(list(e), False), e[0] < 1),
        lambda e: (e[0] < 1, race(list(e), False)),
        lambda e: (ranking(list(e), 2, False), race(list(e), False)),
        lambda e: (race(list(e[:2]), False), race(list(e), False)),
    ],
)
def test_other_races_are_refused(misuse):
    with pytest.raises(NotUnderstood, match="must follow every use"):
        law(lambda: misuse(clocks()) and 0)


def test_real_races_by_the_standard_library():
    """The same race as a user writes it; 20,000 draws, seed 2."""
    source = random.Random(2)
    drawn = [max(range(3), key=lambda i: P[i] / source.expovariate(1)) for _ in range(20_000)]
    found = law(lambda: race(list(symbols.binary("/", symbols.plain(P), clocks())), True))
    for i in range(3):
        assert drawn.count(i) / 20_000 == pytest.approx(found[i], abs=5 * math.sqrt(P[i] / 20_000))
