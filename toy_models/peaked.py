"""Hides survival bias: a drafter this sure fills a small tree with leads, and no probe is kept.

q = (90, 6, 3, 1)/100. Three leads in a row score 0.9, 0.81, 0.729 and fill a tree of three nodes; a naive probe
scores 0.06 at best. `naive` is exact here and has no false claim, for want of a probe. With one node more a probe
gets in when it drew token 1, and only then: at N = 4 the same decoder is off by 0.06 under `recursive` and 0.09
under `rheo`. A nearly greedy benchmark looks like this pair.
"""

from rheocheck.core import Pair, Shape, normalise

pair = Pair(4, draft={(): normalise((90, 6, 3, 1))}, target={(): normalise((70, 15, 9, 6))})
shape = Shape(leads=1, branching=3, depth=3, nodes=3)
