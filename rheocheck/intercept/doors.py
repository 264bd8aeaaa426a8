"""The doors by which entropy enters a process, and how each of them is guarded while a subject runs.

    refused   the operating system's bytes and names made of them; other processes and the network (`outside`)
    marked    the hash of a string or an object, and `clocks`: `readings` that may be printed and decide nothing
    followed  `random.SystemRandom` and `secrets` (`sources.random`); threads older than the audit (`doors_torch`)
    kept      raw words and states of NumPy's bit generators and seed sequences (`doors_numpy`), and the seeds that
              torch draws (`doors_torch`): generators are made of them, the subject sees readings or is refused

A door is guarded only while a subject runs, and never for what a module draws while it is imported. Functions are
replaced wherever they are `held`. Not guarded are the order of a set of strings, `id`, `str.__hash__`, the words of a
JAX key, the time in a record of `logging` or of a file, and text that an f-string or `json` made of a reading and other
text: plain runs stand behind those.
"""

import builtins
import json
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rheocheck.intercept.clocks import clock_guards, date_classes, event_loop_clock
from rheocheck.intercept.door import CLOCK, SEED, Door, Guard, named
from rheocheck.intercept.errors import importing
from rheocheck.intercept.held import held
from rheocheck.intercept.outside import outside_refused
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.readings import HASH, Reading, library_asks, marked, written

BYTES = {name: SEED for name in ("os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4")}
REFUSED = BYTES | {name: CLOCK for name in ("timeit.timeit", "timeit.repeat", "os.times", "resource.getrusage")}


@contextmanager
def entropy_doors(of_libraries: list[tuple[Any, Any]]) -> Iterator[None]:
    """Every door guarded: those of the standard library, and pairs (function, what stands in for it) of others.

    To be entered before what follows `random` and its like, which replaces what it finds then.
    """
    pairs = [(named(name), _refusing(name, advice)) for name, advice in REFUSED.items() if named(name)]
    pairs += [*clock_guards(), (builtins.hash, Guard(builtins.hash, _hash))]
    with held(pairs), rebound([*pairs, *date_classes(), *of_libraries]), event_loop_clock(), outside_refused():
        with replaced(json.JSONEncoder, {"default": written}):
            yield


def _refusing(name: str, advice: str) -> Guard:
    def answer(frame: FrameType, original: Any, *args: Any, **kwargs: Any) -> Any:
        if importing() or (name not in BYTES and library_asks(frame)):
            return original(*args, **kwargs)
        return Door(name, advice).refuse()

    return Guard(named(name), answer)


def _hash(frame: FrameType, original: Any, value: Any) -> Any:
    """The hash of a string or an object is another one in every process; that of numbers is not."""
    if _of_numbers(value) or frame.f_code.co_name == "__hash__" or library_asks(frame):
        return original(value)
    if isinstance(value, Reading):
        return Reading(original(value), HASH)
    return marked(original(value), HASH)


def _of_numbers(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_of_numbers, value))
    return isinstance(value, numbers.Number | None)
