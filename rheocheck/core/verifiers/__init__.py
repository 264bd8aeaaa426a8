"""Verifiers: node rules `verifier(p, kept children in slot order, chance) -> (token, descend)`."""

from rheocheck.core.verifiers.matching import matching
from rheocheck.core.verifiers.recursive import recursive
from rheocheck.core.verifiers.rheo import rheo

VERIFIERS = {"matching": matching, "recursive": recursive, "rheo": rheo}

__all__ = ["VERIFIERS", "matching", "recursive", "rheo"]
