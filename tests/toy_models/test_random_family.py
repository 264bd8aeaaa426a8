"""The random family is deterministic, valid, and has in it what its arguments promise."""

import hashlib
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheocheck.core import BUILDERS, VERIFIERS, Pair, Shape
from rheocheck.exact import verify
from rheocheck.formats import pair_to_json
from toy_models.random_family import random_pair

SEEDS = range(200)
PAIRS = [random_pair(seed) for seed in SEEDS]  # a Pair checks itself: 200 valid ones
SHAPE = Shape(leads=1, branching=3, depth=2, nodes=4)


def rows(pair: Pair) -> list:
    return [*pair.draft.values(), *pair.target.values()]


def order(pair: Pair) -> int:
    return max(map(len, (*pair.draft, *pair.target)))


def dyadic(pair: Pair) -> bool:
    return all(x == 0 or (x.numerator == 1 and x.denominator.bit_count() == 1) for row in rows(pair) for x in row)


def test_the_first_200_pairs_are_pinned() -> None:
    digest = hashlib.sha256("\n".join(map(pair_to_json, PAIRS)).encode()).hexdigest()
    assert digest[:16] == "82c1bae0147409ab"


def test_the_seed_alone_reaches_every_kind() -> None:
    assert {pair.vocab_size for pair in PAIRS} == {2, 3, 4, 5}
    assert {order(pair) for pair in PAIRS} == {0, 1, 2}
    kinds = {
        "drafter zeros": lambda pair: any(q[x] == 0 < p[x] for p, q in laws(pair) for x in range(len(p))),
        "target zeros": lambda pair: any(p[x] == 0 < q[x] for p, q in laws(pair) for x in range(len(p))),
        "dyadic": dyadic,
        "p = q somewhere": lambda pair: any(p == q for p, q in laws(pair)),
        "p != q somewhere": lambda pair: any(p != q for p, q in laws(pair)),
        "rows left out": lambda pair: len(pair.draft) < sum(pair.vocab_size**n for n in range(order(pair) + 1)),
    }
    for kind, holds in kinds.items():
        assert 20 <= sum(map(holds, PAIRS)), kind
        assert kind == "p != q somewhere" or sum(map(holds, PAIRS)) <= 180, kind


def laws(pair: Pair) -> list:
    return [(pair.p(context), pair.q(context)) for context in pair.draft]


@pytest.mark.parametrize("seed", range(20))
def test_arguments_are_honoured(seed: int) -> None:
    for size, length in product((2, 4, 6), (0, 1, 2)):
        assert random_pair(seed, vocab_size=size).vocab_size == size
        assert order(random_pair(seed, vocab_size=size, order=length)) <= length
    assert min(x for row in rows(random_pair(seed, zeros=False)) for x in row) > 0
    assert dyadic(random_pair(seed, ties=True))
    same = random_pair(seed, same=True)
    assert same.draft == same.target


def test_rationals_are_small() -> None:
    assert max(x.denominator for pair in PAIRS for row in rows(pair) for x in row) <= 31  # 5 * 6 + 1


@pytest.mark.distribution
@settings(max_examples=25, derandomize=True, deadline=None)
@given(st.integers(0, 2**32).map(random_pair))
def test_rheo_is_lossless_on_pairs_drawn_by_their_seed(pair: Pair) -> None:
    for verifier in VERIFIERS.values():
        assert verify(pair, BUILDERS["rheo"], verifier, SHAPE).total_variation == 0


@pytest.mark.distribution
def test_the_family_does_not_hide_survival_bias() -> None:
    biased = [verify(pair, BUILDERS["naive"], VERIFIERS["rheo"], SHAPE).total_variation > 0 for pair in PAIRS[:60]]
    assert sum(biased) >= 10
