"""Tests on counts and laws: numpy and scipy only; nothing here knows what a decoder is."""

from rheocheck.stats.battery import Battery, Impossible
from rheocheck.stats.bounds import (
    Cell,
    anytime_width,
    mean_empirical_tv,
    tv_lower,
    tv_upper_anytime,
    worst_cells,
)
from rheocheck.stats.chi_square import (
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
from rheocheck.stats.classical import (
    Classical,
    MinP,
    g_test,
    max_cell,
    min_p,
    octave_chi_square,
)
from rheocheck.stats.copies import CopyBet, LagBet
from rheocheck.stats.debiased import tv_upper_debiased
from rheocheck.stats.emix import (
    Bet,
    EMix,
)
from rheocheck.stats.named_faults import Diagnosis, diagnose, fault_laws
from rheocheck.stats.plan import (
    Plan,
    detection_samples,
    looks,
    pass_samples,
    plan,
)
from rheocheck.stats.sequential import (
    Look,
    Sequential,
)
from rheocheck.stats.suite import (
    assertion_alpha,
    e_bh,
    holm,
    mixed_product,
)
from rheocheck.stats.two_sample import SignBetting, StringBetting, tv_upper_two_sample_anytime

__all__ = [
    "Battery",
    "Bet",
    "Cell",
    "ChiSquare",
    "Classical",
    "CopyBet",
    "Diagnosis",
    "EMix",
    "Impossible",
    "LagBet",
    "Look",
    "MinP",
    "Plan",
    "Sequential",
    "SignBetting",
    "StringBetting",
    "anytime_width",
    "assertion_alpha",
    "chi_square",
    "chi_square_two_sample",
    "detection_samples",
    "diagnose",
    "e_bh",
    "fault_laws",
    "g_test",
    "holm",
    "looks",
    "max_cell",
    "mean_empirical_tv",
    "min_p",
    "mixed_product",
    "octave_chi_square",
    "pass_samples",
    "plan",
    "samples_needed",
    "smallest_detectable_tv",
    "smallest_detectable_tv_two_sample",
    "total_variation",
    "tv_lower",
    "tv_upper_anytime",
    "tv_upper_bound",
    "tv_upper_bound_two_sample",
    "tv_upper_debiased",
    "tv_upper_two_sample_anytime",
    "worst_cells",
]
