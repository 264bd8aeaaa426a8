"""What an enumeration shows on the edge: events of probability zero, and tokens within rounding of a cut-off."""

import math

from rheocheck.audit.impossible import shown_word
from rheocheck.audit.references import Reference, TargetReference, prefix_masses
from rheocheck.audit.verdict import BoundaryFault, BoundaryToken
from rheocheck.core.pair import Context
from rheocheck.intercept import Enumeration, NullEvent

EDGE = 2.0**-8  # the coarsest uniforms, of bfloat16, hit an event of probability zero as often as this


def edge_p_value(hits: int, draws: int) -> float:
    """At least the probability of so many hits of events of probability zero, if only rounding hits them (Chernoff)."""
    if hits <= EDGE * draws:
        return 1.0
    x = hits / draws
    rest = (1 - x) * math.log((1 - x) / (1 - EDGE)) if x < 1 else 0.0
    return math.exp(-draws * (x * math.log(x / EDGE) + rest))


def boundary_faults(found: Enumeration, reference: Reference) -> tuple[BoundaryFault, ...]:
    """What is emitted on events of probability zero only, and by the reference never."""
    faults = []
    for event in faulty_events(found, reference):
        text, stop = shown_word(event.word)
        faults.append(BoundaryFault(text, event.what, event.line, stop))
    return tuple(dict.fromkeys(faults))


def faulty_events(found: Enumeration, reference: Reference) -> tuple[NullEvent, ...]:
    """The events of probability zero on which words come that otherwise never do."""
    return tuple(event for event in found.boundaries if reference.never(event.word) and not found.law.get(event.word))


def boundary_tokens(found: Enumeration, reference: Reference, context: Context) -> tuple[BoundaryToken, ...]:
    """Tokens within rounding of a filter's cut-off, and how probable they were there."""
    if not isinstance(reference, TargetReference):
        return ()
    joint, shown = reference.joint, []
    masses = prefix_masses({word: float(mass) for word, mass in found.law.items()})
    for prefix, near in sorted(joint.boundary.items(), key=lambda item: (len(item[0]), item[0])):
        before = masses.get(prefix, 0.0)
        for x in sorted(near):
            emitted = masses.get((*prefix, x), 0.0) / before if before else 0.0
            shown.append(BoundaryToken(context + prefix, x, joint.rows[prefix].at(x), 0, emitted))
    return tuple(shown)
