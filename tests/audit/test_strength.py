"""Does the audit find what it says it finds? Many fresh-seed runs against planted biases; minutes, so marked slow."""

import numpy as np
import pytest

from rheocheck.audit.sampled import audit
from rheocheck.stats.plan import hardest_bias
from tests.pytest_plugin.null_suite import Chain, Memoryless, softmax_tail
from tests.stats import chain_toy

pytestmark = [pytest.mark.slow, pytest.mark.distribution]


@pytest.mark.parametrize("k", [8, 64])
def test_a_bias_of_eps_is_failed(k):
    """TV 0.02 on the object of the pass, the hardest kind of bias, alpha 1e-9, eps 0.02: biased in 49 of 50 runs."""
    law = softmax_tail(k, 5)
    subject = Memoryless(hardest_bias(law, 0.02))
    assert np.abs(subject.law - law).sum() / 2 == pytest.approx(0.02)
    verdicts = [
        audit(subject, target=lambda context: law, tokens=1, tv=0.02, alpha=1e-9, seed=seed, confirm=False).verdict
        for seed in range(50)
    ]
    assert verdicts.count("biased") >= 49


def test_a_perfect_decoder_passes():
    """The control: the chain-of-2 decoder as it should be passes in 49 of 50 runs, and is never called biased."""
    verdicts = [
        audit(Chain(), target=chain_toy.law, tokens=2, tv=0.02, alpha=1e-9, seed=seed).verdict for seed in range(50)
    ]
    assert verdicts.count("biased") == 0
    assert verdicts.count("no_bias_found") >= 49
