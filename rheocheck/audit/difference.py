"""How far an enumerated law is from its reference: total variation, or the interval that certainly holds it.

    s(w)  enumerated probability of cell w; r: the probability not enumerated
    t(w)  the reference's; r2: what is not enumerated of it (0 for a target)

    sum (s - t)+ - r2  <=  TV  <=  sum (s - t)+ + r

The first: the true t exceeds what was seen by r2 at most. The second: the true s exceeds it by r. Symmetric in the two
laws, since sum (s - t)+ - sum (t - s)+ = r2 - r.

The worked line: s = {0: 1/2, 1: 1/4}, r = 1/4, t = {0: 1/4, 1: 3/4}: TV lies between 1/4 and 1/2.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from rheocheck.audit.references import Reference
from rheocheck.intercept import Enumeration
from rheocheck.intercept.words import is_impossible

ROUNDING = 2.0**-50  # of a probability, relative: a product of a few conditional ones


@dataclass(frozen=True)
class Difference:
    """Two laws by cells, only where they are above 0, and what each of them leaves out.

    never  emitted probability of what no law over a vocabulary emits, however much of the reference is unseen
    """

    emitted: Mapping[Hashable, float] = field(repr=False)
    reference: Mapping[Hashable, float] = field(repr=False)
    unseen: float
    reference_unseen: float
    never: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether both laws are known, and TV with them."""
        return self.unseen == 0 == self.reference_unseen

    @property
    def excess(self) -> float:
        """sum (s - t)+ over what was seen; what the rounding of t to a float may amount to is none."""
        terms = ((s, self.reference.get(word, 0.0)) for word, s in self.emitted.items())
        return math.fsum(s - t for s, t in terms if s - t > ROUNDING * t)

    @property
    def lower(self) -> float:
        return max(self.never, min(1.0, self.excess) - self.reference_unseen)

    @property
    def upper(self) -> float:
        return min(1.0, self.excess + self.unseen)

    @property
    def impossible(self) -> float:
        """Enumerated probability of what the reference certainly never emits."""
        if self.reference_unseen:
            return self.never
        return math.fsum(s for w, s in self.emitted.items() if w not in self.reference)

    def word(self, float_tolerance: float, law_tolerance: float) -> str:
        """The verdict word.

        law_tolerance    the relative error of the reference: half of it is what TV may owe to it. What has
                         probability 0 owes nothing to a relative error.
        float_tolerance  TV that the rounding of the subject's own numbers may amount to
        """
        tolerance = float_tolerance + law_tolerance / 2
        if self.lower > tolerance or self.impossible > float_tolerance:
            return "biased"
        if self.upper <= tolerance and self.impossible + self.unseen <= float_tolerance:
            return "no_bias_found"
        return "inconclusive"


def difference(found: Enumeration, reference: Reference) -> Difference:
    """The enumerated law against its reference, by the reference's cells."""
    emitted: dict[Hashable, Fraction] = {}
    for word, mass in found.law.items():
        cell = reference.cell(word)
        emitted[cell] = emitted.get(cell, Fraction(0)) + mass
    seen = {cell: float(mass) for cell, mass in emitted.items() if mass}
    never = math.fsum(float(mass) for word, mass in found.law.items() if is_impossible(word, None))
    return Difference(seen, reference.law, float(found.unseen), reference.unseen, min(1.0, never))
