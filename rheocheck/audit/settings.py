"""KEY=VALUE settings and the factories that take them."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from rheocheck.core.errors import InputError, RheocheckError

Value = int | float | bool | str
WORDS: dict[str, Value] = {"true": True, "false": False}


def parse_settings(pairs: Iterable[str]) -> dict[str, Value]:
    """The settings that ("top_k=3", "temperature=0.7", "flag=true", "name=x") write, typed by their look."""
    settings: dict[str, Value] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.isidentifier():
            raise InputError(f"--set must be KEY=VALUE with a Python name as KEY, got {pair!r}: try --set top_k=3")
        if key in settings:
            raise InputError(f"--set must name a key once, got {key!r} twice: keep one of them")
        settings[key] = _value(text)
    return settings


def call_factory(factory: Any, settings: Mapping[str, Value], name: str, *, only_known: bool = False) -> Any:
    """`factory(**settings)`; with `only_known`, settings that it has no parameter for are left out.

    Raises InputError when `factory` does not take the settings or raises; `name` is how the user wrote it.
    """
    if not callable(factory):
        raise InputError(
            f"{name} must be a function to take --set, got {type(factory).__name__}: name a factory, or drop --set"
        )
    known = keyword_names(factory)
    unknown = [] if known is None else [key for key in settings if key not in known]
    if unknown and not only_known:
        takes = ", ".join(known or ()) or "none"
        raise InputError(f"{name} must take every --set key, got {unknown[0]!r}: it takes {takes}")
    try:
        return factory(**{key: value for key, value in settings.items() if key not in unknown})
    except RheocheckError:
        raise
    except (Exception, SystemExit) as error:  # whatever the user's factory raises becomes one clear line
        raise InputError(
            f"{name} must return its object when called with {dict(settings)}, "
            f"it raised {type(error).__name__}: {error}"
        ) from error


def keyword_names(function: Any) -> tuple[str, ...] | None:
    """The names that `function` takes as keywords; None when it takes any, or does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))


def accepts(function: Any, name: str) -> bool:
    """Whether `function` certainly takes `name` as a keyword, by itself or through **keywords."""
    try:
        inspect.signature(function).bind_partial(**{name: None})
    except (TypeError, ValueError):
        return False
    return True


def takes(function: Any, n: int) -> bool:
    """Whether `function` can be called with n positional arguments; True when it does not tell."""
    try:
        inspect.signature(function).bind(*[None] * n)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _value(text: str) -> Value:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return WORDS.get(text.lower(), text)
