"""What every audit asks of its arguments, whatever its method: errors are one line each."""

from typing import Any

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context


def check_question(
    target: Any,
    baseline: Any,
    context: Context,
    tokens: Any,
    *,
    alpha: float,
    tv: float | None,
    rtol: float | None,
    seed: Any,
) -> None:
    """One reference, token ids, levels within their range. Raises InputError."""
    if (target is None) == (baseline is None):
        came = "neither" if target is None else "both"
        raise InputError(
            f"exactly one of --target and --baseline must be given, got {came}: name a law, or a second subject"
        )
    check_words(context, tokens, seed)
    for name, level in (("alpha", alpha), ("tv", tv)):
        if level is not None and not 0 < level < 1:
            raise InputError(f"--{name} must lie strictly between 0 and 1, got {level!r}: try 0.01")
    if rtol is not None and not 0 <= rtol < 1:
        raise InputError(f"--rtol must lie in [0, 1), got {rtol!r}: 1e-6 suits a float32 law")


def check_words(context: Context, tokens: Any, seed: Any) -> None:
    """A context of token ids, at least one token, a seed. Raises InputError."""
    if not all(type(x) is int and x >= 0 for x in context):
        raise InputError(f'the context must be token ids >= 0, got {context}: try --context "0 1"')
    check_integers(tokens=(tokens, 1), seed=(seed, 0))


def check_integers(**numbers: tuple[Any, int]) -> None:
    """Each number, if given, is an integer not below its least value. Raises InputError."""
    for name, (value, least) in numbers.items():
        if value is not None and (type(value) is not int or value < least):
            option = name.replace("_", "-")
            raise InputError(f"--{option} must be an integer >= {least}, got {value!r}: raise it")


def check_budget(max_paths: Any, max_seconds: float | None, float_tolerance: float) -> None:
    """The budget and the tolerance of an enumeration. Raises InputError."""
    check_integers(max_paths=(max_paths, 1))
    if max_seconds is not None and not max_seconds > 0:
        raise InputError(f"--max-seconds must be above 0, got {max_seconds!r}: leave it out for no limit")
    if not 0 <= float_tolerance < 1:
        raise InputError(f"--float-tolerance must lie in [0, 1), got {float_tolerance!r}: 1e-6 suits float32 code")
