"""Tests on counts and laws: numpy and scipy only; nothing here knows what a decoder is."""

from rheocheck.stats.battery import Battery, Impossible
from rheocheck.stats.bounds import (
    anytime_width,
    mean_empirical_tv,
    tv_lower,
    tv_upper_anytime,
)
from rheocheck.stats.chi_square import (
    ChiSquare,
    chi_square,
    chi_square_two_sample,
    smallest_detectable_tv,
    total_variation,
    tv_upper_bound,
)
from rheocheck.stats.classical import (
    Classical,
    MinP,
    g_test,
    max_cell,
    min_p,
    octave_chi_square,
)
from rheocheck.stats.copies import LagBet
from rheocheck.stats.debiased import tv_upper_debiased
from rheocheck.stats.emix import (
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
from rheocheck.stats.suite import (
    assertion_alpha,
    mixed_product,
)
from rheocheck.stats.two_sample import SignBetting, StringBetting, tv_upper_two_sample_anytime

__all__ = [
    "Battery",
    "ChiSquare",
    "Classical",
    "Diagnosis",
    "EMix",
    "Impossible",
    "LagBet",
    "MinP",
    "Plan",
    "SignBetting",
    "StringBetting",
    "anytime_width",
    "assertion_alpha",
    "chi_square",
    "chi_square_two_sample",
    "detection_samples",
    "diagnose",
    "fault_laws",
    "g_test",
    "looks",
    "max_cell",
    "mean_empirical_tv",
    "min_p",
    "mixed_product",
    "octave_chi_square",
    "pass_samples",
    "plan",
    "smallest_detectable_tv",
    "total_variation",
    "tv_lower",
    "tv_upper_anytime",
    "tv_upper_bound",
    "tv_upper_debiased",
    "tv_upper_two_sample_anytime",
]
