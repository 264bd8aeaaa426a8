"""The maths of sampling parameters, by hand, and which tokens rounding may decide about."""

import math

import pytest

from rheocheck.adapters.sampling_parameters import SamplingParameters, next_token_law
from rheocheck.core.errors import InputError

LOGITS = [math.log(x) for x in (0.4, 0.3, 0.2, 0.1)]


def law(seen=(), logits=LOGITS, **parameters):
    return next_token_law(logits, seen, SamplingParameters(**parameters))


@pytest.mark.parametrize(
    "parameters, expected",
    [
        ({}, [0.4, 0.3, 0.2, 0.1]),
        ({"temperature": 0.5}, [16 / 30, 9 / 30, 4 / 30, 1 / 30]),
        ({"top_k": 2}, [4 / 7, 3 / 7, 0, 0]),
        ({"top_k": 9}, [0.4, 0.3, 0.2, 0.1]),
        ({"top_p": 0.75}, [4 / 9, 3 / 9, 2 / 9, 0]),
        ({"top_p": 0.05}, [1, 0, 0, 0]),
        ({"min_p": 0.6}, [4 / 7, 3 / 7, 0, 0]),
        ({"min_p": 1.0}, [1, 0, 0, 0]),
        ({"bad_token": 0}, [0, 3 / 6, 2 / 6, 1 / 6]),
        ({"bad_token": 0, "top_k": 2}, [0, 3 / 5, 2 / 5, 0]),  # banned before the filters look
        ({"bad_token": 0, "top_k": 4, "min_p": 0.4}, [0, 3 / 5, 2 / 5, 0]),
        # temperature first: 16, 9, 4, 1 of 30; top_k 3: 16, 9, 4 of 29; top_p 0.8 then drops 4/29 < 0.2
        ({"temperature": 0.5, "top_k": 3, "top_p": 0.8}, [16 / 25, 9 / 25, 0, 0]),
    ],
)
def test_by_hand(parameters, expected):
    p, near = law(**parameters)
    assert p == pytest.approx(expected, abs=1e-12)
    assert near == frozenset()


def test_the_repetition_penalty_by_hand():
    # tokens 0 and 2 occurred (0 twice): a positive logit is divided by 2, a negative one multiplied, once.
    p, _ = law(seen=(0, 2, 0), logits=[2.0, 0.0, -1.0], repetition_penalty=2.0)
    weights = [math.exp(1.0), 1.0, math.exp(-2.0)]
    assert p == pytest.approx([w / sum(weights) for w in weights])


@pytest.mark.parametrize(
    "weights, parameters, boundary",
    [
        ((0.4, 0.3, 0.3 - 1e-8, 0.1), {"top_k": 2}, {1, 2}),  # a tie across the cut
        ((0.3, 0.3, 0.3, 0.1), {"top_k": 3}, set()),  # a tie on one side of it
        ((0.4, 0.3, 0.2, 0.1), {"top_p": 0.9}, {3}),  # 0.1 against 1 - 0.9
        ((0.4, 0.3, 0.2, 0.1), {"top_p": 0.7 + 1e-8}, {2}),  # 0.1 + 0.2 against 0.3
        ((0.4, 0.2, 0.2, 0.2), {"top_p": 0.7}, {1, 2, 3}),  # which of three equal ones goes is arbitrary
        ((0.4, 0.3, 0.2, 0.1), {"min_p": 0.5}, {2}),  # 0.2 against 0.5 * 0.4
        ((0.4, 0.4, 0.1, 0.1), {"min_p": 1.0}, {0, 1}),
        ((0.4, 0.3, 0.2, 0.1), {"top_k": 3, "min_p": 0.25}, set()),  # the token at the second cut is gone
        ((0.4, 0.3, 0.2, 0.1), {"top_p": 0.9999995, "top_k": 3}, set()),
    ],
)
def test_boundary_tokens(weights, parameters, boundary):
    _, near = law(logits=[math.log(w) for w in weights], **parameters)
    assert near == boundary


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"temperature": 0}, "temperature must be a positive number, got 0"),
        ({"temperature": float("nan")}, "temperature must be a positive number, got nan"),
        ({"temperature": "hot"}, "temperature must be a number, got 'hot'"),
        ({"top_k": 1.5}, "top_k must be an integer >= 0"),
        ({"top_k": -1}, "top_k must be an integer >= 0"),
        ({"top_p": 0}, r"top_p must be in \(0, 1\]"),
        ({"min_p": 1.1}, r"min_p must be in \[0, 1\]"),
        ({"repetition_penalty": -1}, "repetition_penalty must be a positive number"),
        ({"bad_token": -1}, r"bad_token must be a token id \(drop it: off\), got -1"),
        ({"bad_token": "x"}, r"bad_token must be a token id \(drop it: off\), got 'x'"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InputError, match=message):
        SamplingParameters(**parameters)


def test_a_banned_token_must_be_in_the_vocabulary():
    with pytest.raises(InputError, match=r"bad_token must be in 0..3, got 4"):
        law(bad_token=4)
