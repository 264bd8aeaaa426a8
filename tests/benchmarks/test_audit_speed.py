"""What a look costs at the vocabulary of a language model: `pytest tests/benchmarks -m "slow or not slow"`.

V = 128,256 tokens, softmax of normal logits of deviation 3 (a head and a long tail), a million draws of one token.
"""

import resource

import numpy as np
import pytest

from rheocheck.audit.against_law import AgainstLaw
from rheocheck.audit.evidence import Draws
from rheocheck.audit.target import as_target

CELLS, DRAWS = 128_256, 1_000_000


@pytest.mark.slow
def test_a_look_at_a_million_draws(benchmark):
    rng = np.random.default_rng(0)
    law = np.exp(rng.normal(0, 3, CELLS))
    law /= law.sum()
    evidence = AgainstLaw(as_target(lambda context: law), (), 1, tv=0.05, alpha=1e-6, delta=1e-3, rtol=1e-6)
    rows = np.arange(DRAWS)
    evidence.add(Draws(rng.choice(CELLS, p=law, size=(DRAWS, 1)), rows % 500, rows // 500))
    benchmark.pedantic(evidence.look)  # one round: the next look would find most of its work done
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    benchmark.extra_info["peak MiB so far"] = peak
    assert benchmark.stats["mean"] < 3
    assert peak < 2048
    assert evidence.peak < 7
