"""Laws of named faults: by hand, by simulation of the step, and that the right name comes out on top.

Null of the bets: counts have law p. All seeds fixed.
"""

import numpy as np
import pytest

from rheocheck.stats import EMix, diagnose, fault_laws

pytestmark = pytest.mark.distribution
NAMES = {
    "residual not subtracted", "accept with q = 1", "ratio scaled", "draft temperature", "always accept",
    "target temperature", "replacement from q",
}  # fmt: skip


def pair(k):
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, k)
    p, q = np.exp(logits), np.exp(logits + rng.normal(0, 2, k))
    return p / p.sum(), q / q.sum()


def planted(p, law, tv):
    """p mixed with the law of a fault, at total variation tv."""
    w = tv / (np.abs(law - p).sum() / 2)
    assert w <= 1
    return (1 - w) * p + w * law


def test_laws_by_hand():
    # p = (3/4, 1/4), q = (1/4, 3/4): accept token 0 always, token 1 with 1/3; b = 1/2, the residual is token 0.
    laws = fault_laws([0.75, 0.25], [0.25, 0.75])
    assert set(laws) == NAMES
    assert laws["residual not subtracted"] == pytest.approx([1 / 4 + 1 / 2 * 3 / 4, 1 / 4 + 1 / 2 * 1 / 4])
    assert laws["replacement from q"] == pytest.approx([1 / 4 + 1 / 2 * 1 / 4, 1 / 4 + 1 / 2 * 3 / 4])
    assert laws["accept with q = 1"] == pytest.approx([1 - 3 / 16, 3 / 16])
    assert laws["ratio scaled"] == pytest.approx([1 - 3 / 4 * 1.15 / 3, 3 / 4 * 1.15 / 3])
    assert laws["draft temperature"] == pytest.approx([1 - 9 / 10 / 3, 9 / 10 / 3])  # drafts drawn (1/10, 9/10)
    assert laws["always accept"] == pytest.approx([1 / 4, 3 / 4])
    assert laws["target temperature"] == pytest.approx([3**1.25 / (3**1.25 + 1), 1 / (3**1.25 + 1)])


def test_laws_are_those_of_the_simulated_step():
    """One million steps with the replacement drawn from p: frequencies within 5 standard errors of the law."""
    p, q = pair(8)
    rng = np.random.default_rng(1)
    d, fresh = rng.choice(8, 1_000_000, p=q), rng.choice(8, 1_000_000, p=p)
    emitted = np.where(rng.random(1_000_000) < p[d] / q[d], d, fresh)
    law = fault_laws(p, q)["residual not subtracted"]
    error = np.abs(np.bincount(emitted, minlength=8) / 1e6 - law)
    assert (error <= 5 * np.sqrt(law * (1 - law) / 1e6)).all()


def test_a_perfect_drafter_hides_every_fault_of_the_rule():
    p, _ = pair(8)
    assert set(fault_laws(p, p)) == {"accept with q = 1", "draft temperature", "target temperature"}


def test_tokens_that_one_of_the_models_excludes():
    laws = fault_laws([0.5, 0.5, 0.0], [0.0, 0.5, 0.5])
    for law in laws.values():
        assert law.sum() == pytest.approx(1) and (law >= 0).all()
    assert laws["always accept"].tolist() == [0, 0.5, 0.5]
    assert diagnose([40, 40, 1], [0.5, 0.5, 0], laws)  # the impossible draw takes no part


@pytest.mark.parametrize("k, n", [(8, 400_000), (64, 200_000)])
@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_right_fault_is_named(k, n, name):
    """TV 0.01, 25 runs each: the planted fault is named more often than any other, and sharpens the bet."""
    p, q = pair(k)
    faults = fault_laws(p, q)
    law = planted(p, faults[name], 0.01)
    rng = np.random.default_rng(sorted(NAMES).index(name))
    runs = rng.multinomial(n, law, size=25)
    named = [diagnose(counts, p, faults)[0].name for counts in runs]
    votes = {other: named.count(other) for other in set(named)}
    print(f"\nk={k} {name}: {votes}")
    assert max(votes, key=votes.get) == name
    bets = EMix(p, faults=faults).log_e_many(runs) - EMix(p).log_e_many(runs)
    assert np.median(bets) > 0


def test_the_ranking_adds_up():
    p, q = pair(8)
    faults = fault_laws(p, q)
    counts = np.random.default_rng(5).multinomial(100_000, planted(p, faults["always accept"], 0.02))
    ranked = diagnose(counts, p, faults)
    assert {name for name, _ in ranked} == NAMES
    assert all(lead >= 0 for _, lead in ranked[:-1])
    # The leads telescope to the evidence of the first against p, which EMix's own fault component agrees with.
    alone = EMix(p, faults={ranked[0].name: faults[ranked[0].name]}).components(counts)["faults"] / np.log(10)
    assert sum(lead for _, lead in ranked) == pytest.approx(alone, abs=1.5)


def test_what_it_refuses():
    with pytest.raises(ValueError, match="q must have one entry per cell, got 3 for 2"):
        fault_laws([0.5, 0.5], [0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="p must sum to 1"):
        fault_laws([0.5, 0.6], [0.5, 0.5])
    with pytest.raises(ValueError, match="fault 'x' must have one entry per cell"):
        diagnose([1, 2], [0.5, 0.5], {"x": [1.0]})
    assert diagnose([1, 2], [0.5, 0.5], {}) == []
