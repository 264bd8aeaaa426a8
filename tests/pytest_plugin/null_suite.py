"""A suite of perfect decoders: every assertion is true, so every alarm is false. Run by `calibrate.py`, or by hand:

pytest tests/pytest_plugin/null_suite.py -n 2
"""

import numpy as np
import pytest

from tests.stats import chain_toy


class Chain:
    """The vectorised chain-of-2 decoder on 8 tokens, as it should be."""

    def sample(self, context, n_tokens, samples, seed):
        return chain_toy.run(samples, seed).words[:, :n_tokens]

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]


class Memoryless:
    """Independent tokens of one law."""

    def __init__(self, law):
        self.law = np.asarray(law)

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        return np.random.default_rng(seed).choice(len(self.law), size=(samples, n_tokens), p=self.law)

    def target(self, context):
        return self.law


def softmax_tail(k, seed):
    weights = np.exp(np.random.default_rng(seed).normal(0, 3, k))
    return weights / weights.sum()


SUBJECTS = {
    "uniform-8": Memoryless(np.full(8, 1 / 8)),
    "zipf-64": Memoryless((1 / np.arange(1, 65)) / (1 / np.arange(1, 65)).sum()),
    "softmax-8": Memoryless(softmax_tail(8, 1)),
    "softmax-64": Memoryless(softmax_tail(64, 2)),
    "softmax-1024": Memoryless(softmax_tail(1024, 3)),
}


@pytest.mark.distribution
@pytest.mark.parametrize("tokens", [1, 2, 4])
def test_chain(rheocheck, tokens):
    rheocheck.lossless(Chain(), target=chain_toy.law, tokens=tokens, allow_inconclusive=True)


@pytest.mark.distribution
@pytest.mark.parametrize("name", SUBJECTS)
def test_memoryless(rheocheck, name):
    subject = SUBJECTS[name]
    rheocheck.lossless(subject, target=subject.target, tokens=1 if "1024" in name else 2, allow_inconclusive=True)


@pytest.mark.distribution
@pytest.mark.parametrize("name", ["uniform-8", "zipf-64", "softmax-64"])
def test_two_samples(rheocheck, name):
    subject = SUBJECTS[name]
    rheocheck.same_law(subject, subject, tokens=2, eps=0.05, allow_inconclusive=True)
