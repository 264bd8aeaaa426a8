"""The global generators: the best that can be done from outside for a subject that takes no seed."""

import random
import sys

import numpy as np


def seed_globals(seed: int) -> None:
    """Seed `random`, `numpy.random` and, if it is imported, torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
