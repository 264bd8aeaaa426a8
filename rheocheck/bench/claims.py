"""The paper's claims as questions to what was measured: figures with intervals, a verdict, and why.

    agrees           what the claim says of signs and orders, the intervals say too
    differs          an interval says the opposite
    could not tell   neither
    measured         the paper, as we know it, gives nothing to compare

The intervals of one claim hold together with probability 1 - ALPHA (Bonferroni); different claims are not adjusted for
each other. Sizes are shown beside the paper's and judged by nobody: other models, other text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rheocheck.bench.cells import HONEST, LEADS, WARM, plain, probed
from rheocheck.bench.evidence import ClaimEvidence
from rheocheck.bench.intervals import ALPHA, Interval
from rheocheck.bench.paper import Paper

AGREES, DIFFERS, OPEN, MEASURED, TOO_SMALL = "agrees", "differs", "could not tell", "measured", "too small to conclude"
MARGINAL = 0.5  # our reading of "marginal": at most this share of the best gain
RECONSTRUCTED = "the verifier rheo is our reconstruction of RheoVerification"


@dataclass(frozen=True)
class Figure:
    """A number, its interval where it has one, and its unit: tokens, share, ratio; "more" of it, if a difference."""

    label: str
    unit: str
    value: float
    low: float | None = None
    high: float | None = None
    alpha: float | None = None


@dataclass(frozen=True)
class Claim:
    """A question, what the paper says, what was found, and whether they agree."""

    key: str
    question: str
    paper: str
    figures: tuple[Figure, ...]
    verdict: str
    because: str


@dataclass(frozen=True)
class Equal:
    """Of `contexts` trees of RheoSampling, how many are those of plain top-K."""

    temperature: float
    leads: int
    equal: int
    contexts: int


def figure(label: str, unit: str, found: Interval) -> Figure:
    """An interval, named."""
    return Figure(label, unit, found.estimate, found.low, found.high, found.alpha)


def claims(evidence: ClaimEvidence, equal: Sequence[Equal], paper: Paper, *, quick: bool) -> tuple[Claim, ...]:
    """All claims; of a quick run none is judged."""
    found = [
        *(gain(evidence, paper, verifier) for verifier in HONEST),
        matched(evidence, paper),
        verifiers(evidence),
        levels(evidence, paper),
        *(best_leads(evidence, paper, verifier) for verifier in HONEST),
        *(marginal(evidence, paper, verifier) for verifier in HONEST),
        collapse(evidence),
        cold_plain(equal),
        cold_own(equal),
        time(evidence),
    ]
    if quick:
        why = "a quick run shows that the command works"
        found = [Claim(c.key, c.question, c.paper, c.figures, TOO_SMALL, why) for c in found]
    return tuple(found)


def gain(evidence: ClaimEvidence, paper: Paper, verifier: str) -> Claim:
    """More tokens a cycle than top-K at T = 1."""
    more = evidence.contrast([(1.0, probed(1.0, 1, verifier)), (-1.0, plain(1.0))])
    low, high = paper.gain
    size = "within" if low <= more.estimate <= high else "above" if more.estimate > high else "below"
    verdict, because = judged([more])
    return Claim(
        f"gain + {verifier}",
        f"T = 1: does RheoSampling (m = 1) + {verifier} emit more tokens a cycle than top-K?",
        f"yes, by +{low} to +{high} tokens",
        (
            figure("top-K", "tokens", evidence.one(plain(1.0))),
            figure(f"RheoSampling + {verifier}", "tokens", evidence.one(probed(1.0, 1, verifier))),
            figure("difference", "tokens more", more),
        ),
        verdict,
        f"{because}; the estimate is {size} the paper's range",
    )


def matched(evidence: ClaimEvidence, paper: Paper) -> Claim:
    """The gain where top-K accepts about as often as in the paper: small models are less sure of what they say.

    The temperature is chosen by the acceptance of top-K alone, without a look at any gain.
    """
    like = paper.level_acceptance[0]
    T = min((1.0, *WARM), key=lambda T: abs(evidence.one(plain(T), "acceptance").estimate - like))
    more = [
        evidence.contrast([(1.0, probed(T, 1, verifier)), (-1.0, plain(T))], alpha=ALPHA / len(HONEST))
        for verifier in HONEST
    ]
    verdict, because = judged(more)
    return Claim(
        "gain, matched",
        f"At the T where top-K's level acceptance is nearest to the paper's {100 * like:.1f} % (here T = {T:g}): more "
        "tokens a cycle than top-K?",
        f"yes, by +{paper.gain[0]} to +{paper.gain[1]} tokens",
        (
            figure("top-K", "tokens", evidence.one(plain(T))),
            figure("its level acceptance", "share", evidence.one(plain(T), "acceptance")),
            *(figure(f"RheoSampling + {v} minus top-K", "tokens more", m) for v, m in zip(HONEST, more, strict=True)),
        ),
        verdict,
        because,
    )


def verifiers(evidence: ClaimEvidence) -> Claim:
    """RheoVerification against the recursive verifier, on the same builder."""
    more = evidence.contrast([(1.0, probed(1.0, 1, "rheo")), (-1.0, probed(1.0, 1, "recursive"))])
    verdict, because = judged([more])
    return Claim(
        "verifier",
        "T = 1: does RheoVerification emit more tokens a cycle than recursive verification?",
        "its level acceptance is higher",
        (figure("difference", "tokens more", more),),
        verdict,
        f"{because}; {RECONSTRUCTED}",
    )


def levels(evidence: ClaimEvidence, paper: Paper) -> Claim:
    """The order of level acceptance of the three methods."""
    cells = plain(1.0), probed(1.0, 1, "recursive"), probed(1.0, 1, "rheo")
    names = "top-K", "RheoSampling + recursive", "RheoSampling + rheo"
    steps = [
        evidence.contrast([(1.0, above), (-1.0, below)], "acceptance", ALPHA / 2)
        for below, above in zip(cells, cells[1:], strict=False)
    ]
    verdict, because = judged(steps)
    return Claim(
        "levels",
        "T = 1: does level acceptance rise from top-K to RheoSampling + recursive to RheoSampling + rheo?",
        " < ".join(f"{100 * share:.1f} %" for share in paper.level_acceptance),
        tuple(figure(n, "share", evidence.one(c, "acceptance")) for n, c in zip(names, cells, strict=True))
        + tuple(figure(f"step to {n}", "share more", step) for n, step in zip(names[1:], steps, strict=True)),
        verdict,
        f"{because}; {RECONSTRUCTED}",
    )


def best_leads(evidence: ClaimEvidence, paper: Paper, verifier: str) -> Claim:
    """Whether the paper's best m is best here."""
    best, others = paper.best_leads, [m for m in LEADS if m != paper.best_leads]
    steps = [
        evidence.contrast(
            [(1.0, probed(1.0, best, verifier)), (-1.0, probed(1.0, m, verifier))], alpha=ALPHA / len(others)
        )
        for m in others
    ]
    verdict, because = judged(steps)
    return Claim(
        f"best m + {verifier}",
        f"T = 1: is m = {best} the best number of leads (verifier {verifier})?",
        f"m = {best} is best",
        tuple(figure(f"m = {best} minus m = {m}", "tokens more", s) for m, s in zip(others, steps, strict=True)),
        verdict,
        because,
    )


