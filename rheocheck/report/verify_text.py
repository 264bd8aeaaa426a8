"""An exact verification as a few lines for a terminal."""

from fractions import Fraction

from rheocheck.audit import Shape, Verification, spaced


def verify_text(result: Verification, *, subject: str, shape: Shape) -> str:
    """The verdict first, then what it rests on."""
    sizes = f"m={shape.leads} K={shape.branching} D={shape.depth} N={shape.nodes} F={shape.width}"
    lines = [f"{result.verdict}: {subject} ({sizes})"]

    def say(name: str, text: str) -> None:
        lines.append(f"  {name:<17}{text}")

    words = f"one cycle completed to {shape.depth + 1} tokens"
    if result.tokens:
        words = f"joint law of {result.tokens} tokens"
    if result.total_variation is not None:
        say("total variation", f"{number(result.total_variation)}, {words}, by {_method(result)}")
    elif result.method == "interval":
        say("total variation", f"between {number(result.lower)} and {number(result.upper)}, {words}")
        say("covered", f"{number(result.covered)} of the probability, then stopped ({result.stopped})")
        if result.verdict == "inconclusive":
            say("to try", "a larger budget, a smaller shape, or --method certificate")
    if result.reason:
        say("cannot say", result.reason)
    for assumed in result.assumes:
        say("assumes", assumed)
    if result.first_token_total_variation is not None:
        say("first token", f"total variation {number(result.first_token_total_variation)}")
    for length, variation in sorted((result.first_tokens or {}).items()):
        if length > 1:
            say(f"first {length} tokens", f"total variation {number(variation)}")
    if result.witness:
        after = spaced(result.witness.context) or "the start"
        what = "the prefix comes with at least" if result.method == "interval" else "emitted"
        emitted, target = number(result.witness.emitted), number(result.witness.target)
        say("witness", f"after {after}, token {result.witness.token}: {what} {emitted}, target {target}")
    if result.expected_length is not None:
        say("block length", f"{number(result.expected_length)} tokens expected")
    if result.acceptance and not result.optimal_acceptance:
        say("acceptance", f"{float(result.acceptance.root):.4f} at the root; no time to compute the optimum")
    if result.acceptance and result.optimal_acceptance:
        real, best = result.acceptance, result.optimal_acceptance
        say("acceptance", f"{float(real.root):.4f} at the root, optimal {float(best.root):.4f}")
        say("", f"{float(real.cycle):.4f} per node visited, optimal {float(best.cycle):.4f}")
        if real.cycle > best.cycle or real.root > best.root:
            say("", "higher than any lossless verifier can reach: it accepts drafts that it must reject")
    if result.false_claims is not None:
        say("claims", "all honest" if not result.false_claims else f"{result.false_claims} false")
    if result.fallbacks:
        say("fallbacks", f"{result.fallbacks} configurations leave a residual of zero mass")
    if result.classes:
        say("work", f"{result.classes} classes for {result.assignments or '?'} assignments, {result.seconds:.2f} s")
    return "\n".join(lines)


def number(x: Fraction) -> str:
    """A rational for reading: exact when short, else rounded (~)."""
    if x.denominator.bit_length() > 60:  # far too long to read, and str() refuses more than 4300 digits
        return f"~{float(x):.6g}"
    text = str(x)
    if len(text) <= 9:
        return text if x.denominator == 1 else f"{text} = {float(x):.6g}"
    return f"~{float(x):.6g}"


def _method(result: Verification) -> str:
    return "certificate" if result.method == "certificate" else "exact enumeration"
