"""rf against mpmath with 80 digits, over 30 decades of x."""

import mpmath
import numpy as np
import pytest

from rheocheck.stats.rising import SERIES_BELOW, STIRLING_FROM, rf

XS = [*(10.0**e for e in range(-12, 19)), 0.5, 29.999, STIRLING_FROM, np.nextafter(STIRLING_FROM, 31), 31.5, 1e6 / 3]
NS = [0, 1, 2, 3, 7, 60, 1000, 123_457, 10**6, 10**9]


def exact(x, n):
    with mpmath.workdps(80):
        x = mpmath.mpf(x)
        return float(mpmath.loggamma(x + n) - mpmath.loggamma(x) - n * mpmath.log(x))


@pytest.mark.parametrize("x", XS)
def test_against_mpmath(x):
    # Relative to the value, plus what one rounding of n costs where the value itself is far below 1.
    for n in NS:
        assert rf(x, n) == pytest.approx(exact(x, n), rel=1e-13, abs=2e-13 if x <= STIRLING_FROM else 1e-15), n


@pytest.mark.parametrize("t", [SERIES_BELOW * (1 - 1e-9), SERIES_BELOW, SERIES_BELOW * 2, 1e-3, 1e-9])
def test_both_sides_of_the_series(t):
    for n in (5, 1000, 10**7):
        assert rf(n / t, n) == pytest.approx(exact(n / t, n), rel=1e-13)


def test_by_hand_and_where_nothing_happens():
    assert rf(2.0, 3) == pytest.approx(np.log(24 / 8))
    assert rf(1e6, 2) == pytest.approx(1e-6, rel=1e-6)
    assert np.array_equal(rf([1e-12, 1.0, 1e18], [[0], [1]]), np.zeros((2, 3)))


def test_a_mixed_array_equals_its_elements():
    x, n = np.meshgrid(XS, NS)
    assert np.array_equal(rf(x, n), [[float(rf(a, b)) for a in XS] for b in NS])
