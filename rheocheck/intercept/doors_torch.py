"""The doors of torch: fresh seeds read back, and threads that are older than the audit.

A dispatch mode holds for one thread. Threads started in a run enter it when they start (on_torch); of older ones,
those of a pool enter it for each task, and any other one for each draw.
"""

import _thread
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.thread import _WorkItem  # type: ignore[attr-defined]
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from rheocheck.intercept import search
from rheocheck.intercept.errors import OURS, not_understood
from rheocheck.intercept.patching import rebound, replaced
from rheocheck.intercept.readings import marked, plain, seedable, stand_in

DRAWS = (
    "rand rand_like randn randn_like randint randint_like randperm multinomial bernoulli normal poisson binomial "
    "dropout native_dropout"
).split()
METHODS = (
    "multinomial bernoulli bernoulli_ uniform_ exponential_ normal_ random_ cauchy_ geometric_ log_normal_"
).split()  # fmt: skip
FRESH = "the seed that torch drew"


@contextmanager
def torch_doors() -> Iterator[None]:
    """Generators whose fresh seeds are readings, and seeders that take readings."""
    seeders = {torch.manual_seed, torch.random.manual_seed, torch.cuda.manual_seed, torch.cuda.manual_seed_all}
    pairs = [(seeder, seedable(seeder)) for seeder in seeders]
    with rebound([*pairs, (torch.seed, _fresh_seed(torch.seed)), (torch.Generator, _generator())]):
        yield


@contextmanager
def torch_threads(mode: TorchDispatchMode) -> Iterator[None]:
    """Every thread in the mode while it draws."""
    run = _WorkItem.run

    methods = {name: _in_mode(mode, getattr(torch.Tensor, name)) for name in METHODS}
    def start_seen(function: Callable[..., Any], *rest: Any) -> Any:
        return start(_run_in_mode(mode, function), *rest)

    start = _thread.start_new_thread
    draws = [(getattr(torch, name), _in_mode(mode, getattr(torch, name))) for name in DRAWS]
    with replaced(_WorkItem, {"run": lambda item: _run_in_mode(mode, run)(item)}), replaced(torch.Tensor, methods):
        with rebound([*draws, (start, start_seen)]):
            yield


def refuse_devices(name: str, values: Iterable[Any]) -> None:
    """Refuse a draw on a device with generators of its own."""
    for value in values:
        device = value if isinstance(value, torch.device) else getattr(value, "device", None)
        if isinstance(device, torch.device) and device.type not in ("cpu", "meta"):
            raise not_understood(f"torch.{name} on {device.type}", "run the subject on the CPU, or audit by sampling")


def _within(mode: TorchDispatchMode) -> bool:
    return any(one is mode for one in _get_current_dispatch_mode_stack())


def _run_in_mode(mode: TorchDispatchMode, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs in the mode, in whatever thread, while a subject runs."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if not search._active or _within(mode):
            return function(*args, **kwargs)
        with mode:
            return function(*args, **kwargs)

    return run


def _in_mode(mode: TorchDispatchMode, draw: Callable[..., Any]) -> Callable[..., Any]:
    thread = threading.get_ident()

    def drawn(*args: Any, **kwargs: Any) -> Any:
        own = threading.get_ident() == thread or sys._getframe(1).f_code.co_filename.startswith(OURS)
        if own or not search._active or _within(mode):
            return draw(*args, **kwargs)
        with mode:
            return draw(*args, **kwargs)

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
