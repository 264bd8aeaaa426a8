"""A verdict as a few lines for a terminal."""

from rheocheck.audit import Boundary, Context, Verdict, Witness, spaced

HEADLINES = {
    "lossless": "LOSSLESS",
    "no_bias_found": "NO BIAS FOUND",
    "biased": "BIASED",
    "inconclusive": "INCONCLUSIVE",
}


def audit_text(verdict: Verdict) -> str:
    """The verdict first, then what it rests on, one fact a line; no trailing newline."""
    lines = [
        f"{HEADLINES[verdict.verdict]}{_bound(verdict)}",
        f"  {verdict.object}, against the {verdict.reference}",
    ]
    if verdict.p_value is not None:
        upper = f"{verdict.total_variation_upper:.4f} with confidence {verdict.confidence:.1%}"
        lines.append(f"  {verdict.samples} draws: p-value {verdict.p_value:.2g} (false alarms: {verdict.alpha:g})")
        lines.append(f"  estimated TV {verdict.total_variation:.4f}, below {upper}")
    if verdict.smallest_detectable_tv < 1:
        lines.append(f"  any bias from TV {verdict.smallest_detectable_tv:.4f} on is found with power 99.9%")
    if verdict.witness is not None:
        lines.append(f"  witness: {_witness(verdict.witness, verdict.reference)}")
    lines += [f"  boundary token: {_boundary(token)}" for token in verdict.boundary_tokens]
    if verdict.seed is not None:
        lines.append(f"  seed: {verdict.seed}")
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def _bound(verdict: Verdict) -> str:
    if verdict.verdict != "no_bias_found" or verdict.total_variation_upper is None:
        return ""
    return f" down to TV {verdict.total_variation_upper:.4f}, confidence {verdict.confidence:.1%}"


def _witness(witness: Witness, reference: str) -> str:
    return (
        f"after {_show(witness.context)}, token {witness.token}: emitted frequency {witness.emitted:.4f}, "
        f"by the {reference} {witness.target:.4f}"
    )


def _boundary(token: Boundary) -> str:
    return (
        f"after {_show(token.context)}, token {token.token} is within rounding of a filter's cut-off "
        f"(target {token.target:.4f}, emitted {token.hits} times): not counted as a bias"
    )


def _show(context: Context) -> str:
    return f'context "{spaced(context)}"'
