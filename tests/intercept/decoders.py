"""All small decoders, library by library."""

from tests.intercept.decoders_jax import JAX
from tests.intercept.decoders_numpy import NUMPY
from tests.intercept.decoders_random import RANDOM
from tests.intercept.decoders_torch import TORCH
from tests.intercept.decoders_unusual import UNUSUAL

DECODERS = [*TORCH, *RANDOM, *NUMPY, *JAX, *UNUSUAL]
