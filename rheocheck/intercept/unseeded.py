"""Unseeded generators: what the operating system gives them is made repeatable, so that a call can be repeated.

A subject that makes an unseeded generator in the call is sound, but no seed repeats its calls. With the system's bytes
made from a seed it repeats itself, unless it keeps state between calls as well.
"""

import os
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rheocheck.intercept.errors import line
from rheocheck.intercept.patching import rebound, replaced


@contextmanager
def entropy_from(seed: int) -> Iterator[list[str]]:
    """The bytes of the operating system made from `seed`; the list that is handed out gets the lines that take some."""
    source, lines = random.Random(seed), list[str]()
    seed_method, of_module = random.Random.seed, random.seed.__self__  # type: ignore[attr-defined]

    def bits(count: int) -> int:
        lines.append(line())
        return source.getrandbits(count)

    def urandom(size: int) -> bytes:
        return bits(8 * size).to_bytes(size, "little")

    def seeded(generator: random.Random, a: Any = None, version: int = 2) -> None:
        seed_method(generator, bits(128) if a is None else a, version)

    def seeded_global(*args: Any, **kwargs: Any) -> None:
        seeded(of_module, *args, **kwargs)

    pairs: list[tuple[Any, Any]] = [(os.urandom, urandom), (random.seed, seeded_global)]
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        pairs.append((torch.seed, lambda: torch.manual_seed(bits(32)).initial_seed()))
    with ExitStack() as stack:
        stack.enter_context(rebound(pairs))
        stack.enter_context(replaced(random.Random, {"seed": seeded}))
        yield lines
