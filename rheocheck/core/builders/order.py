"""The order in which a drafter's tokens stand, shared by all rules."""

from rheocheck.core.pair import Law


def ranked(q: Law) -> list[int]:
    """x1, x2, ...: the tokens a drafter may propose, by (-q, token id); tokens with q = 0 are never proposed."""
    return sorted((x for x in range(len(q)) if q[x] > 0), key=lambda x: (-q[x], x))
