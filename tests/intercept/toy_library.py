"""A library that draws by itself, as some engine's own generator would, and how it would be followed."""

import sys
from contextlib import AbstractContextManager

from rheocheck.intercept.patching import replaced
from rheocheck.intercept.sampling import integers
from rheocheck.intercept.search import current

STATE = [1]


def draw(n):
    """One of 0..n-1: a congruential generator that nothing else knows of."""
    STATE[0] = (1103515245 * STATE[0] + 12345) % 2**31
    return STATE[0] // 65536 % n


class _Source:
    def stand_ins(self) -> list[tuple[object, object]]:
        return []

    def followed(self, streams) -> list[AbstractContextManager[None]]:
        one = lambda n: integers(current(), 0, n, 1, "toy_library.draw")[0]  # noqa: E731
        return [replaced(sys.modules[__name__], {"draw": one})]


SOURCE = _Source()
