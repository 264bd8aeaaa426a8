"""Audits: does a subject emit the target's law? Joins an engine (samples and a test) to a subject."""

from rheocheck.audit.sampled import audit
from rheocheck.audit.verdict import Verdict

__all__ = ["Verdict", "audit"]
