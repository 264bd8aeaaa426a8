"""Rows as users write them, made exact laws or refused with one line that says what is wrong."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

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


def check_model(name: str, model: Mapping[Context, Iterable[Any]], vocab_size: int) -> dict[Context, Law]:
    """Read the rows of a model. Raises InputError as `Pair` says."""
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
        rows[context] = _check_row(f"{name}{at_context(context)}", row, vocab_size)
    return rows


def _check_row(where: str, row: Iterable[Any], vocab_size: int) -> Law:
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


def softmax(where: str, logits: Sequence[float], temperature: float, top: int | None) -> Law:
    """Make the law of a row of logits, exactly; of the `top` best of them alone, if that is not None."""
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


def at_context(context: Context) -> str:
    """Name a context in a message."""
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
