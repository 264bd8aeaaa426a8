"""A rule: what one node of a dynamic tree proposes, as data.

    rule(q, K, m) -> [slot 1, slot 2, ...]        q: the drafter's law at the node (V entries)

`top_k`, `rheo` and `naive` differ in their rule and in nothing else; the ranking loop is shared. A rule never
draws: it says which law a slot's token *will* be drawn from, so the exact engine can keep the token unrevealed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Law

Rule = Callable[[Law, int, int], Sequence["Slot"]]


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One slot of a node. What it holds is given by exactly one of the first three:

    token    a fixed token
    law      the law its token is drawn from: the node's probe Y; at most one slot of a node has it
    given    {y: token}: the token this slot holds when the probe drew y (a fill); without a y, no node

    and what it is worth and says by the others:

    weight   rank weight in [0, 1]: score(child) = score(parent) * weight. A number, or {token: number} when the
             rank looks at the token - which is what makes a ranked sample dishonest
    claim    the law the verifier is told; None for one-hot on the token held
    tie      decides between equal scores of a layer before the parent's rank and the slot do. Leave it 0: a number
             per token ({token: number}) is the token-id tie, a bug that biases the output
    """

    token: int | None = None
    law: Law | None = None
    given: Mapping[int, int] | None = None
    weight: Any
    claim: Law | None = None
    tie: Any = 0

    def weight_of(self, token: int) -> Any:
        return self.weight[token] if isinstance(self.weight, Mapping) else self.weight

    def tie_of(self, token: int) -> Any:
        return self.tie[token] if isinstance(self.tie, Mapping) else self.tie


def check_slots(slots: Sequence[Slot], q: Law) -> Sequence[Slot]:
    """`slots`, or InputError when a rule returned what no ranking loop can honour."""
    V = len(q)
    strangers = [slot for slot in slots if not isinstance(slot, Slot)]
    if strangers:
        raise InputError(f"every slot of a rule must be a Slot, got {strangers[0]!r}")
    probes = [slot for slot in slots if slot.law is not None]
    if len(probes) > 1:
        raise InputError(
            f"a rule may draw one slot of a node, got {len(probes)}; "
            "write it as a builder(pair, context, chance, shape)"
        )
    for number, slot in enumerate(slots, start=1):
        if sum(held is not None for held in (slot.token, slot.law, slot.given)) != 1:
            raise InputError(f"slot {number} must have exactly one of token, law, given, got {slot!r}")
        if slot.law is not None and (len(slot.law) != V or min(slot.law) < 0 or sum(slot.law) != 1):
            raise InputError(f"slot {number}: law must hold {V} probabilities that sum to 1, got {slot.law!r}")
        if slot.claim is not None and len(slot.claim) != V:
            raise InputError(f"slot {number}: claim must have {V} entries, got {len(slot.claim)}")
        if slot.given is not None and not probes:
            raise InputError(f"slot {number} depends on the probe (given=), but no slot of the node has a law")
        for token in tokens_of(slot):
            if not 0 <= token < V:
                raise InputError(f"slot {number} must hold tokens 0..{V - 1}, got {token!r}")
            try:
                weight = slot.weight_of(token)
                slot.tie_of(token)
            except KeyError:
                raise InputError(f"slot {number} has no rank weight or tie for token {token}") from None
            if isinstance(weight, float):
                raise InputError(f"a rank weight must be exact, got the float {weight!r}; try Fraction({weight!r})")
            if not 0 <= weight <= 1:
                raise InputError(
                    f"a rank weight must lie in [0, 1], got {weight} for token {token} in slot {number}; "
                    "a child may not outrank its parent"
                )
    return slots


def tokens_of(slot: Slot) -> list[int]:
    """The tokens the slot may hold, ascending."""
    if slot.token is not None:
        return [slot.token]
    if slot.law is not None:
        return [y for y, mass in enumerate(slot.law) if mass > 0]
    assert slot.given is not None  # check_slots: one of the three is set
    return sorted(set(slot.given.values()))
