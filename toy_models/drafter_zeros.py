"""A token the drafter never proposes is lost when the residual is cut to the drafter's support.

q(3) = 0 and p(3) = 1/4. In a chain of drawn tokens the residual of p = (1, 3, 2, 2)/8 and q = (4, 2, 2, 0)/8 is
(0, 1, 0, 2)/3: two thirds of every rejection must give token 3. Cut to the tokens with q > 0 it always gives token 1,
token 3 never appears, and the first token is off by exactly the missing 1/4. "Never appears" needs no statistics.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((4, 2, 2, 0))}, target={(): normalise((1, 3, 2, 2))})
shape = Shape(leads=0, branching=1, depth=2, nodes=2)
