"""Verdicts on made-up evidence: what agrees, what is planted the other way round, and what cannot be told."""

import pytest

from rheocheck.bench.claims import AGREES, DIFFERS, MEASURED, OPEN, TOO_SMALL, Equal, claims
from rheocheck.bench.intervals import ALPHA
from rheocheck.bench.paper import PAPER
from tests.bench.synthetic import EQUAL, evidence, mean_block

JUDGED = {
    "gain + recursive", "gain + rheo", "gain, matched", "verifier", "levels", "best m + recursive", "best m + rheo",
    "many leads + recursive", "many leads + rheo", "collapse", "cold m=0", "cold m=1",
}  # fmt: skip


def verdicts(found=None, equal=EQUAL, quick=False):
    return {claim.key: claim for claim in claims(found or evidence(), equal, PAPER, quick=quick)}


def test_what_the_paper_says_agrees():
    found = verdicts()
    assert set(found) == JUDGED | {"time"}
    assert {key: found[key].verdict for key in JUDGED} == dict.fromkeys(JUDGED, AGREES)
    assert found["time"].verdict == MEASURED


def swapped(cell):
    """Planted: at T = 1, top-K has what RheoSampling should have, and the other way round."""
    return 6.0 - mean_block(cell) if cell.temperature == 1 else mean_block(cell)


def test_a_planted_reversal_differs():
    found = verdicts(evidence(swapped))
    reversed_ones = {"gain + rheo", "verifier", "levels", "best m + recursive", "best m + rheo"}
    assert {key for key in JUDGED if found[key].verdict == DIFFERS} >= reversed_ones
    assert "0.1 +" not in found["gain + rheo"].because and "below the paper's range" in found["gain + rheo"].because


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("best m + recursive", lambda c: mean_block(c) + (0.5 if c.leads == 2 else 0)),
        ("many leads + recursive", lambda c: mean_block(c) + (0.4 if c.leads == 4 else 0)),
        ("verifier", lambda c: mean_block(c) - (0.3 if c.verifier == "rheo" else 0)),
        ("collapse", lambda c: mean_block(c) + (c.temperature if c.builder == "top_k" else 0)),
    ],
)
def test_a_fault_planted_in_one_claim_is_seen_there(key, other):
    assert verdicts(evidence(other))[key].verdict == DIFFERS


def test_the_matched_temperature_is_that_of_the_paper():
    """Acceptance of made-up evidence is 1 - 1/mean: 80 % at a mean of 5, which only T = 0.5 has here."""
    found = verdicts(evidence(lambda c: 5.0 if c.builder == "top_k" and c.temperature == 0.5 else mean_block(c)))
    assert "(here T = 0.5)" in found["gain, matched"].question and found["gain, matched"].verdict == DIFFERS


def test_noise_cannot_be_told():
    found = verdicts(evidence(lambda cell: 2.5, spread=0.4))
    assert found["gain + recursive"].verdict == OPEN
    assert found["gain + recursive"].because.startswith("99 % interval ")
    assert "includes 0; the estimate is" in found["gain + recursive"].because
    assert {found[key].verdict for key in ("best m + rheo", "verifier")} == {OPEN}


def test_cold_trees():
    never = tuple(Equal(e.temperature, e.leads, 49 if e.temperature == 0 else 0, 50) for e in EQUAL)
    found = verdicts(equal=never)
    assert (
        found["cold m=0"].verdict == DIFFERS and "49 of 50 at T = 0, 0 of 50 at T = 0.01" in found["cold m=0"].because
    )
    always = tuple(Equal(e.temperature, e.leads, 50, 50) for e in EQUAL)
    assert verdicts(equal=always)["cold m=1"].verdict == DIFFERS


@pytest.mark.parametrize(
    ("key", "judged"),
    [("gain, matched", 2), ("levels", 2), ("best m + rheo", 4), ("many leads + recursive", 2), ("collapse", 2)],
)
def test_the_intervals_of_a_claim_hold_together(key, judged):
    """Bonferroni: the intervals that the verdict reads are at ALPHA by their number."""
    found = verdicts()[key].figures[-judged:]
    assert [figure.alpha for figure in found] == [pytest.approx(ALPHA / judged)] * judged


def test_one_step_of_two_is_not_an_order():
    """RheoSampling is far above top-K here, its two verifiers are alike: the paper's order cannot be told."""
    found = verdicts(evidence(lambda c: mean_block(c) - (0.2 if c.verifier == "rheo" else 0)))["levels"]
    first, second = found.figures[-2:]
    assert first.low > 0 and second.low < 0 < second.high
    assert found.verdict == OPEN


def test_a_quick_run_concludes_nothing():
    assert {claim.verdict for claim in verdicts(quick=True).values()} == {TOO_SMALL}


def test_time_says_what_survives():
    slow = verdicts(evidence(seconds=lambda cell: 1.0 if cell.builder == "top_k" else 1 / 1.1))["time"]
    ratios = {figure.label: figure for figure in slow.figures}
    speed = ratios["tokens a second, RheoSampling + recursive over top-K"]
    assert speed.value == pytest.approx(1.1) and speed.low == pytest.approx(1.1)
    blocks = ratios["tokens a cycle, RheoSampling + recursive over top-K"].value
    assert f"{0.1 / (blocks - 1):.0%} with recursive" in slow.because
    lost = verdicts(evidence(seconds=lambda cell: 1.0 if cell.builder == "top_k" else 9.0))["time"]
    assert "of the gain, nothing with recursive and nothing with rheo survives in time" in lost.because
    assert "no gain in tokens is certain" in verdicts(evidence(swapped))["time"].because
