"""Many independent draws of a subject that answers one seed after another in batches."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


def draws(answers: Callable[[list[int]], list[list[int]]], samples: int, seed: int, batch: int) -> NDArray[np.int64]:
    """`answers(seeds)`, a row of ids for each of at most `batch` seeds, until there are `samples`: [samples, n]."""
    seeds = [int(x) for x in np.random.default_rng(seed).integers(2**62, size=samples)]
    parts = [seeds[done : done + batch] for done in range(0, samples, batch)]
    return np.array([ids for part in parts for ids in answers(part)], dtype=np.int64)
