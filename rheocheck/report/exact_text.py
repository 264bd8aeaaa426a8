"""The verdict of an enumeration as a few lines for a terminal."""

import math
from collections.abc import Iterator, Sequence

from rheocheck.audit import BoundaryFault, BoundaryToken, Context, ShownPath, ShownStep, Verdict, Witness, spaced

HEADLINES = {
    "lossless": "LOSSLESS",
    "no_bias_found": "NO BIAS FOUND",
    "biased": "BIASED",
    "inconclusive": "INCONCLUSIVE",
}


def exact_text(verdict: Verdict) -> str:
    """The verdict first, then what it rests on, one fact a line; no trailing newline."""
    down = _excluded(verdict) if verdict.verdict == "no_bias_found" else ""
    lines = [
        f"{HEADLINES[verdict.verdict]}{down}",
        f"  {verdict.object}, against the {verdict.reference}",
        f"  {_variation(verdict)}",
        f"  {_work(verdict)}",
    ]
    if verdict.witness is not None:
        lines.append(f"  witness: {_witness(verdict.witness, verdict.reference, verdict.method)}")
    if verdict.path is not None:
        lines += [f"  {line}" for line in path_lines(verdict.path)]
        lines.append(f"  replay: {verdict.path.replay}")
    if verdict.confirmation:
        lines += [f"  {verdict.confirmation}", f"  seed: {verdict.seed}"]
    if verdict.verdict == "no_bias_found" and verdict.plain_runs:
        lines.append(f"  {_plain_runs(verdict)}")
    lines += [f"  boundary fault: {text}" for text in _faults(verdict.boundary_faults, verdict.reference)]
    lines += [f"  boundary token: {_boundary(token)}" for token in verdict.boundary_tokens]
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def path_lines(path: ShownPath) -> list[str]:
    """A path, one random choice a line."""
    count = len(path.choices)
    if not count:
        return [f"no random choice at all: always emits {emits(path)}"]
    choices = "1 random choice" if count == 1 else f"{count} random choices"
    head = f"path: {choices}, probability {number(path.weight)}, emits {emits(path)}"
    width = max(len(_branch(step)) for step in path.choices)
    steps = [f"  {_branch(step):<{width}}  {step.what}  ({_place(step)})" for step in path.choices]
    return [head, *steps]


def emits(path: ShownPath | BoundaryFault) -> str:
    """What a path emits: a word, and where it is too short why."""
    parts = ([spaced(path.word)] if path.word else []) + ([path.stop] if path.stop else [])
    return ", then ".join(parts)


def came(witness: Witness) -> str:
    """What came where a token should be."""
    if witness.token is None:
        return str(witness.impossible)
    return f"token {witness.token}" + (f", {witness.impossible}" if witness.impossible else "")


def after(context: Context) -> str:
    """A context in a sentence."""
    return f'after context "{spaced(context)}"'


def _branch(step: ShownStep) -> str:
    return f"{step.index} of 0..{step.outcomes - 1}, probability {number(step.weight)}"


def _excluded(verdict: Verdict) -> str:
    """What the headline claims: never more than was established."""
    down = f" down to TV {_tolerance(verdict)}, by enumeration"
    if not verdict.plain_runs:
        return f"{down}; hidden randomness was not looked for"
    hidden = f"hidden randomness of a call: at most TV {rounded_up(verdict.hidden_tv or 0.0)}"
    return f"{down}; {hidden}, by {verdict.plain_runs} plain runs"


def _plain_runs(verdict: Verdict) -> str:
    count = "1 plain run" if verdict.plain_runs == 1 else f"{verdict.plain_runs} plain runs"
    processes = verdict.plain_processes or 1
    where = f" in {processes} processes" if processes > 1 else ""
    word = "another impossible word" if verdict.boundary_faults else "an impossible word"
    return (
        f"{count} of the real code{where} fit this law: hidden randomness of a call could change it by at most "
        f"TV {rounded_up(verdict.hidden_tv or 0.0)} (confidence 1 - 1e-6); a hidden event of probability "
        f"{rounded_up(verdict.hidden_event or 0.0)} that emits {word} would have been seen; "
        f"what a process draws once, at import, was seen only {'once' if processes == 1 else f'{processes} times'}"
    )


def _place(step: ShownStep) -> str:
    return step.line if step.caller is None else f"{step.line}, called from {step.caller}"


def _variation(verdict: Verdict) -> str:
    if verdict.total_variation is None:
        assert verdict.total_variation_upper is not None  # an interval has two ends
        lower = verdict.total_variation_lower if verdict.total_variation_lower > (verdict.tolerance or 0.0) else 0.0
        ends = f"{number(lower)} and {number(verdict.total_variation_upper)}"
        return f"total variation between {ends}, for certain"
    text = f"total variation {number(verdict.total_variation)}"
    if verdict.total_variation > (verdict.tolerance or 0.0):
        return f"{text}, above the float tolerance {_tolerance(verdict)}"
    if verdict.verdict != "no_bias_found":
        return f"{text}; what is impossible under the {verdict.reference} comes with more than the float tolerance"
    return f"total variation below the float tolerance {_tolerance(verdict)}"  # its digits are the processor's


def _tolerance(verdict: Verdict) -> str:
    return f"{verdict.tolerance or 0.0:.2g}"


def _work(verdict: Verdict) -> str:
    paths = "1 path" if verdict.paths == 1 else f"{verdict.paths} paths"
    work = f"{paths} of random choices, {verdict.seconds or 0.0:.2f} s"
    if verdict.unseen:
        return f"{work}; probability {number(verdict.unseen)} not enumerated ({verdict.stopped})"
    return f"{work}; all of the probability"


def _witness(witness: Witness, reference: str, method: str) -> str:
    least = "at least " if method == "interval" else ""
    return (
        f"{after(witness.context)}, {came(witness)}: emitted with probability {least}"
        f"{number(witness.emitted)}, {reference} {number(witness.target)}"
    )


def _faults(faults: Sequence[BoundaryFault], reference: str) -> Iterator[str]:
    """One line for every line of code: the first word that is emitted there, and how many others are."""
    by_line: dict[str, list[BoundaryFault]] = {}
    for fault in faults:
        by_line.setdefault(fault.line, []).append(fault)
    for line, alike in by_line.items():
        others = len({fault.word for fault in alike}) - 1
        more = f" (and {others} other word{'s' if others > 1 else ''})" if others else ""
        yield (
            f"{emits(alike[0])}{more} is emitted only on an event of probability zero ({alike[0].what}, {line}), and "
            f"never by the {reference}; rounded random numbers can hit that event. TV does not count it"
        )


def _boundary(token: BoundaryToken) -> str:
    return (
        f"{after(token.context)}, token {token.token} is within rounding of a filter's cut-off "
        f"(target {number(token.target)}, emitted {number(token.emitted or 0.0)}): not counted as a bias"
    )


def number(x: float) -> str:
    """Four decimals, or an exponent where they would show nothing."""
    return f"{x:.4f}" if x >= 1e-3 else f"{x:.2g}"


def rounded_up(x: float) -> str:
    """Two digits: an upper bound stays one."""
    if not 0 < x < 1:
        return f"{x:g}"
    unit = 10.0 ** (math.floor(math.log10(x)) - 1)
    return f"{min(1.0, math.ceil(x / unit - 1e-9) * unit):.2g}"
