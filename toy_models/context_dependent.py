"""The first token is exact and only later ones are biased: a test of one token passes the fault.

At the start the drafter is flat, so lead and probe stand at 1/4 each whatever the probe drew, and both are kept.
After any token it prefers token 0, then 1, and `naive` has room for one second-layer probe: that of the lead when it
drew token 1, else that of the probe. The first token's total variation is 0; the block's is 0.0795 under `recursive`
and 0.095 under `rheo`, with its witness at context (0,).
"""

from rheocheck.core import Pair, Shape, normalise

FLAT = normalise((1, 1, 1, 1))
STEEP = normalise((5, 3, 1, 1))

pair = Pair(
    4,
    draft={(): FLAT} | {(x,): STEEP for x in range(4)},
    target={(): normalise((3, 2, 2, 1))} | {(x,): normalise((2, 5, 2, 1)) for x in range(4)},
)
shape = Shape(leads=1, branching=2, depth=2, nodes=5)
