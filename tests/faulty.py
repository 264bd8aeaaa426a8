"""Small planted faults that the tests of the engine must find."""

from rheocheck.core import Slot
from rheocheck.core.builders import rheo
from rheocheck.core.rule import tokens_of


def token_ties(q, K, m):
    """RheoSampling whose equal scores are decided by the token id."""
    return [_retied(slot) for slot in rheo(q, K, m)]


def _retied(slot):
    return Slot(
        token=slot.token,
        law=slot.law,
        given=slot.given,
        weight=slot.weight,
        claim=slot.claim,
        tie={x: x for x in tokens_of(slot)},
    )


def low_proxy(q, K, m):
    """RheoSampling whose probe ranks below its fills: its survival depends on what the fills weigh."""
    return [
        slot if slot.law is None else Slot(law=slot.law, weight=slot.weight / 8, claim=slot.claim)
        for slot in rheo(q, K, m)
    ]


def accept_always(p, children, chance):
    """A verifier that takes the eldest child unseen."""
    if children:
        return children[0].token, True
    return chance.choose(p), False


def residual_from_p(p, children, chance):
    """Recursive rejection that forgets to subtract the claim."""
    for child in children:
        x, claim = child.token, child.claim
        if claim[x] > 0 and chance.flip(p[x] / claim[x]):
            return x, True
    return chance.choose(p), False


def bonus_from_first(p, children, chance):
    """Greedy at leaves: the bonus token is the best one instead of a draw."""
    if not children:
        return max(range(len(p)), key=lambda y: p[y]), False
    y = chance.choose(p)
    return y, any(child.token == y for child in children)
