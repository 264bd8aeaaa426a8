"""A false TV is impossible: every small decoder is found to emit exactly its rational law, or refused.

The reference laws come from rational.py. They are themselves checked by a chi-square of plain, unintercepted samples:
null hypothesis: the words have the reference law; alpha 1e-6 a decoder, 20,000 samples, seeds fixed. A reference that
is off by a TV of 0.03 (one token) to 0.036 (three) is found with power 99.9 %; a pass says nothing of smaller ones.
test_rational.py checks what the references are made of.
"""

import functools
import itertools
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import torch

from rheocheck.intercept import NotUnderstood, enumerate_law
from rheocheck.stats import chi_square
from tests.intercept import rational
from tests.intercept.decoders import DECODERS

TOLERANCE = Fraction(1, 10**12)  # float64 tables, and sums of a few hundred products of them
MAX_SECONDS = 60
SAMPLES, ALPHA = 20_000, 1e-6
FOLLOWED = [e for e in DECODERS if e.followed]
REFUSED = [e for e in DECODERS if not e.followed]


def each(entries):
    return pytest.mark.parametrize("entry", entries, ids=[e.name for e in entries])


@functools.cache
def enumerated(entry):
    """The enumeration, or None where the decoder may be refused and was."""
    try:
        return enumerate_law(entry.subject, tokens=entry.tokens, max_seconds=MAX_SECONDS)
    except NotUnderstood as error:
        if not entry.may_raise:
            raise
        assert "must" in str(error)
        return None


@pytest.mark.distribution
@each(FOLLOWED)
def test_the_law_is_exact(entry):
    result = enumerated(entry)
    if result is None:
        return
    assert result.stopped is None and result.unseen == 0
    assert abs(sum(result.law.values()) - 1) <= TOLERANCE
    wrong = {
        word: (float(result.law.get(word, 0)), float(entry.exact.get(word, 0)))
        for word in {*result.law, *entry.exact}
        if abs(Fraction(result.law.get(word, 0)) - entry.exact.get(word, 0)) > TOLERANCE
    }
    assert not wrong, "word: (found, exact)"


@pytest.mark.distribution
@pytest.mark.parametrize("comparison, tokens", [("accepted", {2}), ("refused", set())])
def test_a_token_of_probability_zero_is_reported_as_a_boundary(comparison, tokens):
    """`<=` lets the banned token 2 pass when the coin is exactly 0, `<` never does; the law is the same."""
    (entry,) = (e for e in FOLLOWED if e.name == f"torch-banned_token_{comparison}_when_the_coin_is_zero")
    assert {token for boundary in enumerated(entry).boundaries for token in boundary.word} == tokens


@pytest.mark.distribution
@each([e for e in FOLLOWED if e.lossless is not None])
def test_the_faults_are_told_from_the_lossless(entry):
    result = enumerated(entry)
    if result is None:
        return
    tv = rational.total_variation(result.law, rational.target(entry.tokens))
    assert tv <= TOLERANCE if entry.lossless else tv > Fraction(1, 1000)


@pytest.mark.distribution
@each(REFUSED)
def test_what_cannot_be_followed_is_refused(entry):
    with pytest.raises(NotUnderstood, match="must"):
        enumerate_law(entry.subject, tokens=entry.tokens, max_seconds=MAX_SECONDS)


def plain_samples(entry):
    """Words of the decoder as its users run it."""
    seeds = itertools.count(1)
    random.seed(2024)
    np.random.seed(2024)
    torch.manual_seed(2024)
    extra = {"seed": seeds.__next__} if entry.takes_seed else {}
    for _ in range(SAMPLES):
        yield tuple(entry.subject((), entry.tokens, **{k: v() for k, v in extra.items()})[: entry.tokens])


@pytest.mark.slow
@pytest.mark.distribution
@each(FOLLOWED)
def test_plain_samples_have_the_reference_law(entry):
    counts = Counter(plain_samples(entry))
    words = sorted({*counts, *entry.exact})
    found = chi_square([counts[w] for w in words], [float(entry.exact.get(w, 0)) for w in words])
    assert found.p_value > ALPHA, {w: (counts[w] / SAMPLES, float(entry.exact.get(w, 0))) for w in words}
