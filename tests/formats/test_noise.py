"""Noise arrays drive the specification: the law they give is the exact one, and the numbering is what it says."""

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from rheocheck.core import BUILDERS, VERIFIERS, Decoder, InputError, Shape
from rheocheck.formats import load_pair
from rheocheck.formats.noise import Coins, ProbeRace, cycle_from_noise
from tests.oracle import block_law

HALF = [0.5] * 8


def test_the_race_is_won_by_the_shortest_clock_in_rank_order():
    law = (Fraction(1, 8), Fraction(1, 2), Fraction(0), Fraction(3, 8))  # ranked: 1, 3, 0
    assert ProbeRace([0.5, 0.5, 0.5]).choose(law) == 1
    assert ProbeRace([0.1, 0.9, 0.5]).choose(law) == 3
    assert ProbeRace([0.0, 0.0, 0.1, 0.9]).choose(law) == 0  # u = 0 never wins; the clock of a fourth token is not read


def test_a_draw_lays_the_kept_children_first():
    law = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    assert [Coins([u], [2, 0], 3).choose(law) for u in (0, 0.2499, 0.25, 0.4999, 0.5, 0.999)] == [2, 2, 0, 0, 1, 1]


def test_coins_are_asked_in_order_and_the_last_is_the_draw():
    coins = Coins([0.3, 0.6, 0.0], [], 2)
    assert [coins.flip(Fraction(1, 2)), coins.flip(Fraction(1, 2))] == [True, False]
    assert coins.choose((0, 1)) == 1


def test_a_second_draw_at_a_node_is_refused():
    """It would repeat the first one's uniform: four draws of one node would be one token, four times."""
    coins = Coins([0.3, 0.7], [], 3)
    coins.choose((1, 1, 1))
    with pytest.raises(InputError, match="must draw once a node, got a second draw"):
        coins.choose((1, 1, 1))


def test_a_law_of_another_length_is_refused():
    with pytest.raises(InputError, match="a weight for each of 3 tokens, got 2"):
        Coins([0.3, 0.7], [], 3).choose((1, 1))


def test_coins_are_as_many_as_children():
    coins = Coins([0.3, 0.7], [], 3)
    coins.flip(Fraction(1, 2))
    with pytest.raises(InputError, match="at most 1 a node, got one more"):
        coins.flip(Fraction(1, 2))


def multi_step(p, children, chance):
    """SpecInfer's rule in a nutshell: the child to be asked next is drawn among those that are left."""
    left = list(children)
    while left:
        child = left.pop(chance.choose([Fraction(1, len(left))] * len(left)))
        if chance.flip(min(1, p[child.token])):
            return child.token, True
    return chance.choose(p), False


def test_a_verifier_that_draws_more_than_once_cannot_be_driven_by_arrays():
    decoder = Decoder(
        load_pair("toy_models.exact_ties:pair"),
        BUILDERS["rheo"],
        multi_step,
        Shape(leads=0, branching=2, depth=2, nodes=3),
    )
    with pytest.raises(InputError, match="a weight for each of 4 tokens, got 2"):
        cycle_from_noise(decoder, (), [HALF] * 3, [[0.5] * 3] * 4)


def test_a_flip_in_a_builder_is_refused():
    with pytest.raises(InputError, match="use a rule"):
        ProbeRace(HALF).flip(Fraction(1, 2))


def test_noise_of_the_wrong_size_is_refused():
    """A token without a clock could never be drawn, and the last coin of a short row is not the draw's."""
    decoder = Decoder(load_pair("toy_models.exact_ties:pair"), shape=Shape(leads=0, branching=2, depth=2, nodes=3))
    good = [HALF] * 3, [[0.5] * 3] * 4
    cycle_from_noise(decoder, (), *good)
    for probe, coin, message in (
        ([[0.5]] * 3, good[1], "a uniform for each of 4 tokens, got 1"),
        ([HALF] * 2, good[1], "probe must have 3 rows, one an expanded node, got 2"),
        (good[0], [[0.5] * 3] * 3, r"coin must be \[4, 3\], got 3 rows of \[3\]"),
        (good[0], [[0.5] * 2] * 4, r"coin must be \[4, 3\], got 4 rows of \[2\]"),
    ):
        with pytest.raises(InputError, match=message):
            cycle_from_noise(decoder, (), probe, coin)
    with pytest.raises(InputError, match="a builder that is a rule"):
        cycle_from_noise(Decoder(decoder.pair, BUILDERS["sampled"], shape=decoder.shape), (), *good)


def test_expanded_and_kept_nodes_are_numbered_as_said():
    pair = load_pair("toy_models.exact_ties:pair")
    decoder = Decoder(pair, shape=Shape(leads=1, branching=2, depth=2, nodes=5))
    probe = [[0.5, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.1, 0.9]]  # the root draws 1, its lead 2, its probe 3
    tree, _ = cycle_from_noise(decoder, (), probe, [[0.9] * 3] * 6)
    assert [path for path, _ in tree.walk()] == [(0,), (0, 0), (0, 2), (1,), (1, 0)]
    coin = [[0.9] * 3 for _ in range(6)]
    coin[0] = [0.0, 0.0, 0.0]  # the root's probe 1 is accepted; it is node 2, its child 0 node 5
    for node, token in ((2, 0), (5, 0)):
        coin[node] = [0.9, 0.9, 0.0]  # the draw falls on the first kept child, or on token 0 when there is none
        _, block = cycle_from_noise(decoder, (), probe, coin)
        assert block[: (2 if node == 2 else 3)] == (1, token, 0)[: (2 if node == 2 else 3)]


@pytest.mark.distribution
@pytest.mark.parametrize("builder", ["top_k", "rheo", "naive"])
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_noise_gives_the_decoders_own_law(builder, verifier):
    """4,000 draws against the enumerated law; seed fixed, a chi-square past 5 standard deviations fails."""
    pair = load_pair("toy_models.survival_bias:pair")
    decoder = Decoder(pair, BUILDERS[builder], VERIFIERS[verifier], Shape(leads=1, branching=3, depth=2, nodes=4))
    rng, draws = random.Random(f"{builder} {verifier}"), 4000
    uniforms = lambda rows, columns: [[rng.random() for _ in range(columns)] for _ in range(rows)]  # noqa: E731
    found = Counter(cycle_from_noise(decoder, (), uniforms(4, 4), uniforms(5, 4))[1] for _ in range(draws))
    law = block_law(decoder)
    assert set(found) <= set(law)
    chi = sum((found[block] - draws * mass) ** 2 / (draws * mass) for block, mass in law.items())
    assert chi < len(law) + 5 * math.sqrt(2 * len(law)) + 10
