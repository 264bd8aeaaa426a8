"""Scores tie all over the tree, so preferring the likelier draw at a tie is survival bias again.

With powers of two for q, lead ties probe and cousin ties cousin. The root keeps its lead and its probe (1/2 each);
both have a lead and a probe at 1/4, and three of these four are kept. By rank of the parent and slot: always the
same three. "Equal scores, so keep the likelier token" sounds harmless and reads the draw: both leads, and the probe
that drew token 1 rather than 2 or 3. `naive` happens to be exact here, the tie rule is off by 1/8 under `rheo`.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((4, 2, 1, 1))}, target={(): normalise((1, 4, 2, 1))})
shape = Shape(leads=1, branching=2, depth=2, nodes=5)
