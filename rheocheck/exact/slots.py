"""What a rule proposes at a context, checked once per drafter row."""

from typing import Any

from rheocheck.core.decoder import Builder
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.rule import Slot, check_slots
from rheocheck.core.shape import Shape


def calling(what: str, function: Any, context: Context, *arguments: Any, name: str | None = None) -> Any:
    """function(*arguments), with whatever it raises turned into one clear line that names the context."""
    where = f"{what} {name or name_of(function)!r} at context {' '.join(map(str, context))!r}"
    try:
        return function(*arguments)
    except RheocheckError as error:
        raise InputError(f"{where}: {error}") from error
    except Exception as error:  # the user's code: report it with its place instead of a traceback
        raise InputError(f"{where} raised {type(error).__name__}: {error}") from error


def name_of(function: Any) -> str:
    """What errors call a builder or a verifier."""
    return getattr(function, "__name__", type(function).__name__)


class Slots:
    """The slots of every node of one rule, shape and pair."""

    def __init__(self, pair: Pair, rule: Builder, shape: Shape) -> None:
        self.pair, self.rule, self.shape = pair, rule, shape
        self._of_row: dict[int, list[Slot]] = {}

    def at(self, context: Context) -> list[Slot]:
        """The slots at a context; InputError, naming it, when the rule raises or breaks the contract."""
        q = self.pair.q(context)
        if id(q) not in self._of_row:  # rows live as long as the pair does
            self._of_row[id(q)] = calling("builder", self._proposed, context, q, name=name_of(self.rule))
        return self._of_row[id(q)]

    def _proposed(self, q: Law) -> list[Slot]:
        return list(check_slots(self.rule(q, self.shape.branching, self.shape.leads), q))
