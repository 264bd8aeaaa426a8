"""The doors of torch: fresh seeds read back, and threads that are older than the audit.

A dispatch mode holds for one thread. Threads started in a run enter it when they start (sources.torch); of older ones,
those of a pool enter it for each task, and any other one for each draw.
"""

import _thread
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.thread import _WorkItem
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from rheocheck.intercept import search
from rheocheck.intercept.errors import OURS, not_understood
from rheocheck.intercept.patching import replaced
from rheocheck.intercept.readings import marked, plain, seedable, stand_in

DRAWS = (
    "rand rand_like randn randn_like randint randint_like randperm multinomial bernoulli normal poisson binomial "
    "dropout native_dropout"
).split()
METHODS = (
    "multinomial bernoulli bernoulli_ uniform_ exponential_ normal_ random_ cauchy_ geometric_ log_normal_"
).split()  # fmt: skip
FRESH = "the seed that torch drew"


_modes: list[tuple[TorchDispatchMode, int]] = []  # the one that is on, and the thread that it was made for


def torch_pairs() -> list[tuple[Any, Any]]:
    """What stands in for torch's seeders and Generator, and for what draws in threads."""
    seeders = {torch.manual_seed, torch.random.manual_seed, torch.cuda.manual_seed, torch.cuda.manual_seed_all}
    pairs: list[tuple[Any, Any]] = [(seeder, seedable(seeder)) for seeder in seeders]
    pairs += [(torch.seed, _fresh_seed(torch.seed)), (torch.Generator, _generator())]
    pairs += [(getattr(torch, name), _in_mode(getattr(torch, name))) for name in DRAWS]
    start = _thread.start_new_thread
    return [*pairs, (start, lambda function, *rest: start(_run_in_mode(function), *rest))]


@contextmanager
def torch_threads(mode: TorchDispatchMode) -> Iterator[None]:
    """Every thread in the mode while it draws."""
    run = _run_in_mode(_WorkItem.run)
    methods = {name: _in_mode(getattr(torch.Tensor, name)) for name in METHODS}
    _modes.append((mode, threading.get_ident()))
    try:
        with replaced(_WorkItem, {"run": lambda item: run(item)}), replaced(torch.Tensor, methods):
            yield
    finally:
        _modes.pop()


def refuse_devices(name: str, values: Iterable[Any]) -> None:
    """Refuse a draw on a device with generators of its own."""
    for value in values:
        device = value if isinstance(value, torch.device) else getattr(value, "device", None)
        if isinstance(device, torch.device) and device.type not in ("cpu", "meta"):
            raise not_understood(f"torch.{name} on {device.type}", "run the subject on the CPU, or audit by sampling")


def _missing() -> TorchDispatchMode | None:
    """The mode, where this thread should be in it and is not."""
    if not search._active or not _modes:
        return None
    mode, thread = _modes[-1]
    known = threading.get_ident() == thread or any(one is mode for one in _get_current_dispatch_mode_stack())
    return None if known else mode


def _run_in_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs in the mode, in whatever thread, while a subject runs."""

    def run(*args: Any, **kwargs: Any) -> Any:
        with _missing() or nullcontext():
            return function(*args, **kwargs)

    return run


def _in_mode(draw: Callable[..., Any]) -> Callable[..., Any]:
    """A function that draws in the mode, unless it is our own code that draws."""
    seen = _run_in_mode(draw)

    def drawn(*args: Any, **kwargs: Any) -> Any:
        ours = sys._getframe(1).f_code.co_filename.startswith(OURS)
        return draw(*args, **kwargs) if ours else seen(*args, **kwargs)

    return drawn


def _fresh_seed(seed: Callable[[], int]) -> Callable[[], Any]:
    return lambda: marked(seed(), FRESH)


def _generator() -> type:
    """A torch.Generator that tells its fresh seed as a reading."""
    kind = torch.Generator

    def seed(self: Any) -> Any:
        self.fresh = True
        return marked(kind.seed(self), FRESH)

    def initial_seed(self: Any) -> Any:
        number = kind.initial_seed(self)
        return marked(number, FRESH) if getattr(self, "fresh", False) else number

    def manual_seed(self: Any, number: Any) -> Any:
        self.fresh = False
        return kind.manual_seed(self, plain(number))

    def get_state(self: Any) -> Any:
        state = kind.get_state(self)
        ours = sys._getframe(1).f_code.co_filename.startswith(OURS)
        return marked(state, FRESH) if getattr(self, "fresh", False) and not ours else state

    def set_state(self: Any, state: Any) -> Any:
        return kind.set_state(self, plain(state))

    members = (seed, initial_seed, manual_seed, get_state, set_state)
    return stand_in(kind, {member.__name__: member for member in members})
