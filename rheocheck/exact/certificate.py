"""The certificate: "lossless" or "cannot say" from local checks, at any depth, budget and frontier.

At every context a cycle can pass through, with the children of the node in the order of their rank weights, one of
two things must hold:

    blind        whatever prefix of the children is kept, the emitted token has law p: the tree may then depend on
                 anything but the verifier's own draws (this is `matching`)
    predictable  (1) the probe's rank is one number, and everything that depends on its token ranks behind it;
                 (2) every prefix before the probe gives p; (3) with the probe, p on average over its law;
                 (4) each further child leaves the law given the probe's token unchanged

Then no node is asked about its token before it is in, every node added is a fair step, and the block has exactly
the target's law. The step from these checks to losslessness is rank invariance and the path argument.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rheocheck.core.decoder import Builder, Verifier, is_rule
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Law, Pair, spaced
from rheocheck.core.ranking import held_token
from rheocheck.core.rule import Slot, tokens_of
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node
from rheocheck.exact.node_law import NodeLaws
from rheocheck.exact.numbers import one_hots
from rheocheck.exact.slots import RuleSlots

ASSUMES = (
    "trees are ranked by (-score, layer, parent's rank, slot), as rheocheck.core.ranking does",
    "probes of different nodes are drawn independently of each other and of the verifier's draws",
)


@dataclass(frozen=True)
class Certificate:
    """lossless is proved when `reason` is None; otherwise the reason says where the checks failed first."""

    contexts: int
    reason: str | None = None

    @property
    def lossless(self) -> bool:
        return self.reason is None


def certify(
    pair: Pair,
    builder: Builder,
    verifier: Verifier,
    shape: Shape,
    context: Context = (),
    tokens: int | None = None,
) -> Certificate:
    """Check every context that a cycle from `context` can pass through, one per state of the pair.

    With `tokens` = L, every context that cycles can pass through until L tokens are emitted.
    """
    if not is_rule(builder):
        return Certificate(0, "only a rule can be certified: a callable builder hides what its ranks look at")
    slots, laws = RuleSlots(pair, builder, shape), NodeLaws(verifier)
    seen = {pair.state(context)}
    layer = [context]
    depth = shape.depth if shape.nodes else 0
    steps = depth if tokens is None else max(depth, tokens - 1 + depth)
    for below in range(steps, -1, -1):
        children: list[Context] = []
        for at in layer:
            here = slots.at(at) if depth and (below or tokens is not None) else []
            reason = _local(laws, pair.p(at), here, at)
            if reason is not None:
                return Certificate(len(seen), f"at context {spaced(at)!r}: {reason}")
            following = {token for slot in here for token in tokens_of(slot)}
            if tokens is not None:  # a later cycle may start behind any token the target can emit
                following |= {y for y, mass in enumerate(pair.p(at)) if mass}
            for token in sorted(following):
                state = pair.state((*at, token))
                if state not in seen:
                    seen.add(state)
                    children.append((*at, token))
        layer = children
    slots.ask_again()
    laws.ask_again()
    return Certificate(len(seen))


def _local(laws: NodeLaws, p: Law, slots: list[Slot], context: Context) -> str | None:
    """Why the node at `context` is neither blind nor predictable, or None."""
    if any(slot.weight_of(x) == 0 for slot in slots for x in tokens_of(slot)):
        return "a rank weight is 0: below it all scores are equal, and the order of weights says nothing"
    try:
        return _checked(laws, p, slots, context)
    except InputError as error:
        return f"the verifier refuses a family that may never be kept ({error})"


def _checked(laws: NodeLaws, p: Law, slots: list[Slot], context: Context) -> str | None:
    law = next((slot.law for slot in slots if slot.law is not None), None)
    drawn = [y for y, mass in enumerate(law) if mass > 0] if law is not None else [None]
    orders = {y: _order(slots, y) for y in drawn}

    def prefixes(y: int | None, start: int, stop: int) -> Iterator[list[Any]]:
        for count in range(start, stop):
            yield _emitted(laws, p, orders[y][:count], context)

    blind = next((y for y in drawn for law_ in prefixes(y, 0, len(orders[y]) + 1) if law_ != list(p)), -1)
    if blind == -1:
        return None
    if law is None:
        return "the kept children of a node without a probe do not give p"
    probe = next(number for number, slot in enumerate(slots, start=1) if slot.law is not None)
    places = {y: [number for number, *_ in order].index(probe) for y, order in orders.items()}
    fronts = {tuple(order[: places[y]]) for y, order in orders.items()}
    ranks = {(slots[probe - 1].weight_of(y), slots[probe - 1].tie_of(y)) for y in drawn if y is not None}
    if len(ranks) > 1 or len(fronts) > 1 or any(slots[n - 1].given for n, *_ in next(iter(fronts))):
        return "the rank of the probe, or of what stands before it, depends on the probe's token"
    first = drawn[0]
    if any(law_ != list(p) for law_ in prefixes(first, 0, places[first] + 1)):
        return "the children ranked before the probe do not give p"
    average = [p[0] * 0] * len(p)
    for y in drawn:
        given = _emitted(laws, p, orders[y][: places[y] + 1], context)
        if any(law_ != given for law_ in prefixes(y, places[y] + 2, len(orders[y]) + 1)):
            return f"a child ranked behind the probe changes the law given the probe's token {y}"
        average = [total + law[y] * x for total, x in zip(average, given, strict=True)]  # type: ignore[index]
    return None if average == list(p) else "the probe does not give p on average over the law it is drawn from"


def _order(slots: list[Slot], y: int | None) -> list[tuple[int, int, Law | None]]:
    """The children when the probe drew y, best rank first: (slot, token, claim)."""
    ranked = []
    for number, slot in enumerate(slots, start=1):
        token = held_token(slot, y)
        if token is not None:
            key = (-slot.weight_of(token), slot.tie_of(token), number)
            ranked.append((key, (number, token, slot.claim)))
    return [child for _, child in sorted(ranked, key=lambda item: item[0])]


def _emitted(laws: NodeLaws, p: Law, children: list[tuple[int, int, Law | None]], context: Context) -> list[Any]:
    hot = one_hots(len(p), type(p[0]))
    nodes = tuple(
        Node(token, number, hot[token] if claim is None else claim)
        for number, token, claim in sorted(children, key=lambda child: child[0])
    )
    return laws.at(p, nodes, context).emitted(len(p))
