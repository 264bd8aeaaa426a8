"""The decoder: cycles, generation, and its sampled law against the exact one."""

from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chisquare

from rheocheck.core import Decoder, InputError, Node, Pair, RandomChance, Shape, Tree, matching, naive, recursive
from rheocheck.core.builders import rheo
from tests.oracle import target_law, words_of

PAIR = Pair(
    3,
    {(): ["1/2", "1/4", "1/4"], (0,): ["1/4", "1/4", "1/2"]},
    {(): ["1/4", "1/4", "1/2"], (0,): ["1/2", "1/3", "1/6"]},
)
SHAPE = Shape(leads=1, branching=3, depth=2, nodes=4)


def test_generates_at_least_what_was_asked():
    tokens = Decoder(PAIR, shape=SHAPE).generate((1,), 7, RandomChance(0))
    assert 7 <= len(tokens) <= 7 + SHAPE.depth
    assert all(token in range(3) for token in tokens)


def test_is_a_subject():
    decoder = Decoder(PAIR, shape=SHAPE)
    assert decoder((), 5, seed=3) == decoder((), 5, seed=3)
    assert any(decoder((), 5, seed=3) != decoder((), 5, seed=seed) for seed in range(4, 9))


def counts(decoder, tokens, samples):
    return Counter(decoder((), tokens, seed=seed)[:tokens] for seed in range(samples))


@pytest.mark.distribution
def test_sampling_follows_the_exact_law():
    """Null: the first 3 sampled tokens, over one or more cycles, have the target's law. Chi-square over 27 cells,
    n = 4,000, alpha = 1e-3, seeds 0..3999. The control is naive ranking, whose exact law is another: it must be
    rejected against the target's law (TV 0.070, noncentrality at least 4 * 0.070^2 * 4,000 = 79, power > 0.999)
    and pass against its own."""
    shape = Shape(leads=0, branching=2, depth=2, nodes=5)
    honest = counts(Decoder(PAIR, rheo, recursive, shape), 3, 4000)
    target = target_law(PAIR, 3)
    assert pvalue(honest, target) >= 1e-3
    biased = Decoder(PAIR, naive, recursive, shape)
    seen = counts(biased, 3, 4000)
    assert pvalue(seen, words_of(biased, 3)) >= 1e-3
    assert pvalue(seen, target) < 1e-3


def pvalue(seen, law):
    assert set(seen) <= set(law)
    total = sum(seen.values())
    return chisquare([seen[w] for w in law], [total * float(mass) for mass in law.values()]).pvalue


def test_a_verifier_must_descend_to_a_kept_child():
    def lost(p, children, chance):
        return 0, True

    with pytest.raises(InputError, match="may descend to a kept child only, got token 0; kept: "):
        Decoder(PAIR, rheo, lost, Shape(nodes=0)).cycle((), RandomChance(0))


def test_a_verifier_does_not_see_below_its_children():
    def nosy(p, children, chance):
        assert all(child.children == () for child in children)
        return matching(p, children, chance)

    Decoder(PAIR, rheo, nosy, SHAPE).generate((), 30, RandomChance(0))


def test_duplicate_siblings_the_walk_takes_the_eldest():
    one = (Fraction(1), Fraction(0), Fraction(0))

    def twins(pair, context, chance, shape):
        below = Node(1, 1, (Fraction(0), Fraction(1), Fraction(0)))
        return Tree((Node(0, 1, one, (below,)), Node(0, 2, one)))

    def down(p, children, chance):
        return (children[0].token, True) if children else (chance.choose(p), False)

    block = Decoder(PAIR, twins, down, SHAPE).cycle((), RandomChance(0))
    assert block[:2] == (0, 1)
