"""Tests on counts and laws: numpy and scipy only; nothing here knows what a decoder is."""

from rheocheck.stats.battery import Battery, Impossible
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
from rheocheck.stats.copies import CopyBet, LagBet
from rheocheck.stats.named_faults import Diagnosis, diagnose, fault_laws
from rheocheck.stats.two_sample import SignBetting, StringBetting, tv_upper_two_sample_anytime

__all__ = [
    "Battery",
    "ChiSquare",
    "CopyBet",
    "Diagnosis",
    "Impossible",
    "LagBet",
    "SignBetting",
    "StringBetting",
    "chi_square",
    "chi_square_two_sample",
    "diagnose",
    "fault_laws",
    "samples_needed",
    "smallest_detectable_tv",
    "smallest_detectable_tv_two_sample",
    "total_variation",
    "tv_upper_bound",
    "tv_upper_bound_two_sample",
    "tv_upper_two_sample_anytime",
]
