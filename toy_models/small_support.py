"""More slots than the drafter has tokens: claiming a fresh draw is false once tokens are put back.

q = (2/3, 1/3, 0, 0) and K = 4: an honest node has two children and leaves two slots empty. A builder that insists on
four has to put tokens back. When token 0 was drawn and rejected, r = (0, 4, 6, 3)/13; a fresh second draw would be
token 1 for certain, and claimed so, but with replacement it is token 0 again in two cases of three. The claim (0, 1,
0, 0) is then subtracted for a token that was not drawn, and token 1 comes out with 1/3 + 1/18 instead of 1/2.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((2, 1, 0, 0))}, target={(): normalise((1, 4, 2, 1))})
shape = Shape(leads=2, branching=4, depth=1, nodes=4)