def marginal(evidence: ClaimEvidence, paper: Paper, verifier: str) -> Claim:
    """Whether many leads leave little of the gain: gain(m) <= MARGINAL * gain(best)."""
    best, base = probed(1.0, paper.best_leads, verifier), plain(1.0)
    many = [m for m in LEADS if m >= paper.marginal_from]
    gains = [evidence.contrast([(1.0, probed(1.0, m, verifier)), (-1.0, base)]) for m in many]
    spare = [
        evidence.contrast(
            [(MARGINAL, best), (-1.0, probed(1.0, m, verifier)), (1 - MARGINAL, base)], alpha=ALPHA / len(many)
        )
        for m in many
    ]
    verdict, because = judged(spare)
    return Claim(
        f"many leads + {verifier}",
        f"T = 1: is the gain over top-K marginal from m = {paper.marginal_from} on (verifier {verifier})?",
        f"m >= {paper.marginal_from} is marginal; we read: at most {MARGINAL:g} of the gain of m = {paper.best_leads}",
        tuple(figure(f"gain of m = {m}", "tokens more", g) for m, g in zip(many, gains, strict=True))
        + tuple(
            figure(f"{MARGINAL:g} of the best gain, minus that of m = {m}", "tokens more", s)
            for m, s in zip(many, spare, strict=True)
        ),
        verdict,
        because,
    )


