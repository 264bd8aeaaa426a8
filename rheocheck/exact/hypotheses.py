"""The hypotheses of the losslessness theorem, as checks on a builder.

`proofs/statements.v`, Theorem blind_ranking_is_lossless, needs five things of a builder, and nothing else. Each is a
check here under its name, and each has a fault in tests/exact/test_hypotheses.py that breaks it alone and is biased:

    weight_blind   the rank weight of a slot does not look at the token drawn in it, nor a slot at a later one's draw
    tie_blind      nor does what decides between equal scores
    steep          whatever was drawn, weights do not increase along the slots, and a node's tokens are distinct
    law_sampled    the claim the verifier divides by is the law the token was drawn from; one-hot if it was not drawn
    fresh_draws    draws are independent of each other

For a rule the first four are read off its slots, and draws are fresh because the ranking loop makes them. A callable
builder hides its ranks; the fifth check is what can be asked of it: every claim is true given what was drawn before.
That weights lie in [0, 1] is checked wherever a rule is run.
"""

from collections.abc import Iterator

from rheocheck.core.decoder import Builder, is_rule
from rheocheck.core.pair import Context, Pair, one_hot, spaced
from rheocheck.core.ranking import held_token
from rheocheck.core.rule import Slot, tokens_of
from rheocheck.core.shape import Shape
from rheocheck.exact.claims import audit_claims
from rheocheck.exact.enumeration import forest_of
from rheocheck.exact.slots import RuleSlots


def hypotheses(pair: Pair, builder: Builder, shape: Shape, context: Context = ()) -> dict[str, str | None]:
    """{hypothesis: where it fails first, or None}, at every context that a tree from `context` can reach."""
    if not is_rule(builder):
        audit = audit_claims(forest_of(pair, builder, context, shape), pair.vocab_size)
        assert audit is not None  # no budget was set
        paths = [tuple(step[-1] for step in path) for path, *_ in audit.false]
        shortest = min(paths, key=lambda path: (len(path), path), default=None)
        return {"fresh_draws": None if shortest is None else f"a claim is false below path {shortest}"}
    found: dict[str, str | None] = dict.fromkeys(("weight_blind", "tie_blind", "steep", "law_sampled", "fresh_draws"))
    for at, slots in _nodes(pair, builder, shape, context):
        for name, check in (
            ("weight_blind", _weight_blind),
            ("tie_blind", _tie_blind),
            ("steep", _steep),
            ("law_sampled", _law_sampled),
        ):
            reason = check(slots) if found[name] is None else None
            if reason is not None:
                found[name] = f"at context {spaced(at)!r}: {reason}"
    return found


def _nodes(pair: Pair, builder: Builder, shape: Shape, context: Context) -> Iterator[tuple[Context, list[Slot]]]:
    """Every context a tree can have a node at, one per state of the pair and layer, with the slots there."""
    rule_at = RuleSlots(pair, builder, shape)
    layer = {pair.state(context): context}
    for _ in range(shape.depth):
        below: dict[int, Context] = {}
        for at in layer.values():
            slots = rule_at.at(at)
            yield at, slots
            for token in sorted({token for slot in slots for token in tokens_of(slot)}):
                below.setdefault(pair.state((*at, token)), (*at, token))
        layer = below
    rule_at.ask_again()


def _weight_blind(slots: list[Slot]) -> str | None:
    probe = next((number for number, slot in enumerate(slots, start=1) if slot.law is not None), None)
    for number, slot in enumerate(slots, start=1):
        if slot.law is not None and len({slot.weight_of(y) for y in tokens_of(slot)}) > 1:
            return f"the rank weight of slot {number} depends on the token drawn in it"
        if slot.given is not None and probe is not None and number < probe:
            return f"slot {number} depends on the token drawn in slot {probe}, behind it"
    return None


def _tie_blind(slots: list[Slot]) -> str | None:
    ties = {slot.tie_of(token) for slot in slots for token in tokens_of(slot)}
    return None if len(ties) < 2 else f"ties are decided by {len(ties)} numbers"


def _steep(slots: list[Slot]) -> str | None:
    for y in next((tokens_of(slot) for slot in slots if slot.law is not None), [None]):
        held = [(number, held_token(slot, y), slot) for number, slot in enumerate(slots, start=1)]
        chain = [(number, token, slot.weight_of(token)) for number, token, slot in held if token is not None]
        for (_, _, elder), (number, _, weight) in zip(chain, chain[1:], strict=False):
            if weight > elder:
                return f"slot {number} weighs {weight}, more than the slot before it ({elder})"
        if len({token for _, token, _ in chain}) < len(chain):
            return "two slots hold the same token"
    return None


def _law_sampled(slots: list[Slot]) -> str | None:
    V = next((len(law) for slot in slots for law in (slot.law, slot.claim) if law is not None), 0)
    for number, slot in enumerate(slots, start=1):
        claim = slot.claim
        if slot.law is not None and len(tokens_of(slot)) > 1 and claim != slot.law:
            return f"the claim of slot {number} is not the law it is drawn from"
        if slot.law is None and claim is not None and any(claim != one_hot(V, token) for token in tokens_of(slot)):
            return f"slot {number} is not drawn, and its claim is not one-hot"
    return None
