"""A verdict as a few lines for a terminal."""

import math

from rheocheck.audit import BoundaryToken, Verdict, Witness
from rheocheck.report.exact_text import HEADLINES, after, came, exact_text


def audit_text(verdict: Verdict) -> str:
    """The verdict first, then what it rests on, one fact a line; no trailing newline."""
    if verdict.method != "sampled":
        return exact_text(verdict)
    lines = [
        f"{HEADLINES[verdict.verdict]}{_bound(verdict)}",
        f"  {verdict.object}, against the {verdict.reference}",
    ]
    if verdict.p_value is not None:
        lines += [f"  {verdict.samples} draws: {_evidence(verdict)}", f"  {_variation(verdict)}"]
    if verdict.smallest_detectable_tv < 1:
        lines.append(
            f"  a bias of TV {verdict.smallest_detectable_tv:.4f} or more would be found with probability 99.9%"
        )
    elif verdict.verdict == "inconclusive" and verdict.fresh_draws is not None:
        lines.append("  these draws say nothing of the subject as it is now: fresh ones do not fit them")
    elif verdict.total_variation is None and verdict.samples:
        lines.append("  no bias is certain to be found, however large: no bet looks at whole words of this length")
    elif verdict.verdict != "biased":
        lines.append(
            f"  {verdict.samples} draws are too few to be certain of finding any bias, however large: draw more"
        )
    lines += [f"  log10 E of {name}: {_power(value)}" for name, value in _best(verdict)]
    if verdict.witness is not None:
        lines.append(f"  witness: {_witness(verdict.witness, verdict.reference, verdict.samples)}")
    lines += [f"  {text}" for text in (verdict.diagnosis, verdict.confirmation) if text]
    if verdict.cross_check is not None:
        lines.append(f"  cross-check: chi-square has p-value {verdict.cross_check:.2g} at {verdict.samples} draws")
    lines += [f"  boundary token: {_boundary(token)}" for token in verdict.boundary_tokens]
    if verdict.seed is not None:
        lines.append(f"  seed: {verdict.seed}")
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def _bound(verdict: Verdict) -> str:
    if verdict.verdict != "no_bias_found" or verdict.total_variation_upper is None:
        return ""
    about = "" if verdict.asked else f" about the first {_tokens(verdict.tokens)} only,"
    bound = f"{about} down to TV {verdict.total_variation_upper:.4f}, confidence {verdict.confidence:.1%}"
    if verdict.fresh_draws is None:
        return bound
    return (
        f"{bound}, if the saved draws are of the subject as it is now ({verdict.fresh_draws} fresh draws were compared)"
    )


def _tokens(count: int | None) -> str:
    return "token" if count == 1 else f"{count} tokens"


def _evidence(verdict: Verdict) -> str:
    """E at the end, what it would take, and the p-value that the largest E of all looks amounts to."""
    e = "E is infinite" if verdict.log10_e is None else f"E = 10^{round(verdict.log10_e, 1) + 0.0:.1f}"
    threshold = f"threshold 10^{-math.log10(verdict.alpha):.3g}"
    return f"{e} ({threshold}), p-value {verdict.p_value:.2g}, false-alarm rate {verdict.alpha:g}"


def _variation(verdict: Verdict) -> str:
    bounds = []
    if verdict.total_variation_lower > 0:
        bounds.append(f"at least {verdict.total_variation_lower:.4f}")
    if verdict.total_variation_upper is not None and verdict.total_variation_upper < 1:
        bounds.append(f"at most {verdict.total_variation_upper:.4f}")
    each = " each" if len(bounds) == 2 else ""
    text = "TV not estimated"
    if verdict.total_variation is not None:
        text = f"estimated TV {verdict.total_variation:.4f}"
    return f"{text}; {', '.join(bounds)}, with confidence {verdict.confidence:.1%}{each}" if bounds else text


def _best(verdict: Verdict) -> list[tuple[str, float | None]]:
    """The statistics that carry a bias: the best one, and all that alone would have been enough."""
    if verdict.verdict != "biased" or not verdict.statistics:
        return []
    ranked = sorted(verdict.statistics.items(), key=lambda item: -_number(item[1]))
    return [ranked[0], *(item for item in ranked[1:4] if 10 ** -min(300.0, _number(item[1])) <= verdict.alpha)]


def _number(log10_e: float | None) -> float:
    return float("inf") if log10_e is None else log10_e


def _power(log10_e: float | None) -> str:
    return "infinite, an impossible token" if log10_e is None else f"{log10_e:.1f}"


def _witness(witness: Witness, reference: str, draws: int) -> str:
    count = "" if witness.hits is None else f"in {witness.hits} of {draws} draws, "
    return (
        f"{after(witness.context)}, {came(witness)}: {count}emitted with frequency {witness.emitted:.4f}, "
        f"{reference} {witness.target:.4f}"
    )


def _boundary(token: BoundaryToken) -> str:
    return (
        f"{after(token.context)}, token {token.token} is within rounding of a filter's cut-off "
        f"(target {token.target:.4f}, emitted {token.hits} times): not counted as a bias"
    )
