"""What interception costs: a run of assisted generation intercepted, beside a plain one in the same session.

    pytest tests/benchmarks/test_intercept_speed.py --benchmark-only

The second mean divided by its number of runs, over the first one, is the price of a path.
"""

import itertools

import pytest
import torch

from rheocheck.adapters import transformers
from rheocheck.intercept import enumerate_law

PATHS = 40


@pytest.fixture(scope="module")
def subject():
    torch.set_num_threads(1)
    return transformers.assisted(vocab_size=3)


def test_plain(benchmark, subject):
    seeds = itertools.count()
    benchmark.pedantic(lambda: subject((), 4, seed=next(seeds)), rounds=PATHS, warmup_rounds=3)


def test_intercepted(benchmark, subject):
    """PATHS paths and the repeats that check the subject: so many runs as extra_info says."""

    def enumerated():
        return enumerate_law(subject, (), 4, max_paths=PATHS)

    found = benchmark.pedantic(enumerated, rounds=1)
    benchmark.extra_info["runs"] = PATHS + 20 + 19 + 1  # checks: twice, 20 times, last
    assert found.paths == PATHS
