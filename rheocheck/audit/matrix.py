"""Many settings of a decoder, each audited exactly: the rows of a support matrix.

A row as its author writes it: (name, subject, target), or with a fourth element, "lossless" (what is meant where
nothing is said) or "lossy": declared to change the law.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rheocheck.audit.settings import Value, call_factory
from rheocheck.audit.verdict import Verdict
from rheocheck.core.errors import InputError
from rheocheck.formats.loading import load_attribute

DECLARED = ("lossless", "lossy")


@dataclass(frozen=True)
class Entry:
    """One setting: a subject, its target, and whether it is declared to change the law."""

    name: str
    subject: Any = field(repr=False)
    target: Any = field(repr=False)
    lossy: bool = False


@dataclass(frozen=True)
class MatrixRow:
    """What the audit of an entry found, or why its code could not be followed."""

    name: str
    lossy: bool
    verdict: Verdict | None
    problem: str | None = None

    @property
    def word(self) -> str:
        """The verdict word; "not understood" where there is none."""
        return "not understood" if self.verdict is None else self.verdict.verdict


def entries(spec: str, settings: Mapping[str, Value]) -> list[Entry]:
    """The rows that "module:attr" names: a sequence, or a function that returns one. Raises InputError."""
    value = load_attribute(spec, "MODULE:ATTR")
    if callable(value) or settings:
        value = call_factory(value, settings, f"MODULE:ATTR {spec!r}")
    if not isinstance(value, Iterable) or isinstance(value, str | Mapping):
        raise InputError(
            f"MODULE:ATTR {spec!r} must give a sequence of (name, subject, target), got {type(value).__name__}: "
            "name a list, or a function that returns one"
        )
    found = [_entry(row, number, spec) for number, row in enumerate(value)]
    if not found:
        raise InputError(f"MODULE:ATTR {spec!r} must give at least one row, got none: add (name, subject, target)")
    return found


def audited(entry: Entry, **question: Any) -> MatrixRow:
    """The exact audit of one setting; `question` as in `exact_audit`. Code that is not understood is a row too."""
    from rheocheck.audit.exact import exact_audit
    from rheocheck.intercept import NotUnderstood

    try:
        return MatrixRow(entry.name, entry.lossy, exact_audit(entry.subject, target=entry.target, **question))
    except NotUnderstood as error:
        return MatrixRow(entry.name, entry.lossy, None, str(error))


def _entry(row: Any, number: int, spec: str) -> Entry:
    parts = tuple(row) if isinstance(row, list | tuple) else ()
    if len(parts) not in (3, 4) or not isinstance(parts[0], str) or parts[3:] not in ((), *((d,) for d in DECLARED)):
        raise InputError(
            f'row {number} of {spec} must be (name, subject, target), or these and "lossless" or "lossy", '
            f"got {row!r:.80}: check its elements"
        )
    return Entry(parts[0], parts[1], parts[2], parts[3:] == ("lossy",))
