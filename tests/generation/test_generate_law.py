"""The exact law of `generate` on tiny Llamas, by interception of its code as it is, and faults that must show."""

from itertools import product

import pytest

from rheocheck.adapters.generate import subject, target
from rheocheck.generation.cache import CachedModel
from rheocheck.intercept import enumerate_law
from tests.generation.llamas import one_thread  # noqa: F401

pytestmark = pytest.mark.distribution
PARAMETERS = ("temperature", "top_k", "top_p")


def tv(tokens, context=(), **settings):
    """TV between the enumerated law of `tokens` tokens and the target's."""
    found = enumerate_law(subject(**settings), context, tokens)
    assert found.unseen == 0
    p = target(**{name: settings[name] for name in PARAMETERS if name in settings})
    law = {(): 1.0}
    for _ in range(tokens):
        law = {(*word, x): mass * px for word, mass in law.items() for x, px in enumerate(p((*context, *word)))}
    assert set(found.law) <= set(law) == set(product(range(3), repeat=tokens))
    return sum(max(0.0, mass - found.law.get(word, 0)) for word, mass in law.items())


CASES = [
    (2, {"depth": 1, "nodes": 2}),
    (2, {"depth": 1, "nodes": 2, "verifier": "recursive"}),
    (2, {"depth": 1, "nodes": 1, "leads": 0, "branching": 1}),
    (2, {"depth": 1, "nodes": 2, "temperature": 0.6, "top_p": 0.9, "context": (2, 1)}),
    (3, {"depth": 1, "nodes": 2, "builder": "top_k", "verifier": "recursive"}),
    (3, {"depth": 2, "nodes": 3, "builder": "top_k", "verifier": "matching", "top_k": 2}),
    (2, {"depth": 2, "nodes": 3, "builder": "top_k", "company": True}),
]
LONG = [
    (2, {"depth": 2, "nodes": 3}),
    (2, {"depth": 2, "nodes": 3, "verifier": "recursive"}),
    (2, {"depth": 2, "nodes": 3, "verifier": "matching"}),
    (3, {"depth": 1, "nodes": 2}),
    (3, {"depth": 2, "nodes": 3, "builder": "top_k", "verifier": "recursive", "company": True}),
]


@pytest.mark.parametrize(("tokens", "settings"), CASES + [pytest.param(*case, marks=pytest.mark.slow) for case in LONG])
def test_generate_has_the_law_of_the_target(tokens, settings):
    assert tv(tokens, **settings) < 1e-9


def wrong_positions(read):
    """Every node as if it stood right at the end of the text."""
    return lambda self, tokens, place, among, *more: read(self, tokens, place * 0, among, *more)


def unmasked(read):
    """Nodes see their siblings."""
    return lambda self, tokens, place, among, *more: read(
        self, tokens, place, among | among.new_ones(among.shape).tril(), *more
    )


def uncompacted(keep):
    """As many nodes as were accepted, but the first ones instead of those of the path."""
    return lambda self, nodes, count: keep(self, nodes.new_ones(nodes.shape).cumsum(-1) - 1, count)


def stale(keep):
    """One column of the path is forgotten."""
    return lambda self, nodes, count: keep(self, nodes, count - (count > 1).long())


@pytest.mark.parametrize(
    ("method", "fault"), [("read", wrong_positions), ("read", unmasked), ("keep", uncompacted), ("keep", stale)]
)
def test_a_fault_changes_the_law(method, fault, monkeypatch):
    monkeypatch.setattr(CachedModel, method, fault(getattr(CachedModel, method)))
    assert tv(3, builder="top_k", verifier="recursive", depth=1, nodes=2) > 1e-3
