"""Matching: the target draws, and the walk descends when the draw is in the tree.

Lossless for any tree that is independent of the draw, whatever its claims say; slower than it need be, since it
throws the drafter's probabilities away.
"""

from rheocheck.core.chance import Chance
from rheocheck.core.pair import Law
from rheocheck.core.tree import Node


def matching(p: Law, children: tuple[Node, ...], chance: Chance) -> tuple[int, bool]:
    """Draw y ~ p; descend if y is a kept child."""
    y = chance.choose(p)
    return y, any(child.token == y for child in children)
