"""A pair: a target law p and a drafter law q over one vocabulary, exact in every digit.

A model is a table `context -> law`. A context is the tuple of token ids so far; one without a row of its own
uses the row of its longest suffix that has one, so a table of the empty context alone is a memoryless model,
and one that adds the V single tokens is a Markov chain:

    pair = Pair(2, draft={(): ["1/2", "1/2"]}, target={(): ["1/4", "3/4"], (1,): ["1", "0"]})
    pair.p((0, 1))   # (Fraction(1, 1), Fraction(0, 1)), the row of its suffix (1,)
    pair.q((0, 1))   # (Fraction(1, 2), Fraction(1, 2)), the row of ()
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from rheocheck.core.automaton import Automaton, automaton
from rheocheck.core.errors import InputError

Context = tuple[int, ...]
Law = tuple[Fraction, ...]
MAX_EXPONENT = 10_000  # decimal exponents beyond this are refused: 10**exponent must be built in full


def exact(value: object) -> Fraction:
    """The number a user wrote, read exactly: "1/3", "0.25", 2, Fraction, or a float's own binary value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Fraction):
        raise InputError(f"a probability must be a rational string, an integer or a decimal, got {value!r}")
    if isinstance(value, str):
        _, e, exponent = value.lower().partition("e")
        if e and exponent.lstrip("+-").isdigit() and abs(int(exponent[:12])) > MAX_EXPONENT:
            raise InputError(f"a decimal exponent must lie within +-{MAX_EXPONENT}, got {value[:40]!r}; use a rational")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f'a probability must be a number such as "1/3" or 0.25, got {value!r:.60}') from None


def normalise(weights: Iterable[Any]) -> Law:
    """The law proportional to `weights`, exactly. Raises InputError when they are negative or all zero."""
    values = [exact(w) for w in weights]
    total = sum(values, Fraction(0))
    if total <= 0 or min(values) < 0:
        raise InputError(f"weights must be non-negative with a positive sum, got {_show(values)}")
    return tuple(w / total for w in values)


def one_hot(vocab_size: int, token: int) -> Law:
    """The law of a token that was not drawn at all: mass 1 on it."""
    return tuple(Fraction(int(x == token)) for x in range(vocab_size))


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
            object.__setattr__(self, name, _checked_model(name, getattr(self, name), self.vocab_size))

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
            {s: _softmax(f"draft logits{_at(s)}", row, temperature, top) for s, row in draft.items()},
            {s: _softmax(f"target logits{_at(s)}", row, temperature, None) for s, row in target.items()},
        )


def _longest_suffix(model: Mapping[Context, Law], context: Context) -> Context:
    for start in range(len(context) + 1):
        if context[start:] in model:
            return context[start:]
    raise AssertionError("a checked model has a row for the empty context")


def _checked_model(name: str, model: Mapping[Context, Iterable[Any]], vocab_size: int) -> dict[Context, Law]:
    if () not in model:
        raise InputError(
            f'{name} must have a row for the empty context "" (the start), got {len(model)} others; add one'
        )
    rows = {}
    for context, row in model.items():
        if not isinstance(context, tuple) or not all(type(x) is int and 0 <= x < vocab_size for x in context):
            raise InputError(
                f"{name}: a context must be a tuple of tokens 0..{vocab_size - 1}, got {context!r:.60}; "
                "check vocab_size and the key"
            )
        rows[context] = _checked_row(f"{name}{_at(context)}", row, vocab_size)
    return rows


def _checked_row(where: str, row: Iterable[Any], vocab_size: int) -> Law:
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise InputError(f'{where} must be a list of {vocab_size} probabilities, got {row!r:.60}; try ["1/2", "1/2"]')
    try:
        law = tuple(exact(x) for x in row)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if len(law) != vocab_size:
        raise InputError(
            f"{where} must have vocab_size = {vocab_size} entries, got {len(law)}; give every token its own"
        )
    if min(law) < 0:
        raise InputError(f"{where} must have no negative entry, got {_show(law)}; check the row")
    if sum(law) != 1:
        raise InputError(
            f"{where} must sum to 1, got {_short(sum(law))} = {_show(law)}; "
            "if these are weights, wrap them: normalise(weights)"
        )
    return law


def _softmax(where: str, logits: Sequence[float], temperature: float, top: int | None) -> Law:
    try:
        values = [float(x) for x in logits]
    except (TypeError, ValueError):
        raise InputError(f"{where} must be a list of numbers, got {logits!r:.60}; one per token") from None
    if not values or any(math.isnan(x) or x == math.inf for x in values) or max(values) == -math.inf:
        raise InputError(
            f"{where} must be numbers below +inf, at least one of them finite, got {values!r:.80}; mask with -inf"
        )
    kept = set(sorted(range(len(values)), key=lambda x: (-values[x], x))[:top])
    best = max(values)
    return normalise(math.exp((value - best) / temperature) if x in kept else 0 for x, value in enumerate(values))


def spaced(context: Context) -> str:
    """A context as files and messages write it: token ids with spaces between, "" for the start."""
    return " ".join(map(str, context))


def _at(context: Context) -> str:
    return f"(context={spaced(context)!r})"


def _show(law: Iterable[Fraction]) -> str:
    entries = [_short(x) for x in law]
    return f"({', '.join(entries[:8])}{', ...' if len(entries) > 8 else ''})"


def _short(x: Any) -> str:
    """A number for a message: in full, or its first digits when it has more than 60."""
    if max(abs(x.numerator), x.denominator).bit_length() > 400:  # str() of a huge integer is refused by Python
        return f"about {float(x):.6g}" if abs(x) < 1e300 else "a huge number"
    text = str(x)
    return text if len(text) <= 60 else f"{text[:60]}..."
