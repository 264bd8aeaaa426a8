"""A rule: what one node of a dynamic tree proposes, as data.

    rule(q, K, m) -> [slot 1, slot 2, ...]        q: the drafter's law at the node (V entries)

`top_k`, `rheo` and `naive` differ in their rule and in nothing else; the ranking loop is shared. A rule never
draws: it says which law a slot's token *will* be drawn from, so the exact engine can keep the token unrevealed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
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
    if not isinstance(slots, Sequence):
        raise InputError(f"a rule must return a list of Slots, got {type(slots).__name__}")
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
        for name, law in (("law", slot.law), ("claim", slot.claim)):
            if law is not None:
                check_law(f"slot {number}: {name}", law, V)
        if slot.given is not None and not all(type(y) is int and 0 <= y < V for y in slot.given):
            raise InputError(f"slot {number}: given must map probe tokens 0..{V - 1}, got {dict(slot.given)!r:.80}")
        if slot.given is not None and not probes:
            raise InputError(f"slot {number} depends on the probe (given=), but no slot of the node has a law")
        for token in tokens_of(slot):
            if type(token) is not int or not 0 <= token < V:
                raise InputError(f"slot {number} must hold tokens 0..{V - 1} (integers), got {token!r}")
            try:
                weight, tie = slot.weight_of(token), slot.tie_of(token)
            except KeyError:
                raise InputError(f"slot {number} has no rank weight or tie for token {token}; add one") from None
            for name, value in (("rank weight", weight), ("tie", tie)):
                if not is_exact(value):
                    raise InputError(
                        f"a {name} must be exact, an integer or a Fraction, got {value!r} in slot {number}"
                    )
            if not 0 <= weight <= 1:
                raise InputError(
                    f"a rank weight must lie in [0, 1], got {weight} for token {token} in slot {number}; "
                    "a child may not outrank its parent"
                )
    return slots


def is_exact(value: Any) -> bool:
    """Whether a value is an exact number: an integer, a Fraction, or a rational type that behaves like one."""
    return type(value) in (Fraction, int) or (isinstance(value, Rational) and not isinstance(value, bool))


def check_law(where: str, law: Any, vocab_size: int) -> None:
    """InputError unless `law` is `vocab_size` exact probabilities that sum to 1."""
    try:
        holds = len(law) == vocab_size and all(is_exact(x) and x >= 0 for x in law) and sum(law) == 1
    except TypeError:
        holds = False
    if not holds:
        raise InputError(
            f"{where} must be {vocab_size} exact probabilities that sum to 1, got {law!r:.80}; try normalise(weights)"
        )


def tokens_of(slot: Slot) -> list[int]:
    """The tokens the slot may hold, ascending."""
    if slot.token is not None:
        return [slot.token]
    if slot.law is not None:
        return [y for y, mass in enumerate(slot.law) if mass > 0]
    assert slot.given is not None  # check_slots: one of the three is set
    return sorted(set(slot.given.values()), key=lambda token: (str(type(token)), token))
