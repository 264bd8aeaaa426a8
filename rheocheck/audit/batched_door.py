"""The other door of an enumerated subject: the law is that of the plain call, and `subject.sample` may draw otherwise.

A pass looks at it as well, with as many draws as there were plain runs, within the limits of `both_calls`. A difference
is a bias. Its TV is not known then: the enumerated law is that of the other door.
"""

import dataclasses
import math
from typing import Any

from rheocheck.audit.both_calls import BATCHED, FEWEST, MAIN, MOST, PLAIN_CALL, OtherDoor, against_words, has_two
from rheocheck.audit.difference import Difference
from rheocheck.audit.references import Reference
from rheocheck.audit.streams import BATCHES, BATCHING, session_seed
from rheocheck.audit.subject import LiveSource
from rheocheck.audit.verdict import Verdict
from rheocheck.core.pair import Context
from rheocheck.intercept.seeding import seed_globals

NOT_LOOKED_AT = f"this is the law of single calls: what {BATCHED} draws was not looked at"


def with_batched_door(
    verdict: Verdict, sides: list[Any], seen: Difference, reference: Reference, never: frozenset[Context], *,
    context: Context, eos: int | None, seed: int,
) -> Verdict:  # fmt: skip
    """The verdict on an enumerated subject, about `subject.sample` too where there is one, and a verdict.

    seen   the enumerated law, by the reference's cells
    never  words of events of probability zero
    """
    if verdict.verdict == "inconclusive" or not any(map(has_two, sides)):
        return verdict
    if not has_two(sides[0]):
        return _noted(verdict, "the baseline is its plain call: what its sample() draws was not looked at")
    if verdict.verdict != "no_bias_found" or not verdict.plain_runs:
        return _noted(verdict, NOT_LOOKED_AT)
    assert verdict.tokens is not None  # an exact verdict has an object
    seed_globals(session_seed(seed, 0, BATCHING))  # a batch may draw from these, whatever seed it is given
    source = LiveSource(sides[0], context, verdict.tokens, seed=seed, stream=BATCHES, eos=eos)
    draws = max(FEWEST, min(MOST, verdict.plain_runs))
    door = against_words(
        source, seen.emitted, draws, verdict.alpha, cell=reference.cell, never=never, size=reference.size
    )
    return _with_door(verdict, door)


def _with_door(verdict: Verdict, door: OtherDoor) -> Verdict:
    said = _noted(verdict, door.text(verdict.alpha, PLAIN_CALL))
    if not door.differs(verdict.alpha):
        return dataclasses.replace(said, interrupted=door.interrupted)
    return dataclasses.replace(
        said,
        verdict="biased",
        total_variation=None,
        total_variation_lower=0.0,
        total_variation_upper=1.0,
        p_value=min(1.0, math.exp(-door.log_e) / (1 - MAIN)),
        samples=door.draws,
    )


def _noted(verdict: Verdict, note: str) -> Verdict:
    return dataclasses.replace(verdict, notes=(*verdict.notes, note))
