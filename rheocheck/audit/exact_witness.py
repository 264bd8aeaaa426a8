"""The witness of an exact bias: what comes too often, and a sequence of random choices that shows why.

Errors of a context add up to 0, so where something comes too rarely something else comes too often; only the latter can
be shown by a path. S: enumerated probability of a prefix, r: what is not enumerated. The error that is certain,

    S(c x) - (S(c) + r) t(x | c),

is maximised over contexts c and tokens x; ties go to the shortest, then the smallest context.

The path: of all runs that emit a word that comes too often, those with the fewest choices use up the target's
probability first (an accepted draft is shorter than its replacement), the heavier ones of them before the lighter.
Shown is the run that goes beyond it by most. So it leads through the wrong replacement, not through the honest
acceptance that emits the same word.
"""

import shlex
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from rheocheck.audit.difference import Difference
from rheocheck.audit.impossible import shown_word
from rheocheck.audit.references import Reference, prefix_masses
from rheocheck.audit.verdict import ShownPath, ShownStep, Witness
from rheocheck.core.pair import Context, spaced
from rheocheck.intercept import Enumeration, Path, reused
from rheocheck.intercept.words import is_impossible


def exact_witness(found: Enumeration, reference: Reference, least: float = 0.0) -> Witness | None:
    """The largest certain error in the conditional law of the next token, without the audited context in front.

    Impossible output of a probability above `least` comes before all other errors: it takes no comparing. `emitted` is
    the conditional probability, of an interval what it is at least. None where a cut-short enumeration makes no single
    error certain.
    """
    masses = prefix_masses({word: float(mass) for word, mass in found.law.items()})
    unseen, best = float(found.unseen), []
    for prefix, mass in masses.items():
        target = reference.conditional(prefix[:-1], prefix[-1]) if prefix and mass else None
        if target is not None:
            before = masses[prefix[:-1]] + unseen
            best.append((target * before - mass, len(prefix), prefix, mass / before, target))
    impossible = [one for one in best if is_impossible(one[2][-1:], reference.size) and -one[0] > least]
    error, _, prefix, emitted, target = min(impossible or best, default=(0.0, 0, (), 0.0, 0.0))
    return Witness(prefix[:-1], prefix[-1], emitted, target) if error < 0 else None


def unexplained_path(
    found: Enumeration, reference: Reference, seen: Difference, witness: Witness | None
) -> Path | None:
    """A path that the target does not explain, to a word that comes too often, through the witness if there is one."""
    start = (*witness.context, witness.token) if witness else ()
    through = [word for word in found.endings if word[: len(start)] == start]
    cells = {word: reference.cell(word) for word in through}
    often = [w for w in through if seen.emitted.get(cells[w], 0.0) > seen.reference.get(cells[w], 0.0)]
    alike: dict[Hashable, list[Path]] = {}
    for word in often or through:
        alike.setdefault(cells[word], []).extend(found.paths_to(word))
    best = [_beyond(paths, seen.reference.get(cell, 0.0)) for cell, paths in alike.items()]
    return min(best, key=lambda one: (-one[0], _order(one[1])), default=(0.0, None))[1]


def _beyond(paths: list[Path], explained: float) -> tuple[float, Path]:
    """The path that goes furthest beyond what is explained, and by how much."""
    total, found = -explained, []
    for path in sorted(paths, key=_order):
        total += float(path.weight)
        found.append((round(min(float(path.weight), total), 12), path))
    return max(found, key=lambda one: one[0])  # of equals the first


def _order(path: Path) -> tuple[int, float, Context]:
    return len(path.choices), -float(path.weight), path.word


def shown_path(path: Path, replay: str) -> ShownPath:
    """A path as a verdict keeps it: plain numbers, and how to run it again."""
    reuses = reused(path.choices)
    last = {c.uniform: i for i, c in enumerate(path.choices)}
    said = {last[reuse.uniform]: f"; {reuse}" for reuse in reuses}
    steps = tuple(
        ShownStep(c.index, c.outcomes, float(c.weight), c.what + said.get(i, ""), c.line, c.caller)
        for i, c in enumerate(path.choices)
    )
    text, stop = shown_word(path.word, path.failure)
    return ShownPath(text, float(path.weight), steps, replay, stop, tuple(map(str, reuses)))


def replay_command(
    choices: Sequence[int], context: Context, tokens: int, seed: int, question: Mapping[str, Any] | None,
    eos: int | None = None,
) -> str:  # fmt: skip
    """How to run the subject through these choices: a command where it was named, else a line of Python."""
    indices = ",".join(map(str, choices))
    if question is None or not isinstance(question.get("subject"), str):
        end = "" if eos is None else f", eos={eos}"
        return f"rheocheck.intercept.replay(subject, [{indices}], context={context}, tokens={tokens}, seed={seed}{end})"
    words = ["rheocheck", "audit", question["subject"]]
    words += ["--target", question["target"]] if isinstance(question.get("target"), str) else []
    for key, value in (question.get("settings") or {}).items():
        words += ["--set", f"{key}={value}"]
    words += ["--context", spaced(context)] if context else []
    words += ["--tokens", str(tokens)] + (["--seed", str(seed)] if seed else [])
    words += [] if eos is None else ["--eos", str(eos)]
    return shlex.join([*words, "--replay", indices])
