"""How fast the exact engine is: `pytest tests/benchmarks -m "slow or not slow" --benchmark-only`.

Rows and sizes are those the engine was asked for; a random pair of seed 1 each (Markov: one row per last token;
full: one row per context). Every row is the whole law: total variation, first token, expected length.
"""

import itertools
import random
import resource
from fractions import Fraction

import pytest

from rheocheck.core import Pair, Shape, naive, normalise
from rheocheck.core.builders import rheo
from rheocheck.core.verifiers import rheo as rheo_verifier
from rheocheck.exact import Walk, certify, forest_of, total_variation
from rheocheck.exact.numbers import fastest
from rheocheck.exact.variation import first_token_variation
from rheocheck.formats import read_pair
from tests.exact.test_golden import GOLDEN, ROWS, measured


def random_pair(vocab_size, order, seed=1):
    rng = random.Random(seed)
    contexts = [c for n in range(order + 1) for c in itertools.product(range(vocab_size), repeat=n)]

    def table():
        return {c: normalise([rng.randint(1, 24) for _ in range(vocab_size)]) for c in contexts}

    return Pair(vocab_size, table(), table())


def law(pair, rule, shape):
    forest = forest_of(pair, rule, (), shape)
    emission = Walk(pair, forest, rheo_verifier).emission(())
    return (
        total_variation(pair, (), emission.stops),
        first_token_variation(pair, (), emission.emitted_at(())),
        len(forest.roots),
    )


SIZES = {  # name: (V, context order, K, D, N, rule, number, classes or None)
    "V8 K4 D4 N16 full Fraction": (8, 4, 4, 4, 16, rheo, Fraction, None),
    "V8 K4 D4 N16 Markov": (8, 1, 4, 4, 16, rheo, fastest(), 129),
    "V8 K4 D4 N16 Markov naive": (8, 1, 4, 4, 16, naive, fastest(), 957),
    "V16 K4 D4 N24 Markov": (16, 1, 4, 4, 24, rheo, fastest(), 15_309),
    "V16 K4 D4 N32 Markov": (16, 1, 4, 4, 32, rheo, fastest(), 276_606),
    "V8 K6 D6 N48 Markov": (8, 1, 6, 6, 48, rheo, fastest(), 598_905),
}
SLOW = {"V16 K4 D4 N32 Markov", "V8 K6 D6 N48 Markov"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in SIZES])
def test_law(benchmark, name):
    vocab_size, order, branching, depth, nodes, rule, number, classes = SIZES[name]
    pair = random_pair(vocab_size, order).converted(number)
    shape = Shape(leads=1, branching=branching, depth=depth, nodes=nodes)
    variation, first, found = benchmark.pedantic(law, (pair, rule, shape), rounds=1 if name in SLOW else 3)
    benchmark.extra_info["peak MiB so far"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert (variation == 0) == (rule is rheo)
    assert classes is None or found == classes
    assert first <= variation


def test_golden_table(benchmark):
    pairs = {name: read_pair(GOLDEN / f"{name}.json") for name in {row["pair"] for row in ROWS}}
    results = benchmark.pedantic(lambda: [measured(pairs[row["pair"]], row) for row in ROWS], rounds=1)
    assert [str(tv) for tv, *_ in results] == [row["tv"] for row in ROWS]


def test_certificate(benchmark):
    """V = 200, K = 10: one context."""
    pair = random_pair(200, 0).converted(fastest())
    shape = Shape(leads=1, branching=10, depth=8, nodes=59)
    certificate = benchmark.pedantic(lambda: certify(pair, rheo, rheo_verifier, shape), rounds=3)
    assert certificate.lossless
    assert certificate.contexts == 1
