"""What a rule proposes at a context, checked once per drafter row."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rheocheck.core.decoder import Builder
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.core.pair import Context, Law, Pair, spaced
from rheocheck.core.rule import Slot, check_slots
from rheocheck.core.shape import Shape
from rheocheck.exact.guests import asked, forget, impure, trusted
from rheocheck.exact.numbers import Number, as_fractions


def calling(what: str, function: Any, context: Context, *arguments: Any, guest: Any = None, again: bool = False) -> Any:
    """function(*arguments), with whatever it raises turned into one clear line that names the context.

    `guest` is the user's code that it calls, where that is not `function` itself; it is watched. `again`: the same
    was asked before.
    """
    guest = function if guest is None else guest
    where = place(what, guest, context)
    try:
        return asked(guest, function, *arguments, again=again)
    except RheocheckError as error:
        raise InputError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:  # the user's code: report it with its place instead of a traceback
        raise InputError(f"{where} raised {type(error).__name__}: {error}") from error


def place(what: str, guest: Any, context: Context) -> str:
    """What errors call a guest and where it was asked."""
    return f"{what} {name_of(guest)!r} at context {spaced(context)!r}"


def name_of(function: Any) -> str:
    """What errors call a builder or a verifier."""
    return getattr(function, "__name__", type(function).__name__)


class RuleSlots:
    """The slots of every node of one rule, shape and pair.

    The rule is the user's code: it is given Fractions whatever the engine counts in, and what it returns is converted.
    """

    def __init__(self, pair: Pair, rule: Builder, shape: Shape) -> None:
        self.pair, self.rule, self.shape = pair, rule, shape
        self._of_row: dict[int, list[Slot]] = {}
        self._proposals: list[tuple[Context, list[Slot]]] = []  # of a rule that is asked again

    def at(self, context: Context) -> list[Slot]:
        """The slots at a context; InputError, naming it, when the rule raises or breaks the contract."""
        q = self.pair.q(context)
        if id(q) not in self._of_row:  # rows live as long as the pair does
            slots = self._asked(context)
            if not trusted(self.rule):
                self._proposals.append((context, slots))
            self._of_row[id(q)] = [_converted(slot, type(q[0])) for slot in slots]
        return self._of_row[id(q)]

    def ask_again(self) -> None:
        """Ask a user's rule everything once more, the last first. InputError where it proposes something else."""
        forget(self.rule)
        for context, slots in reversed(self._proposals):
            if self._asked(context, again=True) != slots:
                raise impure(place("builder", self.rule, context), "two proposals for the same law", self.rule)
        self._proposals.clear()

    def _asked(self, context: Context, again: bool = False) -> list[Slot]:
        q = as_fractions(self.pair.q(context))
        slots: list[Slot] = calling("builder", self._proposed, context, q, guest=self.rule, again=again)
        return slots

    def _proposed(self, q: Law) -> list[Slot]:
        return list(check_slots(self.rule(q, self.shape.branching, self.shape.leads), q))


def _converted(slot: Slot, number: Number) -> Slot:
    def law(values: Law | None) -> Law | None:
        return None if values is None else tuple(number(x) for x in values)

    weight = slot.weight
    weight = {x: number(w) for x, w in weight.items()} if isinstance(weight, Mapping) else number(weight)
    return replace(slot, law=law(slot.law), claim=law(slot.claim), weight=weight)