def collapse(evidence: ClaimEvidence) -> Claim:
    """Acceptance at a level falls with T, of one-hot claims more than of RheoSampling's."""
    cold, hot = WARM[0], WARM[-1]
    fall = [(1.0, plain(cold)), (-1.0, plain(hot))]
    less = [(-1.0, probed(cold)), (1.0, probed(hot))]
    figures = [
        evidence.contrast(fall, "acceptance", ALPHA / 2),
        evidence.contrast([*fall, *less], "acceptance", ALPHA / 2),
    ]
    verdict, because = judged(figures)
    names = f"fall of top-K from T = {cold:g} to {hot:g}", "more than that of RheoSampling + rheo by"
    return Claim(
        "collapse",
        "Does the level acceptance of one-hot claims (top-K) fall with temperature, and that of RheoSampling less?",
        "one-hot acceptance collapses as T rises; a sampled probe holds it up",
        tuple(figure(name, "share more", found) for name, found in zip(names, figures, strict=True)),
        verdict,
        because,
    )


def cold_plain(equal: Sequence[Equal]) -> Claim:
    """m = 0 at T = 0."""
    mine = sorted((e for e in equal if e.leads == 0), key=lambda e: e.temperature)
    return Claim(
        "cold m=0",
        "At T = 0, is RheoSampling with m = 0 plain top-K?",
        "yes",
        _shares(mine),
        AGREES if mine[0].equal == mine[0].contexts else DIFFERS,
        _counted(mine),
    )


def cold_own(equal: Sequence[Equal]) -> Claim:
    """m = 1 at T = 0, where drafts are ranked at temperature 1; what T -> 0 comes to is counted beside it."""
    mine = sorted((e for e in equal if e.leads == 1), key=lambda e: e.temperature)
    return Claim(
        "cold m=1",
        "At T = 0, does RheoSampling with m = 1 keep a shape of its own?",
        "yes",
        _shares(mine),
        AGREES if mine[0].equal < mine[0].contexts else DIFFERS,
        _counted(mine),
    )


def _counted(coldest_first: Sequence[Equal]) -> str:
    """The two coldest temperatures in numbers."""
    counts = (f"{e.equal} of {e.contexts} at T = {e.temperature:g}" for e in coldest_first[:2])
    return f"trees equal to those of top-K at the same state: {', '.join(counts)}"


def time(evidence: ClaimEvidence) -> Claim:
    """How much of the gain in tokens a cycle is one in tokens a second, on this machine's CPU."""
    figures, shares = [], []
    for verifier in HONEST:
        cell, base = probed(1.0, 1, verifier), plain(1.0)
        speed, spread = evidence.speed_ratio(cell, base)
        blocks = evidence.one(cell).estimate / evidence.one(base).estimate
        seconds = f"tokens a second, RheoSampling + {verifier} over top-K"
        figures += [
            Figure(f"tokens a cycle, RheoSampling + {verifier} over top-K", "ratio", blocks),
            figure(seconds, "ratio", spread) if spread else Figure(seconds, "ratio", speed),
        ]
        if evidence.contrast([(1.0, cell), (-1.0, base)]).low > 0:
            kept = f"{(speed - 1) / (blocks - 1):.0%}" if speed > 1 else "nothing"
            shares.append(f"{kept} with {verifier}")
    survives = f"of the gain, {' and '.join(shares)} survives in time" if shares else "no gain in tokens is certain"
    return Claim(
        "time",
        "T = 1: how much of the gain in tokens a cycle survives in tokens a second?",
        "no figure known to us",
        tuple(figures),
        MEASURED,
        f"{survives}; eager torch on this machine's CPU, and no other",
    )


def judged(found: Sequence[Interval]) -> tuple[str, str]:
    """Whether all of these, which the claim says are positive, are: (verdict, intervals in words)."""
    together = ", together" if len(found) > 1 else ""
    words = f"{100 * (1 - ALPHA):g} % interval{together} " + ", ".join(f"{i.low:+.3f} .. {i.high:+.3f}" for i in found)
    if any(i.high < 0 for i in found):
        return DIFFERS, words
    if all(i.low > 0 for i in found):
        return AGREES, words
    return OPEN, f"{words}: includes 0"


def _shares(equal: Sequence[Equal]) -> tuple[Figure, ...]:
    return tuple(
        Figure(f"equal trees at T = {e.temperature:g}", "share", e.equal / e.contexts)
        for e in sorted(equal, key=lambda e: -e.temperature)
    )
