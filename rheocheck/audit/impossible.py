"""Impossible output: what no law over the vocabulary emits. One hit is a proof of bias, whatever the law.

    an id outside the vocabulary   too large, or negative
    the end of the text            fewer tokens than asked, and no end-of-text token
    no output                      the call raised, since its probabilities were none (`intercept.complaints`)

In draws the words that are none are kept apart, so that everything that counts and bets meets words of the law only;
what it then says of the others is not about all draws any more, and is not asked: the verdict is certain.

A baseline says nothing about its vocabulary: an id that is too large is merely one that it never emits, unless it is
beyond any vocabulary. What is impossible for every law must not come from a baseline either: then there is nothing to
compare with.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rheocheck.audit.evidence import Draws, Evidence
from rheocheck.audit.objects import object_name
from rheocheck.audit.tally import Tally
from rheocheck.audit.verdict import BoundaryToken, Witness
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.intercept import Enumeration
from rheocheck.intercept.words import ENDED, FAILED, impossible, is_impossible, text_of
from rheocheck.stats.bounds import tv_lower

END = "the end of the text"
NAME = "impossible output"  # the statistic


def reason(token: int, size: int | None, failure: str | None = None) -> str | None:
    """Why no law over 0..size-1 emits this token; None if one may."""
    if token == FAILED:
        return f"no output: {failure or 'its probabilities were none'}"
    if token == ENDED:
        return END
    if not is_impossible((token,), size):
        return None
    if size is not None:
        return f"an id outside 0..{size - 1}"
    return "a negative id" if token < 0 else "an id beyond any vocabulary"


def shown_word(word: Context, failure: str | None = None) -> tuple[Context, str | None]:
    """The ids of a word, and in words why they are fewer than was asked; None where they are not."""
    text = text_of(word)
    return text, None if len(text) == len(word) else reason(word[len(text)], None, failure)


def described(witness: Witness, size: int | None, failure: str | None = None) -> Witness:
    """A witness that says in words why its token is impossible, if it is."""
    assert witness.token is not None  # a mark is a token until it is described
    why = reason(witness.token, size, failure)
    token = None if witness.token in (ENDED, FAILED) else witness.token
    return Witness(witness.context, token, witness.emitted, witness.target, why, witness.hits)


def check_baseline(word: Context, failure: str | None) -> None:
    """Raises InputError on a word of a baseline that no law emits."""
    why = next((why for why in (reason(x, None, failure) for x in word) if why), None)
    if why is not None:
        hint = "name its end-of-text token by --eos ID" if why == END else "run it by itself"
        ids = list(text_of(word))
        raise InputError(f"the baseline must emit token ids >= 0, as many as asked, got {ids} and {why}: {hint}")


def advice(words: Iterable[Context], eos: int | None, *, nothing_else: bool) -> tuple[str, ...]:
    """A note on impossible words for whoever made a mistake in wrapping the decoder.

    nothing_else  whether there are no possible words
    """
    marks = {word[-1] for word in words}
    if marks == {FAILED} and nothing_else:
        return ("no call gives any output: check how SUBJECT wraps its decoder",)
    if ENDED not in marks:
        return ()
    if eos is None:
        return ("texts end early: if SUBJECT may stop, name its end-of-text token by --eos ID; else check its wrapper",)
    return (f"texts end early without the end-of-text token {eos}: SUBJECT must return it, and stop nowhere else",)


def exact_notes(found: Enumeration, size: int | None, eos: int | None, *, biased: bool) -> tuple[str, ...]:
    """What an enumeration says of impossible output besides a witness."""
    words = [word for word, mass in found.law.items() if mass and is_impossible(word, size)]
    if not words:
        return ()
    mass = float(sum(found.law[word] for word in words))
    text = f"{NAME} with probability {mass:.4g}" + ("" if biased else ", too rare to be a verdict")
    return (text, *advice(words, eos, nothing_else=len(words) == len(found.law)))


class ImpossibleApart:
    """Evidence of possible words, and the impossible ones beside it; see `Evidence` in `audit.evidence`.

    possible  the evidence that the possible words are added to
    apart     the impossible words
    size      V, or None where no law says it
    first     number of the first impossible draw, from 0; None without one
    failure   why the first call without output had none
    """

    def __init__(self, possible: Evidence, size: int | None, context: Context, tokens: int) -> None:
        self.possible, self.size, self.context, self.tokens = possible, size, context, tokens
        self.reference, self.plan = possible.reference, possible.plan
        self.apart = Tally(tokens)
        self.first: int | None = None
        self.failure: str | None = None
        self._in_batches = False  # whole calls failed: their rows are not independent
        self._looks = 0

    @property
    def n(self) -> int:
        return self.possible.n + self.apart.n

    @property
    def log_e(self) -> float:
        return math.inf if self.apart.n else self.possible.log_e

    @property
    def peak(self) -> float:
        return math.inf if self.apart.n else self.possible.peak

    @property
    def tv_upper(self) -> float:
        return 1.0 if self.apart.n else self.possible.tv_upper

    @property
    def planned(self) -> tuple[int, ...]:
        """Draws at which there must be a look."""
        return self.possible.planned

    @property
    def object_tokens(self) -> int:
        """How many tokens the object has."""
        return self.tokens if self.apart.n else self.possible.object_tokens

    def needed(self) -> int | None:
        """Draws that bound the object for almost every correct subject."""
        return self.possible.needed()

    def words(self) -> int | None:
        """Possible words of the object, as far as they are known."""
        return self.possible.words()

    def bounded(self, tv: float) -> tuple[int, float]:
        """The longest prefix with a bound of at most tv; asked only where nothing impossible was seen."""
        return self.possible.bounded(tv)

    def object(self) -> str:
        """What the bounds are about: of impossible output, whole words."""
        return object_name(self.tokens, self.context) if self.apart.n else self.possible.object()

    def add(self, *draws: Draws) -> None:
        """Draws of the subject, and of the baseline if there is one; a pair with an impossible word is kept apart."""
        for drawn in draws[1:]:
            for i in np.flatnonzero(impossible(drawn.words, None))[:1]:
                check_baseline(tuple(drawn.words[i].tolist()), drawn.failure)
        subject = draws[0]
        none = impossible(subject.words, self.size)
        if none.any():
            self.first = self.n + int(np.argmax(none)) if self.first is None else self.first
            self.failure = self.failure or subject.failure
            self._in_batches |= bool((subject.rows[subject.words[:, 0] == FAILED] > 0).any())
            self.apart.add(subject.words[none])
            draws = tuple(drawn.where(~none) for drawn in draws)
        self.possible.add(*draws)

    def look(self) -> None:
        """Bring log_e, peak and tv_upper up to date."""
        self._looks += 1
        if not self.apart.n:
            self.possible.look()

    def tallies(self) -> tuple[Tally, ...]:
        """What was drawn, impossible words included."""
        subject, *baseline = self.possible.tallies()
        return subject.plus(self.apart), *baseline

    def clean(self) -> bool:
        """Whether the draws show no sign of dependence, which the bounds take for granted."""
        return not self._in_batches if self.apart.n else self.possible.clean()

    def statistics(self) -> dict[str, float]:
        """log10 E of each statistic that had data."""
        return {NAME: math.inf} if self.apart.n else self.possible.statistics()

    def estimate(self) -> float | None:
        """Estimate of TV of the object: of impossible output its share, which TV is at least."""
        return self.apart.n / self.n if self.apart.n else self.possible.estimate()

    def tv_lower(self, delta: float) -> float:
        """A lower bound on TV of the object: of impossible output Clopper and Pearson's of its probability."""
        if not self.apart.n:
            return self.possible.tv_lower(delta)
        level = delta / (max(1, self._looks) * (self._looks + 1))
        return tv_lower([0, 1], [self.n - self.apart.n, self.apart.n], [1.0, 0.0], delta=level)

    def detectable(self) -> float:
        """Smallest TV of the object found with power 99.9 %; impossible output leaves nothing to be found."""
        return 1.0 if self.apart.n else self.possible.detectable()

    def cross_check(self) -> float:
        """The classical p-value, at this sample size."""
        return 0.0 if self.apart.n else self.possible.cross_check()

    def diagnosis(self) -> str | None:
        return None if self.apart.n else self.possible.diagnosis()

    def witness(self) -> Witness | None:
        """The most frequent impossible token; ties go to the shortest, then the smallest context."""
        if not self.apart.n:
            return self.possible.witness()
        hits: dict[tuple[Context, int], int] = {}
        for word, count in zip(self.apart.words.tolist(), self.apart.counts.tolist(), strict=True):
            at = next(i for i, x in enumerate(word) if is_impossible((x,), self.size))
            found = tuple(word[:at]), word[at]
            hits[found] = hits.get(found, 0) + count
        prefix, token = min(hits, key=lambda found: (-hits[found], len(found[0]), found))
        seen = int(self.tallies()[0].after(prefix)[2].sum())
        count = hits[prefix, token]
        return described(Witness(self.context + prefix, token, count / seen, 0.0, None, count), self.size, self.failure)

    def boundary_tokens(self) -> tuple[BoundaryToken, ...]:
        """Tokens within rounding of a filter's cut-off, and their hits."""
        return self.possible.boundary_tokens()

    def notes(self, eos: int | None, where: Callable[[int], str]) -> tuple[str, ...]:
        """How much of the output was impossible, and where it began; where(i) names draw i."""
        if self.first is None:
            return ()
        text = f"{NAME} in {self.apart.n} of {self.n} draws, first in {where(self.first)}"
        words = [tuple(word) for word in self.apart.words.tolist()]
        return (text, *advice(words, eos, nothing_else=not self.possible.n))

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        apart = {"words": self.apart.state(), "first": self.first, "failure": self.failure, "looks": self._looks}
        return self.possible.state() | {"impossible": apart | {"in batches": self._in_batches}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from `state()` of the same question."""
        self.possible.restore(state)
        apart = state["impossible"]
        self.apart.restore(apart["words"])
        self.first, self.failure, self._looks = apart["first"], apart["failure"], apart["looks"]
        self._in_batches = apart["in batches"]
