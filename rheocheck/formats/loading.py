"""Objects by name: "package.module:attribute", the form every front door accepts."""

import importlib
import os
import sys
from typing import Any

from rheocheck.core.errors import InputError


def is_import_string(text: str) -> bool:
    """Whether `text` reads as "module:attribute" (and not as a path with a drive letter or slash)."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in f"{module}.{attribute}".split("."))


def load_attribute(text: str, what: str) -> Any:
    """The object that "module:attribute" names; the current directory is searched first, as `python -m` does.

    `what` names the thing in errors ("builder", "pair", ...). Raises InputError when the text is no import
    string, the module fails to import, or the attribute is missing.
    """
    if not is_import_string(text):
        raise InputError(f'{what} must be an import string "module:attribute", got {text!r}')
    module_name, _, attribute = text.partition(":")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever the user's module raises becomes one clear line
        raise InputError(
            f"{what} {text!r}: importing {module_name!r} failed with {type(error).__name__}: {error}"
        ) from error
    for part in attribute.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            names = ", ".join(sorted(n for n in dir(value) if not n.startswith("_"))[:12]) or "none"
            raise InputError(f"{what} {text!r}: {module_name!r} has no attribute {part!r}; it has: {names}") from error
    return value
