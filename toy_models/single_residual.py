"""Hides false claims of later siblings: every residual is one and the same single token.

p = (1, 2, 5, 2)/10 and q = (5, 2, 1, 2)/10: once the first sibling is rejected, r is one-hot on token 2 and stays
so whatever is subtracted from it. Drawing without replacement but claiming with it is exact here and biased on
unequal_residual, whose drafter is the same.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((5, 2, 1, 2))}, target={(): normalise((1, 2, 5, 2))})
shape = Shape(leads=0, branching=2, depth=1, nodes=2)
