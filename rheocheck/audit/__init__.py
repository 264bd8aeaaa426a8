"""Audits: an engine joined to a subject. Re-exports what a report prints, of both engines; imports nothing heavy."""

from typing import Any

from rheocheck.audit.verdict import EXIT_CODES, BoundaryFault, BoundaryToken, ShownPath, ShownStep, Verdict, Witness
from rheocheck.core.pair import Context, spaced
from rheocheck.core.shape import Shape
from rheocheck.exact.verification import Verification


def __getattr__(name: str) -> Any:
    if name == "audit":  # needs numpy, so it is loaded when it is asked for
        from rheocheck.audit.methods import audit

        return audit
    raise AttributeError(f"module 'rheocheck.audit' has no attribute {name!r}")


__all__ = [
    "EXIT_CODES", "BoundaryFault", "BoundaryToken", "Context", "Shape", "ShownPath", "ShownStep", "Verdict",
    "Verification", "Witness", "audit", "spaced",
]  # fmt: skip
