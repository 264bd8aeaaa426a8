"""How fast an audit decides: `pytest tests/benchmarks/test_audit_speed.py --benchmark-only`.

`extra_info` keeps what was earned: draws, the bound on TV, and for the plain core decoder its rate.
"""

import resource
import time

import numpy as np
import pytest

from rheocheck.audit.against_law import AgainstLaw
from rheocheck.audit.choose_object import choose_object
from rheocheck.audit.evidence import Draws
from rheocheck.audit.sampled import audit
from rheocheck.audit.target import as_target
from rheocheck.core import Decoder, Shape
from rheocheck.formats import load_pair
from tests.pytest_plugin.null_suite import Chain, Memoryless
from tests.stats import chain_toy


@pytest.mark.parametrize("tokens", [2, 4])
def test_a_vectorised_decoder_earns_its_pass(benchmark, tokens):
    """Vocabulary 8, a chain of 2 drafts, eps 0.02, alpha 1e-9."""

    def run():
        return audit(Chain(), target=chain_toy.law, tokens=tokens, tv=0.02, alpha=1e-9, progress=False)

    verdict = benchmark.pedantic(run, rounds=1)
    benchmark.extra_info |= {"draws": verdict.samples, "TV <=": round(verdict.total_variation_upper, 4)}
    assert verdict.verdict == "no_bias_found"
    assert verdict.total_variation_upper <= 0.02


def test_what_a_plain_core_decoder_earns(benchmark):
    """The rational reference decoder, one call a draw: what 2,000 draws of 3 tokens cost and earn."""
    pair = load_pair("toy_models.survival_bias:pair")
    decoder = Decoder(pair, shape=Shape(leads=1, branching=3, depth=2, nodes=4))
    started = time.perf_counter()
    run = benchmark.pedantic(audit, (decoder,), {"target": pair, "tokens": 3, "samples": 2000}, rounds=1)
    rate = run.samples / (time.perf_counter() - started)
    benchmark.extra_info |= {"draws per second": round(rate), "TV <=": round(run.total_variation_upper, 4)}
    assert run.verdict == "no_bias_found"


@pytest.mark.slow
def test_a_look_at_a_large_vocabulary(benchmark):
    """128,256 tokens, 1,000,000 draws: one look."""
    weights = np.exp(np.random.default_rng(0).normal(0, 3, 128_256))
    subject = Memoryless(weights / weights.sum())
    target = as_target(subject.target)
    about = choose_object(target, (), 1, True, 1e-9, tv=0.05, samples=None, alpha=1e-6, delta=1e-3)
    evidence = AgainstLaw(about, target, (), 1, tv=0.05, alpha=1e-6, delta=1e-3, rtol=1e-9)
    words = subject.sample((), 1, 1_000_000, 1)
    where = np.arange(len(words))
    evidence.add(Draws(words, 0 * where, where))
    benchmark.pedantic(evidence.look, rounds=3)
    benchmark.extra_info["peak MiB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert evidence.n == 1_000_000
    assert evidence.peak < np.log(1e6)
