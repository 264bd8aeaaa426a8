"""generation.generate as a subject: audits of four tokens, by draws and from its code, alone and in company."""

import numpy as np
import pytest

from rheocheck.adapters import generate as adapter
from rheocheck.audit import audit
from rheocheck.audit.exact import exact_audit
from rheocheck.core.errors import InputError
from rheocheck.generation.cache import CachedModel

pytestmark = pytest.mark.distribution


def four_tokens(company, verifier, samples, tv):
    parameters = {"temperature": 0.8, "top_p": 0.9}
    decoder = adapter.subject(company=company, verifier=verifier, **parameters)
    return audit(decoder, target=adapter.target(**parameters), tokens=4, samples=samples, tv=tv)


@pytest.mark.parametrize("verifier", ["recursive", "rheo"])
@pytest.mark.parametrize("company", [False, True])
def test_four_tokens_in_several_rounds(company, verifier):
    found = four_tokens(company, verifier, samples=5000, tv=0.1)
    assert found.verdict == "no_bias_found", found


@pytest.mark.slow
@pytest.mark.parametrize("verifier", ["recursive", "rheo"])
@pytest.mark.parametrize("company", [False, True])
def test_four_tokens_in_several_rounds_closely(company, verifier):
    found = four_tokens(company, verifier, samples=20_000, tv=0.05)
    assert found.verdict == "no_bias_found", found


def test_a_wrong_cache_is_found(monkeypatch):
    keep = CachedModel.keep
    monkeypatch.setattr(CachedModel, "keep", lambda self, nodes, count: keep(self, nodes, count - (count > 1).long()))
    found = audit(adapter.subject(), target=adapter.target(), tokens=4, samples=50_000, tv=0.05)
    assert found.verdict == "biased", found


def test_one_token_exactly():
    decoder, law = adapter.subject(depth=1, nodes=2, temperature=0.5), adapter.target(temperature=0.5)
    found = exact_audit(decoder, target=law, tokens=1, float_tolerance=1e-9)
    assert found.verdict == "no_bias_found", found


def test_draws_are_those_of_calls_with_their_seeds():
    decoder = adapter.subject(top_k=2)
    drawn = decoder.sample((1, 2), 5, 6, seed=3)
    assert drawn.shape == (6, 5) and drawn.dtype == np.int64 and len(set(map(tuple, drawn.tolist()))) > 1
    seeds = np.random.default_rng(3).integers(2**62, size=6)
    assert drawn.tolist() == [decoder((1, 2), 5, seed=int(seed)) for seed in seeds]


def test_bad_settings():
    with pytest.raises(InputError, match="vocab_size must be an integer in 2..8, got 9"):
        adapter.subject(vocab_size=9)
    with pytest.raises(InputError, match="verifier must be one of"):
        adapter.subject(verifier="best")((), 2, seed=0)
