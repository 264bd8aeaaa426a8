"""A pair at another temperature: both rows raised to the power 1/T and renormalised.

    p_T(x) = p(x)^(1/T) / sum over y of p(y)^(1/T),  q_T likewise;  0 stays 0, T = 1 is the pair itself, exactly

Worked at p = (1/2, 1/4, 1/4), T = 1/2: the squares (1/4, 1/16, 1/16), so p_T = (2/3, 1/6, 1/6) up to the rounding of
the floats that the powers are; each float is then taken as its exact Fraction, as in `Pair.from_logits`.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Real

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Law, Pair, one_hot


def tempered(pair: Pair, temperature: float) -> Pair:
    """The pair with both models at `temperature`; 0 is greedy: one-hot on the likeliest token, the smallest of ties."""
    if not (isinstance(temperature, Real) and 0 <= temperature < math.inf):
        raise InputError(f"a temperature must be a finite number of at least 0, got {temperature!r}; try 1")
    if temperature == 1:
        return pair
    if temperature == 0:
        return Pair(pair.vocab_size, _greedy(pair.draft), _greedy(pair.target))
    return Pair.from_logits(_logits(pair.draft), _logits(pair.target), temperature=temperature, top=None)


def _greedy(model: Mapping[Context, Law]) -> dict[Context, Law]:
    return {s: one_hot(len(row), max(range(len(row)), key=lambda x: (row[x], -x))) for s, row in model.items()}


def _logits(model: Mapping[Context, Law]) -> dict[Context, list[float]]:
    return {s: [_log(x) for x in row] for s, row in model.items()}


def _log(x: Fraction) -> float:
    """log x; of numerator and denominator apart, since a Fraction may be too small for a float."""
    return math.log(x.numerator) - math.log(x.denominator) if x else -math.inf
