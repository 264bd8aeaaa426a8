"""The doors of NumPy: raw words and states of bit generators, and the entropy of a seed sequence given none.

Subclasses stand in for the bit generators and for SeedSequence. Generators are made of them and drawn from as ever;
the words themselves (random_raw, ctypes, cffi) are refused, states and drawn entropy are readings. A bit generator
older than the audit is watched instead: drawn from by itself, it has moved unseen.
"""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from rheocheck.intercept.door import SEED, URANDOM, Door
from rheocheck.intercept.errors import OURS
from rheocheck.intercept.patching import replaced
from rheocheck.intercept.readings import marked, plain, stand_in

KINDS = frozenset(getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"))
SEQUENCE = np.random.SeedSequence


def numpy_pairs() -> list[tuple[Any, Any]]:
    """What stands in for NumPy's bit generators and seed sequence."""
    return [*((kind, _bit_generator(kind)) for kind in KINDS), (SEQUENCE, _sequence())]


def numpy_seeding() -> AbstractContextManager[None]:
    """NumPy's own seeding of an unseeded generator let through: what that draws is followed."""
    return replaced(np.random.bit_generator, {"randbits": _fresh})


def _fresh(bits: int) -> int:
    """What NumPy seeds a generator with that was given no seed."""
    return int.from_bytes(URANDOM(bits // 8), "little")


def _ours() -> bool:
    """Whether our own code asks, or C code that it called: the frame above the method's own."""
    return sys._getframe(2).f_code.co_filename.startswith(OURS)


def _bit_generator(kind: Any) -> type:
    """A bit generator whose words are for generators only."""
    name = f"numpy's {kind.__name__}"

    def refused_to_others(attribute: str) -> property:
        def value(self: Any) -> Any:
            if not _ours():
                Door(f"{name}.{attribute}", SEED).refuse()
            return getattr(super(standing, self), attribute)

        return property(value)

    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__(self, *map(plain, args), **{key: plain(value) for key, value in kwargs.items()})

    def state(self: Any) -> Any:
        found = kind.state.__get__(self)
        return found if _ours() else marked(found, f"the state of {name}")

    members = {attribute: refused_to_others(attribute) for attribute in ("random_raw", "ctypes", "cffi", "capsule")}
    members["state"] = property(state, lambda self, value: kind.state.__set__(self, plain(value)))
    standing = stand_in(kind, {"__init__": made, **members})
    return standing


def _sequence() -> type:
    """A seed sequence whose entropy, where none was given, is a reading."""
    unseeded = "the entropy of a numpy SeedSequence"

    def made(self: Any, entropy: Any = None, **kwargs: Any) -> None:
        SEQUENCE.__init__(self, plain(entropy), **kwargs)
        self.drawn = entropy is None

    def spawn(self: Any, n_children: int) -> Any:
        children = SEQUENCE.spawn(self, n_children)
        for child in children:
            child.drawn = self.drawn
        return children

    def generate_state(self: Any, n_words: int, dtype: Any = np.uint32) -> Any:
        words = SEQUENCE.generate_state(self, n_words, dtype)
        if _ours() or not self.drawn:
            return words
        readings = np.empty(n_words, dtype=object)
        readings[:] = [marked(int(word), unseeded) for word in words]
        return readings

    def read(attribute: str) -> property:
        def value(self: Any) -> Any:
            found = getattr(SEQUENCE, attribute).__get__(self)
            return marked(found, unseeded) if self.drawn and not _ours() else found

        return property(value)

    members: dict[str, Callable[..., Any] | property] = {
        "__init__": made, "spawn": spawn, "generate_state": generate_state, "entropy": read("entropy"),
        "pool": read("pool"), "state": read("state"),
    }  # fmt: skip
    return stand_in(SEQUENCE, members)
