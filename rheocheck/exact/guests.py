"""The guests of the exact engine: rules, builders and verifiers of the user, which must be functions of their chance.

    answer = asked(verifier, verifier, p, children, chance)

While a guest runs, no door of entropy may be used (doors), and what it can remember must stay as it was
(guest_state). The engine asks everything twice, the second time in another order. Ours are trusted.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from rheocheck.core.builders import BUILDERS
from rheocheck.core.chance import ReplayChance
from rheocheck.core.errors import InputError
from rheocheck.core.verifiers import VERIFIERS
from rheocheck.exact.doors import is_installed, is_library, no_door, refusal
from rheocheck.exact.guest_state import Memory

T = TypeVar("T")
OURS = (*BUILDERS.values(), *VERIFIERS.values())
TRIES = 20  # calls that look for the line at which a state changes; a rare branch may not be met again
MOST_MEMORIES = 64
_MEMORIES: dict[int, tuple[Any, Memory]] = {}


def trusted(guest: Any) -> bool:
    """Whether a guest is one of our own builders or verifiers."""
    return any(guest is own for own in OURS)


def asked(guest: Any, function: Callable[..., T], *arguments: Any, again: bool = False) -> T:
    """function(*arguments), which calls the guest. InputError when the guest lets chance in or keeps a state.

    again  whether the guest was asked the same before
    """
    if trusted(guest):
        return function(*arguments)
    memory = _memory(guest)
    if memory.iterator:
        raise refusal(f"an iterator that it keeps ({memory.iterator}), which calls move on, {home(guest)}")
    before = memory.now()
    with no_door(home(guest).rpartition(":")[0]):
        answer = function(*arguments)
    for argument in arguments:
        if isinstance(argument, ReplayChance):
            argument.close()
    changed = memory.changed(before, memory.now(), again=again)
    if changed:
        raise refusal(f"{changed} at {_line(guest, memory, function, *arguments) or home(guest)}")
    return answer


@contextmanager
def unwatched() -> Iterator[None]:
    """For work of ours inside a guest's call, such as enumerating another guest, which is watched by itself."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


def impure(where: str, answers: str, guest: Any) -> InputError:
    """The error for a guest that answered the same question in two ways; `where` names it and its context."""
    return InputError(f"{where} {refusal(f'{answers}, {home(guest)}')}")


def forget(guest: Any) -> None:
    """Look again for what a guest can remember: it may have made itself a place meanwhile."""
    _MEMORIES.pop(id(guest), None)


def _memory(guest: Any) -> Memory:
    """The memory of a guest, found once: what it can reach is looked up again only when it is another object."""
    if id(guest) not in _MEMORIES or _MEMORIES[id(guest)][0] is not guest:
        if len(_MEMORIES) >= MOST_MEMORIES:
            _MEMORIES.clear()
        _MEMORIES[id(guest)] = (guest, Memory.of(guest))
    return _MEMORIES[id(guest)][1]


def _line(guest: Any, memory: Memory, function: Callable[..., Any], *arguments: Any) -> str | None:
    """The user's line that changes the state, found by running the call again line by line; None when it does not."""
    found: list[str] = []
    own = home(guest).rpartition(":")[0]
    last: list[Any] = ["", memory.now()]  # the line that was last begun, and the state before it

    def step(frame: FrameType, _event: str, _argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file != own and (is_library(file) or is_installed(file) or file.startswith("<")):
            return None
        now = memory.now()
        if not found and memory.changed(last[1], now, again=True):
            found.append(last[0])
        last[:] = [f"{file}:{frame.f_lineno}", now]
        return step

    before = sys.gettrace()
    for _ in range(TRIES):
        fresh = [ReplayChance(tuple(a.taken)) if isinstance(a, ReplayChance) else a for a in arguments]
        last[1] = memory.now()
        sys.settrace(step)
        try:
            function(*fresh)
        except Exception:  # the first call was right: this one only looks for the line
            break
        finally:
            sys.settrace(before)
        if found:
            return found[0]
    return None


def home(guest: Any) -> str:
    """file:line of the guest itself."""
    function = getattr(guest, "func", guest)
    code = getattr(function, "__code__", None) or getattr(vars(type(function)).get("__call__"), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else type(guest).__name__
