"""How many raw assignments an enumeration by hand would face: every probe of every node, drawn every way."""

from rheocheck.core.pair import Context, Pair
from rheocheck.core.ranking import held_token
from rheocheck.core.rule import tokens_of
from rheocheck.core.shape import Shape
from rheocheck.exact.slots import RuleSlots


def raw_assignments(pair: Pair, slots: RuleSlots, context: Context, shape: Shape) -> tuple[int, bool]:
    """(outcomes of drawing every probe of every node that the layer-wise builder expands, whether it is exact).

    Where tails or numbers of slots differ between contexts it is an upper bound: the largest tail and the most
    slots everywhere.
    """
    if not shape.nodes:
        return 1, True
    tails: set[int] = set()
    widths: set[int] = set()
    seen = {pair.state(context)}
    layer = [context]
    for _ in range(shape.depth):
        below = []
        for at in layer:
            here = slots.at(at)
            tails.add(max((len(tokens_of(slot)) for slot in here if slot.law is not None), default=1))
            law = next((slot.law for slot in here if slot.law is not None), None)
            for y in [y for y, mass in enumerate(law) if mass] if law is not None else [None]:
                widths.add(sum(held_token(slot, y) is not None for slot in here))
            for token in {token for slot in here for token in tokens_of(slot)}:
                state = pair.state((*at, token))
                if state not in seen:
                    seen.add(state)
                    below.append((*at, token))
        layer = below
    expanded, frontier = 1, 1
    for _ in range(1, shape.depth):
        frontier = min(shape.width, frontier * max(widths))
        expanded += frontier
    return max(tails) ** expanded, len(tails) == len(widths) == 1
