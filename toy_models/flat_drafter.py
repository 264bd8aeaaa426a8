"""Hides survival bias, since every rank is a tie, and shows the tie broken by token id.

q = (1, 1, 1, 1)/4, so the probe's own q is 1/4 whatever it drew: the naive rank cannot see the token and `naive` is
exact. But lead, probe and fills all stand at 1/4, so the tie-break chooses the two nodes that are kept. By slot:
lead and probe. By token id: token 0, and of the others the smallest id, so the probe is kept only if it drew token 1
while its claim says 1/3; token 1 comes out with 1/3 * 1 + 2/3 * 7/10 = 4/5 instead of 7/10.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((1, 1, 1, 1))}, target={(): normalise((1, 7, 1, 1))})
shape = Shape(leads=1, branching=3, depth=1, nodes=2)
