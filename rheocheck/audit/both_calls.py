"""Both doors of a subject: do `subject.sample` and the plain call emit one law?

An audit draws through `subject.sample` where there is one, for it is faster; the program that is shipped may call the
subject itself. So a planned share of draws goes through the other door, and has a tally and an E of its own:

    against a target    the battery of bets, on draws of the other door alone: the null is that of the audit
    without a target    sign bets on pairs, one draw of either door each: the null is that the doors have one law
    an enumerated law   of the plain call: draws of `subject.sample` against it, word by word

The share is fixed before the first draw. The audit and this look share alpha (MAIN and 1 - MAIN of it), so that both
together raise a false alarm with probability <= alpha.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rheocheck.audit.against_baseline import AgainstBaseline, Pilot
from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.session import power_of_ten
from rheocheck.audit.subject import BATCH, LiveSource
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.emix import EMix
from rheocheck.stats.plan import smallest_detectable_tv

FEWEST, MOST = 200, 1000  # draws through the other door
SHARE = 20  # one draw in so many of the audit's
MAIN = 0.9  # of alpha goes to the audit's own draws
STEP = 100  # draws between two looks
UNSEEN = 1e-9  # rounding of an enumerated law's sum: less is no probability of other words


@dataclass(frozen=True)
class OtherDoor:
    """What draws through the other door say.

    door    "the plain call" or "subject.sample()"
    draws   how many were made; 0 where the door cannot be used
    log_e   the largest ln E of all looks
    finds   smallest TV of the object that so many draws find
    broken  why the door cannot be used, or None
    """

    door: str
    draws: int
    log_e: float
    finds: float
    broken: str | None = None

    def differs(self, alpha: float) -> bool:
        """Whether this door certainly has another law, at its share of alpha."""
        return self.log_e >= math.log(1 / (alpha * (1 - MAIN)))

    def text(self, alpha: float, than: str) -> str:
        """One sentence for the notes of the verdict; `than` names what the law of this door is compared with."""
        if self.broken is not None:
            return f"{self.door} was not looked at, it cannot be used: {self.broken}"
        seen = f"{self.draws} draws, E = {power_of_ten(self.log_e)}"
        if self.differs(alpha):
            return f"{self.door} has another law than {than} ({seen})"
        return (
            f"{self.door} was looked at too ({seen} against {than}): a bias from TV {self.finds:.2g} on would be found"
        )


def has_two(subject: Any) -> bool:
    """Whether a subject can be drawn from in two ways."""
    return callable(subject) and getattr(subject, "sample", None) is not None


def share(samples: int) -> int:
    """How many of these draws go through the other door besides."""
    return max(FEWEST, min(MOST, samples // SHARE))


def against_evidence(source: LiveSource, evidence: Evidence, draws: int, alpha: float, door: str) -> OtherDoor:
    """Draw through `source` and hold the draws against the law that fresh evidence knows."""
    return _looked([source], evidence, draws, alpha, door)


def against_each_other(
    other: LiveSource, first: LiveSource, draws: int, alpha: float, door: str, *, context: Context, tv: float,
    delta: float, length: int,
) -> OtherDoor:  # fmt: skip
    """Draw through both doors in turns and hold the draws against each other: no law is known.

    length  tokens of the audit's object, which the bets here are on as well
    """
    pilot = Pilot.of(first.draw(BATCH).words[:, :length], asked=True)
    evidence = AgainstBaseline(pilot, context, first.tokens, tv=tv, alpha=alpha, delta=delta)
    return _looked([other, first], evidence, draws, alpha, door)


def against_words(
    source: LiveSource, law: Mapping[Context, float], draws: int, alpha: float, door: str, *, rtol: float = 0.0
) -> OtherDoor:
    """Draw through `source` and hold the draws against the law of whole words that an enumeration found, in one look.

    What the law leaves out of 1 belongs to words that it does not list; each probability may be rtol too small.
    """
    p = np.array([*law.values(), max(0.0, 1 - sum(law.values()))])
    p[-1] = p[-1] if p[-1] > UNSEEN else 0.0
    number = {word: i for i, word in enumerate(law)}
    try:
        words = _drawn(source, draws).words
    except InputError as error:
        return OtherDoor(door, 0, 0.0, 1.0, str(error))
    counts = np.bincount([number.get(tuple(word), len(law)) for word in words.tolist()], minlength=len(p))
    found = EMix(p / p.sum(), rtol=rtol).log_e(counts)
    return OtherDoor(door, draws, found, smallest_detectable_tv(p / p.sum(), draws, alpha * (1 - MAIN)))


def _looked(sources: list[LiveSource], evidence: Evidence, draws: int, alpha: float, door: str) -> OtherDoor:
    """Draw in steps, looking after each, until decided or all are drawn."""
    try:
        while evidence.n < draws:
            step = min(STEP, draws - evidence.n)
            evidence.add(*(_drawn(source, step) for source in sources))
            evidence.look()
            if evidence.peak >= math.log(1 / (alpha * (1 - MAIN))):
                break
    except InputError as error:
        return OtherDoor(door, evidence.n, evidence.peak, 1.0, str(error))
    return OtherDoor(door, evidence.n, evidence.peak, evidence.detectable())


def _drawn(source: LiveSource, count: int) -> Draws:
    parts: list[Draws] = []
    while (have := sum(map(len, parts))) < count:
        parts.append(source.draw(min(source.batch, count - have)))
    return Draws.joined(parts, source.tokens)
