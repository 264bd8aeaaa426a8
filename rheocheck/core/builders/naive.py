"""The naive ranked sample, the negative control: RheoSampling's slots, but the probe is ranked by its own q.

A probe that drew a likely token survives the cut more often than one that drew an unlikely token, yet the claim
still says q~: survival bias. It is not lossless under any verifier that trusts the claim, and it is under
`matching`, which does not.
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
