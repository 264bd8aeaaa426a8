"""The law of both array implementations, exactly: constant on every cell of the noise, whose volumes are rational."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from rheocheck.core import Pair, Shape
from rheocheck.exact import Budget, Walk, forest_of
from tests.noise_cells import blocks, trees
from tests.shared_noise import Case, jax_run, torch_run
from toy_models.random_family import random_pair

pytestmark = pytest.mark.distribution
VERIFIERS = ("matching", "recursive", "rheo")


def pair_of(kind, V):
    if kind == "grid":
        rows = [{(): law(17, 20, 14, 13), (1,): law(9, 30, 5, 20)}, {(): law(20, 11, 19, 14), (3,): law(1, 13, 40, 10)}]
        return Pair(V, *rows)
    return random_pair(V, vocab_size=V, order=1, ties=True, zeros=kind == "zeros", same=False)


def law(*weights):
    """Weights of 1/64, no two rows alike."""
    return [Fraction(w, 64) for w in weights]


def cells_of(case):
    """Cells, and the block law that they add up to."""
    decoder, rows, law = case.decoder(), [], Counter()
    for build in trees(decoder):
        probe = build.probe(case.shape, case.pair.vocab_size)
        for volume, block, *ends in blocks(decoder, build):
            law[block] += build.volume * volume
            rows += [(probe, coin, block) for coin in ends]
    assert sum(law.values()) == 1
    return rows, law


def exact_law(case):
    """The block law of the exact engine."""
    decoder = case.decoder()
    forest = forest_of(case.pair, decoder.builder, (), case.shape, Budget())
    return Walk(case.pair, forest, decoder.verifier).emission(()).stops


def check(case, run, **how):
    rows, law = cells_of(case)
    assert len(rows) >= 2
    assert law == {block: mass for block, mass in exact_law(case).items() if mass}
    probe, coin = (np.array([row[i] for row in rows]) for i in (0, 1))
    found = run(case, probe, coin, **how)
    wrong = [(row[2], got) for row, (_, got) in zip(rows, found, strict=True) if row[2] != got]
    assert not wrong, f"{len(wrong)} of {len(rows)} cell ends; expected, got: {wrong[0]}"


SMALL = [
    (kind, 4 if kind == "grid" else 3 + m % 2, Shape(leads=m, branching=K, depth=D, nodes=K + D, frontier=1 + m % 2))
    for kind in ("grid", "ties", "zeros")
    for m in range(4)
    for K in (1, 2, 3)
    for D in (1, 2)
]


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("builder", ["top_k", "rheo", "naive"])
@pytest.mark.parametrize("size", range(len(SMALL)))
def test_torch_has_the_exact_law(size, builder, verifier):
    kind, V, shape = SMALL[size]
    check(Case(0, pair_of(kind, V), shape, builder, verifier), torch_run, walk=size % 2 == 1)


@pytest.mark.parametrize(
    ("size", "builder", "verifier"),
    [(11, "rheo", "rheo"), (9, "rheo", "recursive"), (11, "naive", "recursive"), (41, "rheo", "matching")],
)
def test_jax_has_the_exact_law(size, builder, verifier):
    kind, V, shape = SMALL[size]
    check(Case(0, pair_of(kind, V), shape, builder, verifier), jax_run)


@pytest.mark.slow
@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("builder", ["top_k", "rheo", "naive"])
@pytest.mark.parametrize("size", range(len(SMALL)))
def test_jax_has_the_exact_law_everywhere(size, builder, verifier):
    kind, V, shape = SMALL[size]
    check(Case(0, pair_of(kind, V), shape, builder, verifier), jax_run)
