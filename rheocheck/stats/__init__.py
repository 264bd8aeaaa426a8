"""Tests on counts and laws: numpy and scipy only; nothing here knows what a decoder is."""

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

__all__ = [
    "ChiSquare",
    "chi_square",
    "chi_square_two_sample",
    "samples_needed",
    "smallest_detectable_tv",
    "smallest_detectable_tv_two_sample",
    "total_variation",
    "tv_upper_bound",
    "tv_upper_bound_two_sample",
]
