"""Accepting everything is biased by exactly 1/1000000: far too little to sample, and not zero.

p is q with 1/1000000 moved from token 0 to token 3. Sampling would need about 10**12 tokens to notice what the exact
law states as a Fraction; "no bias found down to 0.02" is the honest verdict of a sampled audit, "lossless" is not.
The honest verifier has exactly 0 here, not 1e-17.
"""

from fractions import Fraction

from rheocheck.core import Pair, Shape, normalise

MOVED = Fraction(1, 1_000_000)
Q = normalise((4, 3, 2, 1))

pair = Pair(4, draft={(): Q}, target={(): (Q[0] - MOVED, Q[1], Q[2], Q[3] + MOVED)})
shape = Shape(leads=0, branching=1, depth=1, nodes=1)
