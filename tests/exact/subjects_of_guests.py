"""A module of the user's beside the guests of test_guests, with a generator in it."""

import numpy as np

rng = np.random.default_rng(9)
