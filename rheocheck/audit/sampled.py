"""The sampled audit: draw from a subject, compare with a law or with a second subject, say what is certain.

    biased         p < alpha, or a hit on a token of probability 0; with a witness
    no_bias_found  p >= alpha, and a bias of `tv` would have been found with power 99.9 %
    inconclusive   p >= alpha, but the samples cannot find a bias of `tv`

Null and statistic: `rheocheck.stats.chi_square`, at a sample size fixed beforehand.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.subject import LiveSource, RecordedSource, Source, load_subject, seed_globals
from rheocheck.audit.target import EXACT_RTOL, FLOAT_RTOL, JointLaw, as_target, joint_law, load_target
from rheocheck.audit.verdict import Boundary, Verdict, Witness
from rheocheck.audit.witness import witness_against_law, witness_against_sample
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats import (
    ChiSquare,
    chi_square,
    chi_square_two_sample,
    samples_needed,
    smallest_detectable_tv,
    smallest_detectable_tv_two_sample,
    total_variation,
    tv_upper_bound,
    tv_upper_bound_two_sample,
)

Ints = NDArray[np.int64]
DEFAULT_TV = 0.02
DELTA = 1e-3  # 1 - confidence of the upper bound on TV
PILOT = 500  # draws of a baseline that only choose the sample size


def audit(
    subject: Any,
    *,
    target: Any = None,
    baseline: Any = None,
    context: Context = (),
    tokens: int = 4,
    samples: int | None = None,
    alpha: float = 1e-6,
    tv: float | None = None,
    rtol: float | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Verdict:
    """Whether `subject` emits the law of `target` (or of `baseline`) over `tokens` tokens after `context`.

    subject   a function (context, n_tokens) -> ids, recorded samples, or how a command line would name one
    target    a Pair, a law(context) -> probabilities, or how a command line would name one
    baseline  a second subject: the same engine with speculation off; exactly one of target and baseline
    samples   draws of each subject; by default as many as finding `tv` needs, or all that are recorded
    tv        the bias worth finding: 0.02, or with `samples` given what these can find
    rtol      tolerance of the target's law per token: 0 for a Pair, 1e-6 for a float law
    progress  a progress bar on stderr: yes, no, or (None) when stderr is a terminal

    Ctrl-C while drawing ends the run early: the verdict is about the draws made so far. Raises InputError.
    """
    context = tuple(context)
    _check_arguments(target, baseline, context, tokens, samples, alpha, tv, rtol, seed)
    if isinstance(subject, str):
        subject = load_subject(subject, {}, context)
    try:
        if target is not None:
            return _against_law(subject, target, context, tokens, samples, alpha, tv, rtol, seed, progress)
        if isinstance(baseline, str):
            baseline = load_subject(baseline, {}, context, what="--baseline")
        return _against_baseline(subject, baseline, context, tokens, samples, alpha, tv, seed, progress)
    except InputError:
        raise
    except ValueError as error:  # `stats` may not know our exceptions; its messages are written for the user
        raise InputError(str(error)) from error


def _against_law(
    subject: Any, target: Any, context: Context, tokens: int, samples: int | None, alpha: float,
    tv: float | None, rtol: float | None, seed: int, progress: bool | None,
) -> Verdict:  # fmt: skip
    target = load_target(target, {}, context) if isinstance(target, str) else as_target(target, context)
    rtol = rtol if rtol is not None else EXACT_RTOL if target.exact else FLOAT_RTOL
    joint = joint_law(target, context, tokens, rtol)
    rtol = (1 + rtol) ** tokens - 1
    law = joint.of_cells(joint.law)
    source = _source(subject, context, tokens, joint.vocab_size, seed, 0)
    given = samples or (source.batch if isinstance(source, RecordedSource) else None)
    n = given or samples_needed(law, tv or DEFAULT_TV, alpha, rtol=rtol)
    tv = tv or _asked(smallest_detectable_tv(law, n, alpha, rtol=rtol) if given else DEFAULT_TV)
    (words,), note = _draw([source], n, seed, progress)
    counts = joint.of_cells(np.bincount(joint.index(words), minlength=len(law)))
    result = chi_square(counts, law, rtol=rtol)
    return _verdict(
        result,
        total_variation(counts / max(1, len(words)), law),
        tv_upper_bound(counts, law, delta=DELTA, rtol=rtol),
        smallest_detectable_tv(law, len(words), alpha, rtol=rtol),
        object=_object(tokens, context) + (", cut at boundary tokens" if joint.boundary else ""),
        reference="target",
        samples=len(words), alpha=alpha, tv=tv, seed=_reported_seed([source], seed), notes=note,
        witness=lambda: witness_against_law(words, joint, context),
        boundary_tokens=_boundary_tokens(words, joint, context),
    )  # fmt: skip


def _against_baseline(
    subject: Any, baseline: Any, context: Context, tokens: int, samples: int | None, alpha: float,
    tv: float | None, seed: int, progress: bool | None,
) -> Verdict:  # fmt: skip
    sources = [_source(s, context, tokens, None, seed, i) for i, s in enumerate((subject, baseline))]
    recorded = [s.batch for s in sources if isinstance(s, RecordedSource)]
    given = samples or (min(recorded) if recorded else None)
    n = given or _size_from_pilot(baseline, context, tokens, alpha, tv or DEFAULT_TV, seed)
    (words, reference), note = _draw(sources, n, seed, progress)
    counts = _counts_of_both(words, reference)
    finds = smallest_detectable_tv_two_sample(*counts, alpha)
    return _verdict(
        chi_square_two_sample(*counts),
        total_variation(*(c / max(1, c.sum()) for c in counts)),
        tv_upper_bound_two_sample(*counts, delta=DELTA),
        finds,
        object=_object(tokens, context), reference="baseline",
        samples=len(words), alpha=alpha, tv=tv or _asked(finds if given and not note else DEFAULT_TV),
        seed=_reported_seed(sources, seed), notes=note,
        witness=lambda: witness_against_sample(words, reference, context),
    )  # fmt: skip


def _verdict(
    result: ChiSquare, estimate: float, upper: float, finds: float, *, samples: int, tv: float, alpha: float,
    notes: tuple[str, ...], witness: Any, **rest: Any,
) -> Verdict:  # fmt: skip
    found: Witness | None = None
    if result.p_value < alpha:
        word, found = "biased", witness()
    elif finds <= tv and finds < 1:
        word = "no_bias_found"
    else:
        word = "inconclusive"
        finding = f"any bias from TV {finds:.3g} on" if finds < 1 else "no bias for certain"
        notes += (f"{samples} draws find {finding}, asked was {tv:.3g}: draw more, or raise --tv",)
    return Verdict(
        verdict=word, method="sampled", total_variation=estimate if samples else None,
        total_variation_upper=upper, confidence=1 - DELTA, p_value=result.p_value if samples else None,
        e_value=None, samples=samples, paths=None,
        smallest_detectable_tv=finds, alpha=alpha, tv=tv, witness=found, notes=notes, **rest,
    )  # fmt: skip


def _source(subject: Any, context: Context, tokens: int, size: int | None, seed: int, stream: int) -> Source:
    if isinstance(subject, RecordedSamples):
        return RecordedSource(subject, tokens, size)
    if not callable(subject):
        raise InputError(
            f"a subject must be a function (context, n_tokens) -> ids, got {type(subject).__name__}: wrap it in one"
        )
    return LiveSource(subject, context, tokens, size, seed, stream)


def _draw(sources: list[Source], n: int, seed: int, progress: bool | None) -> tuple[list[Ints], tuple[str, ...]]:
    """n draws of every source, taken in turns; fewer, and a note that says so, after Ctrl-C."""
    from tqdm import tqdm

    for source in sources:
        if isinstance(source, RecordedSource) and source.batch < n:
            raise InputError(f"--samples must be at most the recorded {source.batch} draws, got {n}: lower it")
    if not all(source.seeded for source in sources):
        seed_globals(seed)
    drawn: list[list[Ints]] = [[] for _ in sources]
    done = [0] * len(sources)
    notes: tuple[str, ...] = ()
    with tqdm(total=n, unit="draw", desc="drawing", disable=None if progress is None else not progress) as bar:
        try:
            while min(done) < n:
                i = done.index(min(done))  # whoever is behind
                rows = sources[i].draw(min(sources[i].batch, n - done[i]))
                drawn[i].append(rows)
                done[i] += len(rows)
                bar.update(min(done) - bar.n)
        except KeyboardInterrupt:
            notes = (f"interrupted after {min(done)} of {n} draws: the verdict is about these",)
    kept = min(done)
    tokens = sources[0].tokens
    return [np.concatenate([*rows, np.zeros((0, tokens), np.int64)])[:kept] for rows in drawn], notes


def _size_from_pilot(baseline: Any, context: Context, tokens: int, alpha: float, tv: float, seed: int) -> int:
    """Draws per arm for two samples: twice the one-sample number for a law like the baseline's.

    The law is smoothed from a pilot that is thrown away afterwards: the size then depends on nothing that is
    tested. Seen words get count + 1/2; one more cell stands for all unseen ones.
    """
    pilot = _source(baseline, context, tokens, None, seed, 2)
    if not pilot.seeded:
        seed_globals(seed)
    words = np.concatenate([pilot.draw(min(pilot.batch, PILOT)) for _ in range(PILOT // pilot.batch)])
    counts = np.unique(words, axis=0, return_counts=True)[1]
    law = np.append(counts + 0.5, 0.5)
    return 2 * samples_needed(law / law.sum(), tv, alpha)


def _counts_of_both(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """How often each word that was seen at all came from each of two samples [n, L]."""
    _, which = np.unique(np.concatenate([a, b]), axis=0, return_inverse=True)
    which, cells = which.ravel(), int(which.max(initial=0)) + 1
    return np.bincount(which[: len(a)], minlength=cells), np.bincount(which[len(a) :], minlength=cells)


def _boundary_tokens(words: Ints, joint: JointLaw, context: Context) -> tuple[Boundary, ...]:
    found = []
    for prefix, tokens in sorted(joint.boundary.items(), key=lambda item: (len(item[0]), item[0])):
        after = words[(words[:, : len(prefix)] == prefix).all(axis=1), len(prefix)]
        for x in sorted(tokens):
            hits = int((after == x).sum())
            found.append(Boundary(context + prefix, x, float(joint.rows[prefix][x]), hits))
    return tuple(found)


def _object(tokens: int, context: Context) -> str:
    prefix = "first token" if tokens == 1 else f"joint prefix of {tokens} tokens"
    return f'{prefix} after context "{" ".join(map(str, context))}"'


def _asked(finds: float) -> float:
    """Without --tv, the bias asked about is what the samples can find; if they can find none, 0.02."""
    return finds if finds < 1 else DEFAULT_TV


def _reported_seed(sources: list[Source], seed: int) -> int | str | None:
    if not all(source.seeded for source in sources):
        return "best effort"
    return None if all(isinstance(source, RecordedSource) for source in sources) else seed


def _check_arguments(
    target: Any, baseline: Any, context: Context, tokens: Any, samples: Any, alpha: float,
    tv: float | None, rtol: float | None, seed: Any,
) -> None:  # fmt: skip
    if (target is None) == (baseline is None):
        came = "neither" if target is None else "both"
        raise InputError(
            f"exactly one of --target and --baseline must be given, got {came}: name a law, or a second subject"
        )
    if not all(type(x) is int and x >= 0 for x in context):
        raise InputError(f'the context must be token ids >= 0, got {context}: try --context "0 1"')
    for name, value, least in (("tokens", tokens, 1), ("samples", samples, 1), ("seed", seed, 0)):
        if value is not None and (type(value) is not int or value < least):
            raise InputError(f"--{name} must be an integer >= {least}, got {value!r}: raise it")
    for name, level in (("alpha", alpha), ("tv", tv)):
        if level is not None and not 0 < level < 1:
            raise InputError(f"--{name} must lie strictly between 0 and 1, got {level!r}: try 0.01")
    if rtol is not None and not 0 <= rtol < 1:
        raise InputError(f"--rtol must lie in [0, 1), got {rtol!r}: 1e-6 suits a float32 law")
