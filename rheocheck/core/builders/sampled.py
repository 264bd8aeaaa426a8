"""K draws without replacement, ranked by slot and not by what was drawn.

The claim of a slot is q without its elder siblings, renormalised; slot i has the rank weight of the i-th best
token whatever it drew. Several probes of a node depend on each other, so this is a builder and not a rule, and
the `rheo` verifier, which trusts a single probe, refuses it.
"""

from functools import partial

from rheocheck.core.builders.order import ranked
from rheocheck.core.chance import Chance
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.ranking import Proposal, grow
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Tree


def sampled(pair: Pair, context: Context, chance: Chance, shape: Shape) -> Tree:
    """A tree whose every slot is drawn, elder siblings first and only as far as the tree needs; m plays no role."""

    def propose(at: Context) -> list[Proposal]:
        q = pair.q(at)
        left = list(q)
        drawn: list[tuple[int, Law]] = []

        def held(slot: int) -> tuple[int, Law]:
            while len(drawn) < slot:
                mass = sum(left)
                claim = tuple(x / mass for x in left)
                drawn.append((chance.choose(claim), claim))
                left[drawn[-1][0]] *= 0
            return drawn[slot - 1]

        best = ranked(q)[: shape.branching]
        return [Proposal(slot, q[x], partial(held, slot)) for slot, x in enumerate(best, start=1)]

    return grow(propose, context, shape)
