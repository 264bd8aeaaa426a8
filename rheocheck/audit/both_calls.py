"""Both doors of a subject: do `subject.sample` and the plain call emit one law?

An audit looks through one of them: draws come from `subject.sample` where there is one, for it is faster; an
enumeration is of the plain call. The program that is shipped may use the other. So a planned number of draws goes
through it, and has an E of its own:

    against a target    the battery of bets, on draws of the other door alone: the null is that of the audit
    without a target    sign bets on pairs, one draw of either door each: the null is that the doors have one law
    an enumerated law   of the plain call: draws of `subject.sample` against it, word by word

The number is fixed before the first draw. The audit and this look share alpha (MAIN and 1 - MAIN of it), so that both
together raise a false alarm with probability <= alpha. Impossible output is a bias of whichever door gives it. A door
that raises is not looked at: the verdict stays one about the other door, and its note says so.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rheocheck.audit.boundaries import edge_p_value
from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.impossible import reason
from rheocheck.audit.session import power_of_ten
from rheocheck.audit.subject import LiveSource
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.stats.emix import EMix
from rheocheck.stats.plan import smallest_detectable_tv

PLAIN_CALL, BATCHED = "the plain call", "subject.sample()"
FEWEST, MOST = 200, 1000  # draws through the other door
SHARE = 20  # one draw in so many of the audit's
MAIN = 0.9  # of alpha goes to the audit's own draws
STEP = 100  # draws between two looks
UNSEEN = 1e-9  # rounding of an enumerated law's sum: less is no probability of other words


@dataclass(frozen=True)
class OtherDoor:
    """What draws through the other door say.

    door         PLAIN_CALL or BATCHED
    draws        how many were made
    log_e        the largest ln E of all looks
    finds        smallest TV of the object that so many draws find
    broken       why the door could not be looked at to the end, or None
    impossible   what no law emits came through it, in words, or None
    interrupted  whether Ctrl-C ended the look
    """

    door: str
    draws: int
    log_e: float
    finds: float
    broken: str | None = None
    impossible: str | None = None
    interrupted: bool = False

    def differs(self, alpha: float) -> bool:
        """Whether this door certainly has another law, at its share of alpha."""
        return self.log_e >= math.log(1 / (alpha * (1 - MAIN)))

    def text(self, alpha: float, than: str) -> str:
        """One sentence for the notes of the verdict; `than` names what the law of this door is compared with."""
        seen = f"{self.draws} draws, E = {power_of_ten(self.log_e)}"
        if self.impossible is not None:
            return f"{self.door} gives impossible output ({self.draws} draws): {self.impossible}"
        if self.differs(alpha):
            return f"{self.door} has another law than {than} ({seen})"
        if self.broken is not None:
            return f"{self.door} was NOT LOOKED AT, and the verdict is not about it: {self.broken}"
        return (
            f"{self.door} was looked at too ({seen} against {than}): a bias from TV {self.finds:.2g} on would be found"
        )


def has_two(subject: Any) -> bool:
    """Whether a subject can be drawn from in two ways."""
    return callable(subject) and getattr(subject, "sample", None) is not None


def share(samples: int) -> int:
    """How many of these draws go through the other door besides."""
    return max(FEWEST, min(MOST, samples // SHARE))


def against_evidence(
    sources: list[LiveSource], evidence: Evidence, draws: int, alpha: float, size: int | None
) -> OtherDoor:
    """Draw through the plain call and hold the draws against the law that fresh evidence knows.

    sources  the plain call; where no law is known, the door that it is compared with too: pairs are drawn
    size     of the vocabulary, if that is known
    """
    broken, interrupted = None, False
    try:
        while evidence.n < draws and not _certain(evidence, alpha):
            drawn = [_drawn(source, min(STEP, draws - evidence.n)) for source in sources]
            for door, found in zip((PLAIN_CALL, BATCHED), drawn, strict=False):
                impossible = _impossible(found, size)
                if impossible is not None:
                    return OtherDoor(door, evidence.n + len(found), math.inf, 1.0, impossible=impossible)
            evidence.add(*drawn)
            evidence.look()
    except InputError as error:
        broken = f"it cannot be used: {error}"
    except KeyboardInterrupt:
        broken, interrupted = "Ctrl-C came before", True
    finds = 1.0 if broken else evidence.detectable()
    return OtherDoor(PLAIN_CALL, evidence.n, evidence.peak, finds, broken, None, interrupted)


def against_words(
    source: LiveSource,
    law: Mapping[Hashable, float],
    draws: int,
    alpha: float,
    *,
    cell: Callable[[Context], Hashable] = lambda word: word,
    never: frozenset[Context] = frozenset(),
    size: int | None = None,
) -> OtherDoor:
    """Draw through `subject.sample` and hold the draws against an enumerated law of words, in one look.

    law    {cell: probability}; what it leaves out of 1 belongs to words that it does not list
    cell   words of one cell are not told apart
    never  words of events of probability zero, which rounded generators hit now and then
    size   of the vocabulary, if that is known
    """
    try:
        drawn = _drawn(source, draws)
    except InputError as error:
        return OtherDoor(BATCHED, 0, 0.0, 1.0, f"it cannot be used: {error}")
    except KeyboardInterrupt:
        return OtherDoor(BATCHED, 0, 0.0, 1.0, "Ctrl-C came before", interrupted=True)
    words = [tuple(word) for word in drawn.words.tolist()]
    possible = [word for word in words if word not in never]
    if edge_p_value(len(words) - len(possible), len(words)) < alpha * MAIN:
        return OtherDoor(BATCHED, draws, math.inf, 1.0)
    impossible = _impossible(drawn.where(np.array([word not in never for word in words])), size)
    if impossible is not None:
        return OtherDoor(BATCHED, draws, math.inf, 1.0, impossible=impossible)
    p = np.array([*law.values(), max(0.0, 1 - math.fsum(law.values()))])
    p[-1] = p[-1] if p[-1] > UNSEEN else 0.0
    number = {known: i for i, known in enumerate(law)}
    counts = np.bincount([number.get(cell(word), len(law)) for word in possible], minlength=len(p))
    found = EMix(p / p.sum()).log_e(counts)
    return OtherDoor(BATCHED, draws, found, smallest_detectable_tv(p / p.sum(), draws, alpha * (1 - MAIN)))


def _certain(evidence: Evidence, alpha: float) -> bool:
    return evidence.peak >= math.log(1 / (alpha * (1 - MAIN)))


def _impossible(drawn: Draws, size: int | None) -> str | None:
    """In words, the first output of these draws that no law over the vocabulary emits."""
    tokens = (x for word in drawn.words.tolist() for x in word)
    return next((why for why in (reason(x, size, drawn.failure) for x in tokens) if why is not None), None)


def _drawn(source: LiveSource, count: int) -> Draws:
    parts: list[Draws] = []
    while (have := sum(map(len, parts))) < count:
        parts.append(source.draw(min(source.batch, count - have)))
    return Draws.joined(parts, source.tokens)
