"""RheoVerification, reconstructed: transport for the probe, matching for everything else.

    the probe Y survived:  accept it with probability min(1, p(Y) / q~(Y)), else draw y ~ norm((p - q~)+)
    it did not:            draw y ~ p
    descend if y is a kept child

Provenance: the paper's text (arXiv 2609.21827) was not available to us; this is the transport view of its
RheoVerification, rebuilt from public descriptions. Without fills it attains the optimal-transport acceptance
p(leads) + sum over the tail of min(p, q~). It needs an honest claim for the probe and nothing else.
"""

from rheocheck.core.chance import Chance
from rheocheck.core.pair import Law
from rheocheck.core.tree import Node, drawn
from rheocheck.core.verifiers.residual import residual


def rheo(p: Law, children: tuple[Node, ...], chance: Chance) -> tuple[int, bool]:
    """One coupled draw y from p, and whether it is a kept child."""
    probe = drawn(children)
    if probe is None:
        y = chance.choose(p)
    else:
        x, claim = probe.token, probe.claim
        if claim[x] > 0 and chance.flip(p[x] / claim[x]):  # claim(x) = 0: a false claim, acceptance 0
            y = x
        else:
            y = chance.choose(residual(p, claim, p, chance))
    return y, any(child.token == y for child in children)
