"""RheoSampling (arXiv 2609.21827): one drawn token per node, ranked by a number that does not look at it.

    slots 1..m     leads x1..xm                    rank weight q(xi)            claim one-hot
    slot  m+1      probe Y ~ q~ = q/z on the tail  rank weight min{q(xm), z}    claim q~
                   z = sum of q over the tail      (m = 0: q(x1), slot 1)
    slots m+2..K   the best tail tokens but Y      rank weight q(x)             claim one-hot

Whatever ranks above the probe is independent of what it drew, and so is its survival: the claim q~ stays honest
when the tree is cut. Worked at q = (1/2, 1/4, 1/4), m = 1, K = 3: lead 0 at 1/2; z = 1/2, so the probe is token 1
or 2 with q~ = 1/2 each at weight min{1/2, 1/2} = 1/2 - a tie with the lead by construction, which the slot
decides; the fill is the other one at 1/4.
"""

from typing import Any

from rheocheck.core.builders.order import ranked
from rheocheck.core.builders.top_k import top_k
from rheocheck.core.pair import Law
from rheocheck.core.rule import Slot


def rheo(q: Law, K: int, m: int) -> list[Slot]:
    """The slots of one RheoSampling node; plain top-K when there is no room or no tail for a probe."""
    order = ranked(q)
    if K <= m or len(order) <= m:
        return top_k(q, K, m)
    z = sum(q[x] for x in order[m:])  # summed: 1 - sum(leads) can round below the best tail token
    weight = min(q[order[m - 1]], z) if m else q[order[0]]
    return probe_slots(q, order, K, m, z, weight)


def probe_slots(q: Law, order: list[int], K: int, m: int, z: Any, weight: Any) -> list[Slot]:
    """Leads, probe and fills; `weight` is the probe's rank weight, the only thing `naive` does differently."""
    leads, tail = order[:m], order[m:]
    law = tuple(q[x] / z if x in tail else q[x] * 0 for x in range(len(q)))
    slots = [Slot(token=x, weight=q[x]) for x in leads]
    slots.append(Slot(law=law, weight=weight, claim=law))
    for i in range(K - m - 1):  # the i-th best tail token other than Y: tail[i], or tail[i+1] once Y is passed
        given = {y: tail[i + (place <= i)] for place, y in enumerate(tail) if i + (place <= i) < len(tail)}
        if given:
            slots.append(Slot(given=given, weight={x: q[x] for x in given.values()}))
    return slots
