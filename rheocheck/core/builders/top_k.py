"""Top-K: the K best tokens of a node, none of them drawn (EAGLE-2).

Every claim is one-hot, so any verifier that is exact for honest claims keeps it lossless; but the drafter's
probabilities are lost to it, and as the temperature rises its acceptance falls: one-hot collapse.
"""

from rheocheck.core.builders.order import ranked
from rheocheck.core.pair import Law
from rheocheck.core.rule import Slot


def top_k(q: Law, K: int, m: int) -> list[Slot]:
    """K slots by q, each ranked by its own q; m plays no role."""
    return [Slot(token=x, weight=q[x]) for x in ranked(q)[:K]]
