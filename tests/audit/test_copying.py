"""Words in which token j repeats token i are never passed, and found at once; see copying.py for the table.

Null: independent tokens. Alternative: token j copies token i with probability 0.3, V = 8. alpha 1e-6, tv 0.05, fixed
seeds. Power wanted: at least 95 % of the audits find it within 50,000 draws, for all pairs of 2 to 8 tokens.
"""

import math

import numpy as np
import pytest

from rheocheck.audit import audit
from tests.audit.copying import RUNS, TARGET, Copying, Honest, P, audited, independent, rows

pytestmark = pytest.mark.distribution


@pytest.mark.parametrize("tokens, i, j", [(2, 0, 1), (4, 0, 3), (6, 1, 5), (8, 0, 7), (8, 6, 7)])
def test_a_copy_is_a_bias_whatever_its_distance(tokens, i, j):
    verdict = audited(tokens, i, j, seed=0)
    assert verdict.verdict == "biased" and verdict.samples <= 2000
    assert max(verdict.statistics, key=verdict.statistics.get) == "pairs of positions"


@pytest.mark.parametrize("tokens, i, j", [(4, 0, 3), (6, 1, 5)])
def test_a_copy_is_a_bias_against_a_baseline_too(tokens, i, j):
    verdict = audited(tokens, i, j, seed=0, baseline=Honest())
    assert verdict.verdict == "biased" and verdict.samples <= 5000


def test_an_honest_subject_of_six_tokens_is_not_accused():
    verdict = audit(Honest(), target=TARGET, tokens=6, tv=0.2, samples=4000, alpha=1e-3, confirm=False, progress=False)
    assert verdict.verdict != "biased"


def test_a_copying_subject_has_the_right_law_at_every_position():
    words = Copying(1, 5).sample((), 6, 20_000, 3)
    error = 4 * math.sqrt(0.25 / 20_000)
    assert all(abs((words[:, t] == 0).mean() - P[0]) < error for t in range(6))


class Carrying:
    """Independent tokens, but for a first one that is the last one of the call before, with probability `share`."""

    def __init__(self, share):
        self.share, self.last = share, None

    def __call__(self, context, n_tokens, seed):
        words = independent(n_tokens, seed)
        if self.last is not None and np.random.default_rng([seed, 1]).random() < self.share:
            words[0] = self.last
        self.last = words[-1]
        return words


@pytest.mark.parametrize("share, word", [(0.3, "inconclusive"), (0.0, "no_bias_found")])
def test_what_one_call_leaves_to_the_next_is_no_pass_against_a_baseline(share, word):
    """The law of a word is right, but the draws depend on each other, and a bound takes independent ones."""
    baseline = Carrying(0.0)
    verdict = audit(Carrying(share), baseline=baseline, tokens=2, tv=0.3, samples=4000, method="sampled",
                    confirm=False, progress=False)  # fmt: skip
    assert verdict.verdict == word
    assert any("depend on each other" in note for note in verdict.notes) == (share > 0)


@pytest.mark.slow
def test_every_pair_of_positions():
    for tokens, copy, biased, passed, most in rows(RUNS):
        assert biased == RUNS and passed == 0 and most <= 50_000, f"{tokens} tokens, {copy}"
