"""Interception: the exact law of unmodified Python code, by taking every random choice that it makes every way.

    enumerate_law(subject, context, tokens)   the law that a decoder emits
    replay(subject, choices, ..)              one run of it again
    conformance(subject, ..)                  whether a subject can be enumerated, for its author

Random choices of torch, NumPy, `random` and JAX (outside jit) are handed out by a best-first search. Uniforms are
intervals that are split only when the program compares them. What cannot be followed raises NotUnderstood: no result
is ever a guess.
"""

from rheocheck.core.errors import NotUnderstood
from rheocheck.intercept.conformance import Conformance, conformance
from rheocheck.intercept.enumeration import Enumeration, NullEvent, Path, enumerate_law, replay
from rheocheck.intercept.reuse import Reuse, reused
from rheocheck.intercept.run import Choice

__all__ = [
    "Choice", "Conformance", "Enumeration", "NotUnderstood", "NullEvent", "Path", "Reuse", "conformance",
    "enumerate_law", "replay", "reused",
]  # fmt: skip
