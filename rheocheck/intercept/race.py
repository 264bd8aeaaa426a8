"""Races: which of several noises is largest, when each is an exponential clock in disguise.

E = -log(u) is exponential, and a Gumbel is -log(E). So all of

    argmax(log p - log E)    argmax(p / E)    argmin(E / p)    argmax(u ** (1/p))

ask which clock E_i / w_i rings first, and i does with probability w_i / sum(w) (w = p). The order of the first k is
Plackett-Luce. Noise that runs in a second race is tied to the first one: that E_i / w_i rang first means
E_j >= E_i w_j / w_i for all j, and the law of the second race is a ratio of two volumes of such cones under the
exponential density. With at most two different winners, x and y, a volume is an integral over x and y alone,

    integral of exp(-x - y - sum_j max(a_j x, b_j y)) over  s <= y/x <= t,

which is a sum of (t' - s') / ((A + B s') (A + B t')) over the pieces where every max is one of its terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rheocheck.intercept.asking import check_run
from rheocheck.intercept.errors import not_understood
from rheocheck.intercept.noise import Noise, Number, exp_of, log_of, root_of
from rheocheck.intercept.uniform import Uniform

ADVICE = "race fresh noise: argmax(log p + Gumbel), argmax(p / exponential), argmin(exponential / p)"
AFFINE, CLOCK, LOG, POWER, ROOT = "affine", "clock", "log clock", "power of a clock", "power of a uniform"


@dataclass(frozen=True)
class Clock:
    """A noise as a function of E = -log(v), where v is the uniform or 1 minus it.

    form       CLOCK: a E + b;  LOG: a log(E) + b;  POWER: b E^a;  ROOT: exp(a E + b);  AFFINE: a u + b
    mirrored   whether v is 1 minus the uniform
    """

    form: str
    a: Number
    b: Number
    mirrored: bool


@dataclass(frozen=True)
class Race:
    """A finished race: clocks[i] rang first, clock j being E_j / rates[j]."""

    uniforms: tuple[Uniform, ...]
    rates: tuple[Fraction, ...]
    winner: int
    mirrored: bool


def race(noises: Sequence[Noise | Number], largest: bool) -> int:
    """The index of the largest (or smallest) of some noises, decided now."""
    return ranking(noises, 1, largest)[0]


def ranking(noises: Sequence[Noise | Number], k: int, largest: bool) -> list[int]:
    """The indices of the k largest (or smallest) noises in order, decided now."""
    running = {i: x for i, x in enumerate(noises) if isinstance(x, Noise)}
    if not running:
        raise AssertionError("a race without noise is no race")
    rates, mirrored = _rates(running, noises, largest)
    at = [i for i in running if rates[i] > 0]
    if len(at) < k:
        raise not_understood(f"a race for {k} places among {len(at)} that can win", "give them positive weights")
    uniforms = [running[i].uniform for i in at]
    for uniform in uniforms:
        check_run(uniform)
    if len({id(u) for u in uniforms}) < len(uniforms):
        raise not_understood("one uniform twice in a race", ADVICE)
    if all(u.fresh for u in uniforms):
        return _fresh(at, rates, uniforms, k, mirrored)
    if k > 1:
        raise not_understood("a second race of the same noise for several places", ADVICE)
    return _again(at, [rates[i] for i in at], uniforms, mirrored)


def _fresh(at: list[int], rates: dict[int, Fraction], uniforms: list[Uniform], k: int, mirrored: bool) -> list[int]:
    """The first k of clocks of which nothing is known."""
    places: list[int] = []
    left = list(at)
    for _ in range(k):
        places.append(left.pop(_choose(uniforms[0], left, [rates[i] for i in left])))
    if len(at) > 1:
        winner = at.index(places[0])
        history = (Race(tuple(uniforms), tuple(rates[i] for i in at), winner, mirrored),) if k == 1 else "ranked"
        for uniform in uniforms:
            uniform.races = history
    return places


def _again(at: list[int], rates: list[Fraction], uniforms: list[Uniform], mirrored: bool) -> list[int]:
    """The winner among clocks that have raced before, given who won then."""
    histories = {id(u.races): u.races for u in uniforms}
    past = next(iter(histories.values()))
    if len(histories) > 1 or not isinstance(past, tuple):
        raise not_understood("a race of noises that ran in different races, or for several places", ADVICE)
    if any(race.mirrored != mirrored for race in past):
        raise not_understood("noise u raced again as 1 - u", ADVICE)
    if any(u.lo[0] != 0 or u.hi[0] != 1 for u in uniforms):
        raise not_understood("noise that was compared with a number in a race", ADVICE)
    races = [Race(tuple(uniforms), tuple(rates), i, mirrored) for i in range(len(at))]
    before = _volume(past)
    chances = [_volume((*past, new)) / before for new in races]
    total = sum(chances, Fraction(0))
    assert abs(total - 1) < 1e-9, "the winners of a race must cover it, up to the rounding of rates that were floats"
    i = _choose(uniforms[0], at, [c / total for c in chances])
    history = (*past, races[i])
    for uniform in {id(u): u for race in history for u in race.uniforms}.values():
        uniform.races = history
    return [at[i]]


def _choose(uniform: Uniform, at: list[int], rates: Sequence[Fraction]) -> int:
    total = sum(rates)
    return uniform.run.choose([r / total for r in rates], lambda i: f"the race was won by {at[i]}")


def _volume(races: tuple[Race, ...]) -> Fraction:
    """The probability that every race had its winner, all clocks being exponential."""
    below: dict[int, dict[int, Fraction]] = {}  # loser -> winner -> least value of E_loser / E_winner
    for race in races:
        first = id(race.uniforms[race.winner])
        for uniform, rate in zip(race.uniforms, race.rates, strict=True):
            if id(uniform) != first:
                bound = rate / race.rates[race.winner]
                known = below.setdefault(id(uniform), {})
                known[first] = max(known.get(first, Fraction(0)), bound)
    winners = list(dict.fromkeys(id(race.uniforms[race.winner]) for race in races))
    zero = Fraction(0)
    if any(below.get(b, {}).get(a, zero) * below.get(a, {}).get(b, zero) >= 1 for a in winners for b in winners):
        return zero  # each would have to ring before the other
    if len(winners) > 2:
        raise not_understood("noise raced three times with three winners", ADVICE)
    x, y = winners[0], winners[-1]
    lines = [(known.get(x, Fraction(0)), known.get(y, Fraction(0))) for u, known in below.items() if u not in winners]
    if x == y:
        return 1 / (1 + sum((a for a, _ in lines), Fraction(0)))
    low = below.get(y, {}).get(x, Fraction(0))
    inverse = below.get(x, {}).get(y, Fraction(0))
    high = 1 / inverse if inverse else None
    return _cone(lines, low, high)


def _cone(lines: list[tuple[Fraction, Fraction]], low: Fraction, high: Fraction | None) -> Fraction:
    """The integral of exp(-x - y - sum max(a x, b y)) over low <= y/x <= high (None: no limit)."""
    kinks = {a / b for a, b in lines if b and a / b > low and (high is None or a / b < high)}
    edges: list[Fraction | None] = [low, *sorted(kinks), high]
    total = Fraction(0)
    for s, t in zip(edges, edges[1:], strict=False):
        assert s is not None
        inside = s + 1 if t is None else (s + t) / 2
        A = 1 + sum(a for a, b in lines if a >= b * inside)
        B = 1 + sum(b for a, b in lines if a < b * inside)
        total += 1 / (B * (A + B * s)) if t is None else (t - s) / ((A + B * s) * (A + B * t))
    return total


def _rates(running: dict[int, Noise], noises: Sequence[Noise | Number], largest: bool) -> tuple[dict, bool]:
    """The rate of every clock in a race; 0 for one that cannot win."""
    clocks = {i: _clock(x) for i, x in running.items()}
    alive = {i: c for i, c in clocks.items() if not _hopeless(c, largest)}
    rates = {i: Fraction(0) for i in clocks}
    if not alive:
        return rates, False
    forms = {(c.form, c.mirrored, _common(c)) for c in alive.values()}
    if len(forms) > 1:
        raise not_understood("a race between noises of different kinds", ADVICE)
    form, mirrored, _ = next(iter(forms))
    for i, clock in alive.items():
        rates[i] = _rate(clock, largest)
    for x in noises:  # plain numbers in a race must be out of it
        if not isinstance(x, Noise) and not (x == (-math.inf if largest else math.inf)):
            if not (form == POWER and largest and x == 0):
                raise not_understood("a race between noise and a plain number", ADVICE)
    return rates, mirrored


def _hopeless(clock: Clock, largest: bool) -> bool:
    """Whether it cannot win: log 0 + noise, 0 / E, E / 0."""
    if clock.form == LOG:
        return clock.b == (-math.inf if largest else math.inf)
    if clock.form == POWER:
        return clock.b == (0 if largest else math.inf)
    return clock.form in (CLOCK, ROOT) and clock.a == (-math.inf if largest else math.inf)


def _common(clock: Clock) -> Number:
    """What the clocks of one race must share, besides their form."""
    return clock.b if clock.form in (CLOCK, ROOT) else clock.a if clock.form in (LOG, POWER) else Fraction(0)


def _rate(clock: Clock, largest: bool) -> Fraction:
    """w such that the race is won by the least E / w."""
    falling = clock.a < 0  # as E grows
    if clock.form == AFFINE or clock.a == 0 or math.isinf(clock.a) or falling != largest:
        raise not_understood("a race that is not one of exponential clocks", ADVICE)
    if clock.form in (CLOCK, ROOT):
        return 1 / abs(Fraction(clock.a))
    if clock.form == LOG:
        return Fraction(exp_of(-clock.b / clock.a))
    if clock.b < 0 or math.isinf(clock.b):
        raise not_understood("a race with negative weights", ADVICE)
    return Fraction(root_of(clock.b, -clock.a))


def _clock(noise: Noise) -> Clock:
    """The noise as a clock, step by step."""
    clock = Clock(AFFINE, Fraction(1), Fraction(0), False)
    for name, *values in noise.steps:
        clock = _after(clock, name, values)
    return clock


def _after(clock: Clock, name: str, values: Sequence[Number]) -> Clock:
    form, a, b, mirrored = clock.form, clock.a, clock.b, clock.mirrored
    if name == "shift" and form in (AFFINE, CLOCK, LOG):
        return Clock(form, a, b + values[0], mirrored)
    if name == "scale":
        s = values[0]
        if form in (AFFINE, CLOCK, LOG):
            return Clock(form, a * s, b * s if b else b, mirrored)
        if form == POWER:
            return Clock(form, a, b * s, mirrored)
    if name == "log" and form == AFFINE and b == 0 and a > 0:
        return Clock(CLOCK, Fraction(-1), log_of(a), False)
    if name == "log" and form == AFFINE and a == -b and a < 0:
        return Clock(CLOCK, Fraction(-1), log_of(b), True)
    if name == "log" and form == CLOCK and b == 0 and a > 0:
        return Clock(LOG, Fraction(1), log_of(a), mirrored)
    if name == "log" and form == POWER and b >= 0:
        return Clock(LOG, a, log_of(b), mirrored)
    if name == "exp" and form == LOG:
        return Clock(POWER, a, exp_of(b), mirrored)
    if name == "exp" and form == CLOCK:
        return Clock(ROOT, a, b, mirrored)
    if name == "log" and form == ROOT:
        return Clock(CLOCK, a, b, mirrored)
    if name == "power" and form == CLOCK and b == 0 and a > 0:
        return Clock(POWER, values[0], root_of(a, 1 / values[0]), mirrored)
    if name == "power" and form == POWER and b >= 0:
        return Clock(POWER, a * values[0], root_of(b, 1 / values[0]) if b else Fraction(0), mirrored)
    if name == "power" and form == AFFINE and b == 0 and a == 1:
        return Clock(ROOT, -values[0], Fraction(0), False)
    if name == "power" and form == ROOT:
        return Clock(ROOT, a * values[0], b * values[0], mirrored)
    raise not_understood("a race of noise that is no exponential clock in closed form", ADVICE)
