"""A pair: a target law p and a drafter law q over one vocabulary, exact in every digit.

A model is a table `context -> law`. A context is the tuple of token ids so far; one without a row of its own
uses the row of its longest suffix that has one, so a table of the empty context alone is a memoryless model,
and one that adds the V single tokens is a Markov chain:

    pair = Pair(2, draft={(): ["1/2", "1/2"]}, target={(): ["1/4", "3/4"], (1,): ["1", "0"]})
    pair.p((0, 1))   # (Fraction(1, 1), Fraction(0, 1)), the row of its suffix (1,)
    pair.q((0, 1))   # (Fraction(1, 2), Fraction(1, 2)), the row of ()
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from rheocheck.core.automaton import Automaton, automaton
from rheocheck.core.errors import InputError
from rheocheck.core.rows import Context, Law, at_context, check_model, normalise, one_hot, softmax, spaced

__all__ = ["Context", "Law", "Pair", "normalise", "one_hot", "spaced"]


@dataclass(frozen=True)
class Pair:
    """A drafter and a target over one vocabulary.

    vocab_size  V, the number of tokens; tokens are 0 .. V-1
    draft       {context: q}, each q a sequence of V probabilities that sum to exactly 1
    target      {context: p}, likewise

    Raises InputError when a row has the wrong length, a negative entry, or a sum other than 1 (the message
    shows the sum), when a context holds a token outside the vocabulary, or when the row of () is missing.
    """

    vocab_size: int
    draft: Mapping[Context, Law] = field(repr=False)
    target: Mapping[Context, Law] = field(repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.vocab_size, bool) or not isinstance(self.vocab_size, int) or self.vocab_size < 1:
            raise InputError(f"vocab_size must be a positive integer, got {self.vocab_size!r:.40}; count the tokens")
        for name in ("draft", "target"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(
                    f"{name} must be a mapping of contexts (tuples of tokens) to rows, "
                    f'got {getattr(self, name)!r:.60}; try {{(): ["1/2", "1/2"]}}'
                )
            object.__setattr__(self, name, check_model(name, getattr(self, name), self.vocab_size))

    def p(self, context: Context) -> Law:
        """The target's next-token law after `context`."""
        return self.target[_longest_suffix(self.target, context)]

    def q(self, context: Context) -> Law:
        """The drafter's next-token law after `context`."""
        return self.draft[_longest_suffix(self.draft, context)]

    @cached_property
    def states(self) -> Automaton:
        """The states of both tables together; `states.words[s]` is a context in state s."""
        return automaton(self.vocab_size, {**self.draft, **self.target}, lambda word: (self.q(word), self.p(word)))

    def state(self, context: Context) -> int:
        """The number of the state that a context is in: equal states have equal laws, and equal futures."""
        return self.states.state(context)

    def converted(self, number: Callable[[Fraction], Any]) -> "Pair":
        """The same pair with every entry passed through `number`, an exact type such as gmpy2.mpq."""
        copy = object.__new__(Pair)
        object.__setattr__(copy, "vocab_size", self.vocab_size)
        for name in ("draft", "target"):
            rows = {s: tuple(number(x) for x in row) for s, row in getattr(self, name).items()}
            object.__setattr__(copy, name, rows)
        object.__setattr__(copy, "states", self.states)  # the same: numbers that differ are converted into such
        return copy

    @classmethod
    def from_logits(
        cls,
        draft: Mapping[Context, Sequence[float]],
        target: Mapping[Context, Sequence[float]],
        *,
        temperature: float = 1.0,
        top: int | None = 128,
    ) -> "Pair":
        """The pair of two tables of logits, both divided by `temperature`.

        Weights are exp((l - max l) / temperature) as floats, each taken as its exact Fraction; the drafter keeps
        its `top` best tokens by (-logit, token id) before exact renormalisation, the target is not truncated.
        NaN and +inf raise InputError; -inf is probability 0.
        """
        if not (math.isfinite(temperature) and temperature > 0):
            raise InputError(f"temperature must be a positive number, got {temperature!r}; try 1.0")
        if top is not None and (type(top) is not int or top < 1):
            raise InputError(f"top must be an integer of at least 1, or None for no truncation, got {top!r}; try 128")
        for name, model in (("draft", draft), ("target", target)):
            if () not in model:
                raise InputError(f'{name} must have logits for the empty context "" (the start)')
        return cls(
            len(target[()]),
            {s: softmax(f"draft logits{at_context(s)}", row, temperature, top) for s, row in draft.items()},
            {s: softmax(f"target logits{at_context(s)}", row, temperature, None) for s, row in target.items()},
        )


def _longest_suffix(model: Mapping[Context, Law], context: Context) -> Context:
    for start in range(len(context) + 1):
        if context[start:] in model:
            return context[start:]
    raise AssertionError("a checked model has a row for the empty context")
