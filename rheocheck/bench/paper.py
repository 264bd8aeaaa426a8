"""What the paper reports, and nothing of ours: arXiv 2609.21827, as its public description has it.

Its text was not available to us. Its models were large and its hardware other; signs and orders can be compared, sizes
only looked at.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """The figures.

    gain               tokens a cycle more than top-K at T = 1, from .. to
    best_leads         the m that is best
    marginal_from      the m from which on there is little gain
    level_acceptance   of top-K, of RheoSampling with recursive verification, of RheoSampling with RheoVerification
    """

    source: str
    gain: tuple[float, float]
    best_leads: int
    marginal_from: int
    level_acceptance: tuple[float, float, float]


PAPER = Paper(
    source="arXiv 2609.21827", gain=(0.14, 0.22), best_leads=1, marginal_from=3, level_acceptance=(0.800, 0.835, 0.854)
)
