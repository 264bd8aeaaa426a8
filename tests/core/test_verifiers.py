"""Verifiers at one node: corner cases by hand, exactness for honest claims, and the faults that break it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheocheck.core import InputError, Node, matching, naive, normalise, one_hot, recursive
from rheocheck.core.builders import rheo as rheo_rule
from rheocheck.core.ranking import held_token
from rheocheck.core.verifiers import rheo
from rheocheck.exact.node_law import DIRECT, node_law, replayed
from tests.faulty import accept_always, residual_from_p
from tests.strategies import laws

F = Fraction
HALVES = (F(0), F(1, 2), F(1, 2))
THIRDS = (F(1, 3),) * 3


def child(token, claim, slot=1):
    return Node(token, slot, claim)


# (p, children, verifier, stop, descend, fallback): each row is a rule of the verifiers that no golden row reaches.
CORNERS = {
    "claim 0 is acceptance 0, recursive": (
        (F(1, 2), F(1, 2), F(0)), [child(0, HALVES)], recursive, {0: F(1)}, {}, False,
    ),
    "claim 0 is acceptance 0, rheo": (
        (F(1, 2), F(1, 4), F(1, 4)), [child(0, HALVES)], rheo, {}, {0: F(1)}, False,
    ),
    "zero residual at the end is p": (
        HALVES, [child(0, HALVES)], recursive, {1: F(1, 2), 2: F(1, 2)}, {}, True,
    ),
    "zero residual at the end is p, rheo": (
        HALVES, [child(0, HALVES)], rheo, {1: F(1, 2), 2: F(1, 2)}, {}, True,
    ),
    "zero residual between siblings is p at once": (
        HALVES, [child(0, HALVES), child(1, one_hot(3, 1), 2)], recursive, {2: F(1, 2)}, {1: F(1, 2)}, True,
    ),
    # r = (1/3 - (2/3, 0, 1/3))+ = (0, 1/3, 0) -> token 1; the younger child 0 has r = 0; r = (0, 1 - 1/3, 0) -> token 1
    "a rejected token may still be the residual": (
        THIRDS, [child(1, (F(2, 3), F(0), F(1, 3))), child(0, THIRDS, 2)], recursive, {1: F(1)}, {}, False,
    ),
    "a residual draw equal to a kept child ends the block": (
        THIRDS, [child(0, (F(0), F(1, 2), F(1, 2)))], recursive, {0: F(1)}, {}, False,
    ),
    "but under rheo it descends": (
        THIRDS, [child(0, (F(0), F(1, 2), F(1, 2)))], rheo, {}, {0: F(1)}, False,
    ),
    "elder and younger: the first accepted wins": (
        (F(1, 4), F(3, 4), F(0)), [child(0, one_hot(3, 0)), child(1, one_hot(3, 1), 2)], recursive,
        {}, {0: F(1, 4), 1: F(3, 4)}, False,
    ),
    "a leaf emits the bonus from p": (THIRDS, [], recursive, dict(enumerate(THIRDS)), {}, False),
    "target zero is rejected for certain": (
        (F(0), F(1), F(0)), [child(0, one_hot(3, 0))], recursive, {1: F(1)}, {}, False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", [node_law, replayed], ids=["direct", "replayed"])
@pytest.mark.parametrize("name", CORNERS)
def test_corner_cases(name, way):
    p, children, verifier, stop, descend, fallback = CORNERS[name]
    law = way(verifier, p, tuple(children), ())
    assert (law.stop, law.descend, law.fallback) == (stop, descend, fallback)


@st.composite
def false_families(draw):
    """A target law and children with arbitrary claims, true or false."""
    p = draw(laws(4))
    tokens = draw(st.lists(st.integers(0, 3), unique=True, max_size=3))
    claims = st.one_of(laws(4), st.sampled_from([p]))
    drawn = draw(st.integers(0, 3))
    children = [
        Node(x, slot, draw(claims) if slot == drawn else one_hot(4, x)) for slot, x in enumerate(tokens, start=1)
    ]
    return p, tuple(children)


@given(false_families(), st.sampled_from([matching, recursive, rheo]))
def test_direct_law_equals_replay(family, verifier):
    """The written-down node laws against the verifiers themselves, false claims included."""
    p, children = family
    direct, slow = dict(DIRECT)[verifier](p, children), replayed(verifier, p, children, ())
    for law, twin in ((direct.stop, slow.stop), (direct.descend, slow.descend)):
        assert {x: m for x, m in law.items() if m} == {x: m for x, m in twin.items() if m}
    assert direct.fallback == slow.fallback


def emitted(verifier, rule, q, p, K, m, kept, claim=lambda slot: slot.claim):
    """The law of the emitted token when the first `kept` slots of a node survive."""
    slots = rule(q, K, m)
    probe = next((slot.law for slot in slots if slot.law is not None), None)
    total = [F(0)] * len(p)
    for y, mass in enumerate(probe) if probe else [(None, F(1))]:
        if mass:
            held = [(number, slot, held_token(slot, y)) for number, slot in enumerate(slots[:kept], start=1)]
            children = tuple(Node(x, n, claim(s) or one_hot(len(p), x)) for n, s, x in held if x is not None)
            law = node_law(verifier, p, children, ()).emitted(len(p))
            total = [t + mass * x for t, x in zip(total, law, strict=True)]
    return tuple(total)


@pytest.mark.distribution
@given(
    laws(4),
    laws(4),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 4),
    st.sampled_from([matching, recursive, rheo]),
)
def test_node_exactness(q, p, K, m, kept, verifier):
    """Each verifier emits exactly p at a node whose claims are honest, however many slots survive."""
    assert emitted(verifier, rheo_rule, q, p, K, m, kept) == p


@pytest.mark.distribution
@pytest.mark.parametrize("verifier", [accept_always, residual_from_p])
def test_node_exactness_finds_faulty_verifiers(verifier):
    q, p = normalise([4, 2, 1, 1]), normalise([1, 2, 2, 3])
    assert emitted(verifier, rheo_rule, q, p, 3, 1, 2) != p


@pytest.mark.distribution
@pytest.mark.parametrize("verifier", [recursive, rheo])
def test_node_exactness_finds_false_claims(verifier):
    """The control: the same tree under the claim q instead of q~."""
    q, p = normalise([4, 2, 1, 1]), normalise([1, 2, 2, 3])
    assert emitted(verifier, rheo_rule, q, p, 3, 1, 2, lambda slot: q if slot.law else None) != p
    assert emitted(verifier, naive, q, p, 3, 1, 2) == p  # at one node without a cut even naive claims are honest


def test_rheo_refuses_several_drawn_children():
    with pytest.raises(InputError, match="at most one drawn child a node, got 2 .slots 1, 2."):
        node_law(rheo, THIRDS, (child(0, THIRDS), child(1, HALVES, 2)), (4, 2))


BAD_VERIFIERS = {
    "token outside": (lambda p, children, chance: (9, False), "with a token 0..2, got (9, False)"),
    "no pair": (lambda p, children, chance: None, "must return (token, descend)"),
    "no such child": (lambda p, children, chance: (2, True), "may descend to a kept child only ([0]), got 2"),
    "raises": (lambda p, children, chance: 1 / 0, "raised ZeroDivisionError: division by zero"),
    "three values": (lambda p, children, chance: (0, False, 1), "must return (token, descend)"),
    "not an index": (lambda p, children, chance: ("a", False), "with a token 0..2"),
}


@pytest.mark.parametrize("name", BAD_VERIFIERS)
def test_misbehaving_verifiers_are_named_with_their_context(name):
    verifier, wanted = BAD_VERIFIERS[name]
    with pytest.raises(InputError) as error:
        node_law(verifier, THIRDS, (child(0, one_hot(3, 0)),), (1, 2))
    assert wanted in str(error.value)
    assert "context '1 2'" in str(error.value)
