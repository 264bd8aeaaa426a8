"""What an exact verification found, as a value."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rheocheck.exact.variation import Witness


@dataclass(frozen=True)
class Acceptance:
    """The probability that a node's verification descends: at the root, and over all nodes a cycle visits."""

    root: Fraction
    cycle: Fraction


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The answer to "does this decoder emit exactly the target's law?" on one pair.

    verdict   "lossless" (total variation 0, exactly, or a certificate), "biased" (with a witness), "inconclusive"
    method    "exact", "certificate" or "interval" (an enumeration that stopped early; `stopped` says why)
    tokens    None: one cycle, completed to D+1 tokens by the target; L: the joint law of L tokens over cycles
    total_variation, first_token_total_variation, expected_length, false_claims, fallbacks, acceptance,
    optimal_acceptance   exact, or None where the method does not compute them
    false_claims, fallbacks  of all cycles enumerated: with `tokens`, of later ones too; cycles from contexts that the
              pair cannot tell apart count once. The other figures are the first cycle's
    lower, upper  certified bounds of the total variation; equal when exact
    covered   probability of the classes enumerated
    first_tokens  {l: exact total variation of the first l tokens}, when only those could be had
    assumes   what a certificate takes for granted
    """

    verdict: str
    method: str
    seconds: float
    lower: Fraction
    upper: Fraction
    tokens: int | None = None
    total_variation: Fraction | None = None
    first_token_total_variation: Fraction | None = None
    expected_length: Fraction | None = None
    classes: int = 0
    assignments: str = ""
    false_claims: int | None = None
    fallbacks: int | None = None
    acceptance: Acceptance | None = None
    optimal_acceptance: Acceptance | None = None
    witness: Witness | None = None
    covered: Fraction = Fraction(1)
    stopped: str | None = None
    first_tokens: dict[int, Fraction] | None = None
    assumes: tuple[str, ...] = ()
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The documented JSON object; Fractions become strings."""
        return {
            "verdict": self.verdict,
            "method": self.method,
            "seconds": round(self.seconds, 3),
            "tokens": self.tokens,
            "total_variation": _text(self.total_variation),
            "total_variation_lower": str(self.lower),
            "total_variation_upper": str(self.upper),
            "first_token_total_variation": _text(self.first_token_total_variation),
            "expected_length": _text(self.expected_length),
            "classes": self.classes,
            "assignments": self.assignments,
            "covered": str(self.covered),
            "stopped": self.stopped,
            "first_tokens": self.first_tokens and {str(n): str(tv) for n, tv in self.first_tokens.items()},
            "false_claims": self.false_claims,
            "fallbacks": self.fallbacks,
            "acceptance": _both(self.acceptance),
            "optimal_acceptance": _both(self.optimal_acceptance),
            "witness": self.witness
            and {
                "context": list(self.witness.context),
                "token": self.witness.token,
                "emitted": str(self.witness.emitted),
                "target": str(self.witness.target),
            },
            "assumes": list(self.assumes),
            "reason": self.reason,
        }


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)


def _both(x: Acceptance | None) -> dict[str, str] | None:
    return None if x is None else {"root": str(x.root), "cycle": str(x.cycle)}
