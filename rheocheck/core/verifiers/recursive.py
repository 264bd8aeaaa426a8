"""Recursive rejection over the children of a node, elder first (SpecInfer; EAGLE for one-hot claims).

    r = p;  for each child x in slot order: accept with probability min(1, r(x) / claim(x)),
                                            else r <- norm((r - claim)+)
    nothing accepted: emit y ~ r, and the block ends, even if y equals a kept child

Exact when every claim is honest given the elder siblings.
"""

from rheocheck.core.chance import Chance
from rheocheck.core.pair import Law
from rheocheck.core.tree import Node
from rheocheck.core.verifiers.residual import residual


def recursive(p: Law, children: tuple[Node, ...], chance: Chance) -> tuple[int, bool]:
    """The first accepted child and True, or a draw from what is left of p and False."""
    r = p
    for child in children:
        x, claim = child.token, child.claim
        if claim[x] > 0 and chance.flip(r[x] / claim[x]):  # claim(x) = 0: a false claim, acceptance 0
            return x, True
        r = residual(r, claim, p, chance)
    return chance.choose(r), False
