"""How often a cycle goes on down its trees, and how often any lossless verifier of the same trees could."""

from typing import Any

from rheocheck.core.pair import Context, Pair
from rheocheck.exact.budget import Budget
from rheocheck.exact.emission import Emission
from rheocheck.exact.numbers import as_fraction
from rheocheck.exact.transport import optimal_acceptance
from rheocheck.exact.verification import Acceptance


def acceptance(emission: Emission) -> Acceptance:
    """What the verifier reached, at the root and per node visited."""
    length = emission.expected_length
    return Acceptance(
        as_fraction(emission.accepts.get(emission.start, 0)), as_fraction(sum(emission.accepts.values()) / length)
    )


def best_acceptance(pair: Pair, emission: Emission, budget: Budget) -> Acceptance | None:
    """Compute the optimum at the nodes that the walk comes to, as often as it comes there; None when time is up.

    Nodes in one state that keep the same sets equally often, up to a common factor, have one optimum up to it.
    """
    best: dict[Context, Any] = {}
    known: dict[tuple[int, frozenset[tuple[frozenset[int], Any]]], Any] = {}
    for context, kept in emission.kept.items():
        if budget.late():
            return None
        total = sum(kept.values())
        shares = {tokens: mass / total for tokens, mass in kept.items()}
        key = (pair.state(context), frozenset(shares.items()))
        if key not in known:
            known[key] = optimal_acceptance(pair.p(context), shares)
        best[context] = total * known[key]
    return Acceptance(as_fraction(best[emission.start]), as_fraction(sum(best.values()) / emission.expected_length))
