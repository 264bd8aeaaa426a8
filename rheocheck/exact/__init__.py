"""Exact laws: what a decoder emits on a toy pair, in rationals.

`verify` is the front door, `sweep` the one for curves; `forest_of`, `Walk`, `audit_claims`, `relabel` and `certify` are
their parts.
"""

from rheocheck.exact.budget import Budget
from rheocheck.exact.certificate import Certificate, certify
from rheocheck.exact.claims import ClaimsAudit, audit_claims, relabel
from rheocheck.exact.curves.sweep import Method, sweep
from rheocheck.exact.curves.temperature import tempered
from rheocheck.exact.curves.values import Curve, LeftOut, Point, Sweep
from rheocheck.exact.emission import Emission, Walk
from rheocheck.exact.enumeration import forest_of
from rheocheck.exact.forest import Forest
from rheocheck.exact.hypotheses import hypotheses
from rheocheck.exact.transport import optimal_acceptance
from rheocheck.exact.variation import Witness, total_variation
from rheocheck.exact.verification import Acceptance, Verification
from rheocheck.exact.verify import verify

__all__ = [
    "Acceptance",
    "Budget",
    "Certificate",
    "ClaimsAudit",
    "Curve",
    "Emission",
    "Forest",
    "LeftOut",
    "Method",
    "Point",
    "Sweep",
    "Verification",
    "Walk",
    "Witness",
    "audit_claims",
    "certify",
    "forest_of",
    "hypotheses",
    "optimal_acceptance",
    "relabel",
    "sweep",
    "tempered",
    "total_variation",
    "verify",
]
