"""Both array implementations as audit subjects: the audit sees their own code."""

import time

import numpy as np
import pytest

from rheocheck.audit.sampled import audit
from rheocheck.core import InputError
from rheocheck.formats import load_pair
from rheocheck.production import subject as production
from rheocheck.reference import subject as reference

pytestmark = pytest.mark.distribution
SURVIVAL = "toy_models.survival_bias:pair"
ALPHA = 1e-9

# (implementation, settings): six cells that CI looks at.
CELLS = [
    (production, {}),
    (production, {"verifier": "recursive", "walk": True, "dtype": "bfloat16", "pair": "toy_models.exact_ties:pair"}),
    (production, {"builder": "top_k", "verifier": "matching", "leads": 0}),
    (production, {"leads": 0, "verifier": "recursive", "pair": "toy_models.context_dependent:pair", "depth": 3}),
    (reference, {}),
    (reference, {"leads": 2, "verifier": "recursive", "pair": "toy_models.drafter_zeros:pair"}),
]


def audited(factory, settings, *, tv, tokens=3):
    subject = factory(**settings)
    return audit(subject, target=load_pair(settings.get("pair", SURVIVAL)), tokens=tokens, tv=tv, alpha=ALPHA,
                 progress=False, confirm=False)  # fmt: skip


@pytest.mark.parametrize("cell", range(len(CELLS)))
def test_no_bias_down_to_two_percent(cell):
    verdict = audited(*CELLS[cell], tv=0.02)
    assert verdict.verdict == "no_bias_found", verdict
    assert verdict.total_variation_upper <= 0.02


@pytest.mark.parametrize("verifier", ["recursive", "rheo", "matching"])
@pytest.mark.parametrize("factory", [production, reference])
def test_naive_is_biased_where_claims_are_read(factory, verifier):
    verdict = audited(factory, {"builder": "naive", "verifier": verifier}, tv=0.05)
    assert verdict.verdict == ("no_bias_found" if verifier == "matching" else "biased")


@pytest.mark.parametrize("factory", [production, reference])
def test_words_depend_on_the_seed_alone(factory):
    subject = factory()
    first, again, other = (subject.sample((1,), 3, 50, seed) for seed in (4, 4, 5))
    assert first.shape == (50, 3) and first.dtype == np.int64
    assert (first == again).all() and (first != other).any()
    assert len(subject((1,), 3, seed=1)) == 3


@pytest.mark.parametrize("factory", [production, reference])
def test_an_unknown_name_is_one_line(factory):
    with pytest.raises(InputError, match="builder must be one of .*, got 'greedy'; try"):
        factory(builder="greedy")


@pytest.mark.slow
def test_every_cell_down_to_half_a_percent():
    """Builders x verifiers x leads, both implementations; prints the total time."""
    started, cells = time.perf_counter(), 0
    for factory in (production, reference):
        for builder, leads in [("top_k", 1), ("rheo", 0), ("rheo", 1), ("rheo", 2)]:
            for verifier in ("matching", "recursive", "rheo"):
                verdict = audited(factory, {"builder": builder, "leads": leads, "verifier": verifier}, tv=0.005)
                assert verdict.verdict == "no_bias_found", (factory, builder, leads, verifier, verdict)
                cells += 1
    print(f"\n{cells} cells at TV 0.005 in {time.perf_counter() - started:.0f} s")
