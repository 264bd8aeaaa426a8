"""The first cycle is exact and the next is not: stale claims pass every test of one cycle.

At the start and after a token the drafter has opposite tastes. A builder that draws from the law of its context but
claims the law of the start - a cache that was never moved on - tells the truth as long as the context is empty. One
cycle has a total variation of 0, the joint law of two tokens over several cycles 0.065, of three 0.28.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(
    4,
    draft={(): normalise((4, 3, 2, 1))} | {(x,): normalise((1, 2, 3, 4)) for x in range(4)},
    target={(): normalise((1, 1, 1, 1))} | {(x,): normalise((3, 3, 2, 2)) for x in range(4)},
)
shape = Shape(leads=0, branching=1, depth=1, nodes=1)
