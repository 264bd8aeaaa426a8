"""The naive ranked sample, the negative control: RheoSampling's slots, but the probe is ranked by its own q.

A probe that drew a likely token survives the cut more often than one that drew an unlikely token, yet the claim
still says q~: survival bias. It is not lossless under any verifier that trusts the claim, and it is under
`matching`, which does not. The smallest example has two tokens and keeps one node:

>>> from rheocheck.core import Decoder, Pair, Shape, naive, outcomes, recursive
>>> pair = Pair(2, draft={(): ["2/3", "1/3"]}, target={(): ["1/3", "2/3"]})
>>> decoder = Decoder(pair, naive, recursive, Shape(leads=0, branching=2, depth=1, nodes=1))
>>> str(sum(chance for chance, block, _ in outcomes(lambda coins: decoder.cycle((), coins)) if block[0] == 0))
'4/9'

The target says 1/3. The probe draws 0 two times in three, ranks 2/3 and is kept: accepted with probability
(1/3) / (2/3). One time in three it draws 1, ranks 1/3 and loses its place to the fill 0, which is accepted with
probability p(0) = 1/3. So token 0 comes with probability 2/3 * 1/2 + 1/3 * 1/3 = 4/9: the verifier divides by
q(0) = 2/3, but a kept probe holds 0 for certain. With `rheo` the probe ranks 2/3 whatever it drew, is always kept, and
token 0 comes with probability 2/3 * 1/2 = 1/3.
"""

from rheocheck.core.builders.order import ranked
from rheocheck.core.builders.rheo import probe_slots
from rheocheck.core.builders.top_k import top_k
from rheocheck.core.pair import Law
from rheocheck.core.rule import Slot


def naive(q: Law, K: int, m: int) -> list[Slot]:
    """The slots of one naive node: rank weight q(Y) for the probe."""
    order = ranked(q)
    if K <= m or len(order) <= m:
        return top_k(q, K, m)
    tail = order[m:]
    return probe_slots(q, order, K, m, sum(q[x] for x in tail), {y: q[y] for y in tail})
