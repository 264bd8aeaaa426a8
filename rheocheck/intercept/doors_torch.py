"""The doors of torch: fresh seeds read back, and threads that are older than the audit.

A dispatch mode holds for one thread. Threads started in a run enter it when they start (on_torch); of older ones,
those of a pool enter it for each task, and any other one for each draw.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.thread import _WorkItem  # type: ignore[attr-defined]
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from rheocheck.intercept import search
from rheocheck.intercept.errors import OURS
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

    def run_seen(item: Any) -> None:
        with ExitStack() as stack:
            if not _within(mode):
                stack.enter_context(mode)
            run(item)

    methods = {name: _in_mode(mode, getattr(torch.Tensor, name)) for name in METHODS}
    with replaced(_WorkItem, {"run": run_seen}), replaced(torch.Tensor, methods):
        with rebound([(getattr(torch, name), _in_mode(mode, getattr(torch, name))) for name in DRAWS]):
            yield


def _within(mode: TorchDispatchMode) -> bool:
    return any(one is mode for one in _get_current_dispatch_mode_stack())


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

    return stand_in(kind, {"seed": seed, "initial_seed": initial_seed, "manual_seed": manual_seed})
