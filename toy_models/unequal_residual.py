"""The residual keeps two tokens of unequal q: claiming as if siblings were put back is false.

p = (1, 4, 3, 2)/10 and q = (5, 2, 1, 2)/10: after token 0 is rejected, r = (0, 1, 1, 0)/2. The second sibling is
drawn from (0, 2, 1, 2)/5, q without token 0. If it drew 3 and is rejected, what is left is (0, 1, 3, 0)/4; claiming
q itself leaves (0, 3, 4, 0)/7. Its twin is single_residual, where the same mistake cannot be seen. The pair has
every sign: p < q at 0, p > q at 1 and 2, p = q at 3.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((5, 2, 1, 2))}, target={(): normalise((1, 4, 3, 2))})
shape = Shape(leads=0, branching=2, depth=1, nodes=2)
