"""Where a real sampler refuses its weights, the enumerated code fails too, and nowhere else.

Nothing here is random but the draws of the real samplers, of which only whether they raise is looked at.
"""

import itertools
import random
import warnings
from fractions import Fraction

import numpy as np
import pytest
import torch

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept import enumerate_law
from rheocheck.intercept.complaints import NotProbabilities, complaint
from rheocheck.intercept.words import ENDED, FAILED, MAX_ID, cut, filled, is_impossible, stopped, text_of

NAN, INFINITY = float("nan"), float("inf")
SEEDS = itertools.count()
WEIGHTS = {
    "NaN": [0.5, NAN, 0.5], "infinite": [0.5, INFINITY, 0.5], "negative": [0.75, -0.25, 0.5],
    "nothing": [0.0, 0.0, 0.0], "sound": [0.5, 0.25, 0.25],
}  # fmt: skip
SAMPLERS = {
    "random.choices": lambda w: random.choices(range(3), w)[0],
    "numpy choice": lambda w: int(np.random.choice(3, p=w)),
    "numpy Generator.choice": lambda w: int(np.random.default_rng(next(SEEDS)).choice(3, p=w)),
    "numpy multinomial": lambda w: int(np.random.multinomial(1, w).argmax()),
    "numpy binomial": lambda w: int(np.random.binomial(1, w[1])),
    "torch.multinomial": lambda w: int(torch.multinomial(torch.tensor(w), 1)),
    "torch.multinomial, float64": lambda w: int(torch.multinomial(torch.tensor(w, dtype=torch.float64), 1)),
    "torch.multinomial without replacement": lambda w: int(torch.multinomial(torch.tensor(w), 2)[0]),
    "torch Categorical": lambda w: int(torch.distributions.Categorical(probs=torch.tensor(w)).sample()),
    "torch.bernoulli": lambda w: int(torch.bernoulli(torch.tensor(w[1]))),
    "bernoulli_": lambda w: int(torch.empty(1).bernoulli_(w[1])),
    "a comparison": lambda w: int(random.random() < w[1]),
}
REFUSED = {("random.choices", "negative")}  # the real one goes on with a CDF that falls: not followed


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_stand_ins_complain_where_samplers_do(sampler, weights):
    draw, w = SAMPLERS[sampler], WEIGHTS[weights]
    try:
        draw(w)
        real = None
    except Exception as error:
        real = error
    subject = lambda context, n_tokens: [draw(w)]  # noqa: E731
    if (sampler, weights) in REFUSED:
        with pytest.raises(NotUnderstood):
            enumerate_law(subject, (), 1)
        assert real is None
        return
    found = enumerate_law(subject, (), 1)
    assert ((FAILED,) in found.law) == (real is not None), real
    if real is not None:
        assert complaint(real) is not None, real
        assert found.law == {(FAILED,): Fraction(1)}
        assert " at test_complaints.py:" in found.failures[(FAILED,)]


@pytest.mark.parametrize(
    "error",
    [ValueError("contains NaN"), RuntimeError("got nan"), FloatingPointError("invalid value encountered in divide"),
     AssertionError("logits are nan"), NotProbabilities("probabilities sum to 0")],
)  # fmt: skip
def test_complaints(error):
    assert complaint(error) is not None


@pytest.mark.parametrize(
    "error",
    [ValueError("bananas"), RuntimeError("CUDA out of memory"), KeyError("nan"), TypeError("NaN"), OSError("nan"),
     ZeroDivisionError("division by zero"), OverflowError("cannot convert float infinity to integer"),
     AssertionError(), KeyboardInterrupt("nan"), SystemExit("nan"), MemoryError("nan")],
)  # fmt: skip
def test_no_complaints(error):
    assert complaint(error) is None


def test_a_warning_made_an_error_is_one_where_it_speaks_of_nan():
    def subject(context, n_tokens):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            p = np.array([0.0, 0.0] if random.random() < 1 / 4 else [0.5, 0.5])
            return [int((p / p.sum())[0] > 1)]

    assert enumerate_law(subject, (), 1).law == {(0,): Fraction(3, 4), (FAILED,): Fraction(1, 4)}


# words


def test_words_are_filled_up():
    rows = [np.array(row) for row in ([0, 1, 2], [2, 9, 9, 9], [1], [])]
    assert filled(rows, 3, None).tolist() == [[0, 1, 2], [2, 9, 9], [1, ENDED, ENDED], [ENDED] * 3]
    assert filled(rows, 3, 2).tolist() == [[0, 1, 2], [2, 2, 2], [1, ENDED, ENDED], [ENDED] * 3]
    whole = np.array([[0, 2, 1, 0], [2, 0, 0, 0]])
    assert filled(whole, 3, 2).tolist() == stopped(whole[:, :3], 2).tolist() == [[0, 2, 2], [2, 2, 2]]
    assert filled(whole[:, :2], 3, 2).tolist() == [[0, 2, 2], [2, 2, 2]]


def test_ids_of_any_type_keep_their_side():
    assert cut(np.array([2**64 - 1, 3], dtype=np.uint64)).tolist() == [MAX_ID, 3]
    assert cut(np.array([-(2**63), 5])).tolist() == [-MAX_ID, 5]
    assert cut(np.array([255], dtype=np.uint8)).tolist() == [255]


def test_what_is_impossible():
    assert not is_impossible((0, 2), 3) and not is_impossible((0, 10**6), None)
    assert is_impossible((0, 3), 3) and is_impossible((0, -1), 3) and is_impossible((0, ENDED), None)
    assert is_impossible((2**31,), None)
    assert text_of((0, ENDED)) == (0,) and text_of((FAILED, FAILED)) == () and text_of((1, 2)) == (1, 2)
