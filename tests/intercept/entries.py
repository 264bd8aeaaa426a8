"""One entry of the table of small decoders: what runs, and what it must be found to emit."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from tests.intercept.rational import Law, law, target

RAISES = "raises"


@dataclass(frozen=True, eq=False)
class Entry:
    """A decoder and its exact law, or RAISES where its law cannot be known by following it.

    `lossless`: whether that law is the target's; None where there is no target.
    `may_raise`: refusing it is as good as the exact law; a different law is not.
    """

    name: str
    subject: Callable[..., list[int]]
    tokens: int
    exact: Law | str
    lossless: bool | None = None
    may_raise: bool = False

    @property
    def followed(self) -> bool:
        return self.exact != RAISES

    @property
    def takes_seed(self) -> bool:
        return "seed" in inspect.signature(self.subject).parameters


class Table(list[Entry]):
    """The entries of one library, in the order of their definition."""

    def __init__(self, library: str):
        self.library = library

    def lossless(self, tokens: int = 2, **facts):
        """Adds a decoder that emits exactly the target's law."""
        return self.emits(target(tokens), tokens, lossless=True, **facts)

    def faulty(self, cycle: Callable, tokens: int = 2, **facts):
        """Adds a decoder with a known bug; `cycle` is its reference, to be run for `tokens` tokens."""
        return self.emits(law(cycle, tokens), tokens, lossless=False, **facts)

    def refused(self, tokens: int = 2):
        """Adds a decoder whose law interception must refuse to give."""
        return self.emits(RAISES, tokens)

    def emits(self, exact: Law | str, tokens: int, **facts):
        """Adds a decoder with this exact law; a class is added as the object its users would make once."""

        def add(subject):
            made = subject() if isinstance(subject, type) else subject
            self.append(Entry(f"{self.library}-{subject.__name__}", made, tokens, exact, **facts))
            return subject

        return add
