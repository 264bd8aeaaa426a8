"""Hypothesis strategies: small pairs, shapes and node configurations, with zeros and ties among them."""

import itertools

from hypothesis import strategies as st

from rheocheck.core import Pair, Shape, normalise

WEIGHTS = st.sampled_from([0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 8, 13])


@st.composite
def laws(draw, vocab_size):
    """A law over `vocab_size` tokens; entries tie and vanish often."""
    weights = draw(st.lists(WEIGHTS, min_size=vocab_size, max_size=vocab_size))
    if not any(weights):
        weights[draw(st.integers(0, vocab_size - 1))] = 1
    return normalise(weights)


@st.composite
def pairs(draw, min_vocab=2, max_vocab=4, max_order=2):
    """A pair with rows for all contexts up to a random order, some of them left out."""
    size = draw(st.integers(min_vocab, max_vocab))
    order = draw(st.integers(0, max_order))
    contexts = [c for n in range(order + 1) for c in itertools.product(range(size), repeat=n)]

    def table():
        return {c: draw(laws(size)) for c in contexts if not c or draw(st.booleans())}

    return Pair(size, table(), table())


@st.composite
def shapes(draw, max_nodes=6, max_depth=3, max_branching=3):
    """A shape whose enumeration by hand is still small."""
    return Shape(
        leads=draw(st.integers(0, 3)),
        branching=draw(st.integers(1, max_branching)),
        depth=draw(st.integers(1, max_depth)),
        nodes=draw(st.integers(0, max_nodes)),
        frontier=draw(st.none() | st.integers(1, 4)),
    )
