"""What every test on counts and laws accepts, and the one-line errors for everything else.

An error says what must hold, what came (with its value), and what to try. Nothing is repaired silently: a NaN,
a negative count or a law that does not sum to 1 within 1e-9 raises ValueError.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SUM_TOLERANCE = 1e-9

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def as_counts(name: str, values: ArrayLike) -> Floats:
    x = as_vector(name, values)
    if not np.all(np.isfinite(x)) or np.any(x < 0) or np.any(x != np.floor(x)):
        bad = int(np.flatnonzero(~np.isfinite(x) | (x < 0) | (x != np.floor(x)))[0])
        raise ValueError(f"{name} must be whole numbers >= 0, got {x[bad]} at {bad}: pass how often each cell was hit")
    return x


def as_counts_of_runs(name: str, values: ArrayLike) -> Floats:
    """Counts [runs, k]: the counts of many runs side by side."""
    x = np.asarray(values, dtype=float)
    if x.ndim != 2 or x.shape[1] == 0:
        raise ValueError(f"{name} must be one row of counts per run, got shape {x.shape}: stack the runs")
    if x.size:
        as_counts(name, x.reshape(-1))
    return x


def as_law(values: ArrayLike, name: str = "law") -> Floats:
    p = as_vector(name, values)
    if not np.all(np.isfinite(p)) or np.any(p < 0):
        bad = int(np.flatnonzero(~np.isfinite(p) | (p < 0))[0])
        raise ValueError(f"{name} must be probabilities >= 0, got {p[bad]} at {bad}: check the softmax that made it")
    if not abs(p.sum() - 1) <= SUM_TOLERANCE:
        raise ValueError(f"{name} must sum to 1 within 1e-9, got {float(p.sum())!r}: divide it by its sum in float64")
    return p


def as_vector(name: str, values: ArrayLike) -> Floats:
    try:
        x = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a list of numbers, got {values!r:.60}: pass one number per cell") from None
    if x.ndim != 1 or len(x) == 0:
        raise ValueError(f"{name} must be one row of at least one cell, got shape {x.shape}: flatten it")
    return x


def check_same_length(name: str, x: Floats, counts: Floats) -> None:
    if len(x) != len(counts):
        raise ValueError(f"{name} must have one entry per cell, got {len(x)} for {len(counts)} counts: align the cells")


def check_level(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}: try 0.001")


def check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}: 0 means no tolerance")
