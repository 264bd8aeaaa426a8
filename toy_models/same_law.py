"""Hides every fault of the accept test and the residual: with p = q a draw is always accepted.

In a chain of drawn tokens the ratio p/q is 1 and the residual is never needed, so a verifier that accepts
everything, one that inverts the ratio and one that redraws from p after a rejection all have a total variation of 0
here. A model drafting for itself is a popular smoke test; this is why it proves nothing about the verifier. What it
does not hide is a false claim: in a tree that is cut, `naive` is biased here too.
"""

from rheocheck.core import Pair, Shape, normalise

LAWS = {(): normalise((4, 3, 2, 1)), (0,): normalise((1, 2, 3, 4)), (1,): normalise((3, 1, 4, 2))}

pair = Pair(4, draft=LAWS, target=LAWS)
shape = Shape(leads=0, branching=1, depth=2, nodes=2)
