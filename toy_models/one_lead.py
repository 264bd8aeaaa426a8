"""One lead is best: none leaves the sure token to a draw, and two leave the probe too little room.

Neither law reads the context, and 8 of up to 20 nodes are kept. By hand: with one lead, lead and probe rank 8/17 each,
whatever the probe drew, so both are kept on both layers, 6 nodes of the 8, and the verifier `rheo` accepts
p(0) + sum over the tail of min(p, q~) = 173/180 at every node: all but what token 5 wants above its q~ = 1/9.
Expected block length of `top_k` is 1.990; of RheoSampling, and the probe's survival at visited nodes with children:

    leads m                   0       1       2       3
    rheo, recursive       2.422   2.591   2.353   2.207
    rheo, rheo            2.422   2.885   2.405   2.240
    survival, rheo            1       1   0.788   0.690

Acceptance orders top_k < recursive < rheo at m = 1 on both layers (0.750 < 0.888 < 0.961 and 0.320 < 0.793 < 0.961). As
the temperature rises, top_k's at the root falls from 1 to 4/6 and rheo's returns to 1.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(6, draft={(): normalise((8, 4, 2, 1, 1, 1))}, target={(): normalise((6, 3, 4, 2, 2, 3))})
shape = Shape(leads=1, branching=4, depth=2, nodes=8)
