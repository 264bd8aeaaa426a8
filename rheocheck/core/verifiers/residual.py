"""What is left of a law once a claim was rejected: norm((r - claim)+)."""

from typing import Any

from rheocheck.core.chance import Chance
from rheocheck.core.pair import Law


def residual(r: Law, claim: Law, p: Law, chance: Chance) -> Law:
    """norm((r - claim)+), or the node's target law p when nothing is left.

    Nothing can be left only after a token was rejected that honest claims never reject; that is a fallback, and
    it is noted for the report.
    """
    left = [max(a - c, a * 0) for a, c in zip(r, claim, strict=True)]
    mass: Any = sum(left)
    if mass == 0:
        chance.note("fallback")
        return p
    return tuple(x / mass for x in left)
