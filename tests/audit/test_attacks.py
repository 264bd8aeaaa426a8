"""No program of the attack suite is silently given a wrong law; no honest one is refused or accused.

An exact audit has no false alarms to count: the answers below must hold for every seed. One seed in CI, twenty in
the `slow` run. Where a verdict rests on plain runs, its bound on hidden randomness holds with confidence 1 - 1e-6.
"""

import functools

import numpy as np
import pytest

from rheocheck.audit import audit
from rheocheck.core.errors import InputError, NotUnderstood
from tests.audit.attack_programs import ATTACKS, SIMULATED, Attack

DRAWS = 4_000  # plain draws where the truth is simulated: a TV over at most 10 cells is known to 0.03 (5 sigma)
NOISE = 0.03
FLOATS = 1e-6
pytestmark = [pytest.mark.distribution]


@functools.cache
def plain_tv(attack: Attack) -> float:
    """TV of plain draws of the real code from the target's law of words."""
    from rheocheck.audit.subject import LiveSource

    source = LiveSource(attack.subject, (), attack.tokens, seed=99)
    words = np.concatenate([source.draw(1).words for _ in range(DRAWS)])
    size = len(attack.target)
    cells = np.bincount(words @ size ** np.arange(attack.tokens)[::-1], minlength=size**attack.tokens) / DRAWS
    law = functools.reduce(np.multiply.outer, [np.array(attack.target)] * attack.tokens).ravel()
    return float(np.maximum(cells - law, 0).sum())


def answer(attack: Attack, seed: int):
    """The verdict, or the refusal."""
    try:
        return audit(
            attack.subject, target=lambda context: list(attack.target), tokens=attack.tokens, method="exact", seed=seed,
            max_paths=3_000, progress=False,
        )  # fmt: skip
    except InputError as error:
        return error


def check(attack: Attack, seed: int) -> None:
    found = answer(attack, seed)
    if isinstance(found, NotUnderstood):
        assert attack.kind != "honest", f"a correct decoder was refused: {found}"
        return
    assert not isinstance(found, InputError), f"neither followed nor refused, but an error of the subject: {found}"
    if attack.kind == "honest":
        assert found.verdict == "no_bias_found", found
        return
    noise = NOISE if attack.tv is SIMULATED else FLOATS
    truth = plain_tv(attack) if attack.tv is SIMULATED else attack.tv
    if found.verdict == "biased":
        assert attack.kind in ("state", "blind") or abs(found.total_variation_lower - truth) <= noise
    if found.verdict == "no_bias_found":
        excluded = found.tolerance + noise
        if attack.kind in ("state", "blind"):
            excluded += found.hidden_tv
        assert truth <= excluded, f"TV {truth} passed as {found.verdict}, which excludes {excluded}"


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_is_silently_wrong(attack):
    check(attack, 0)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_is_silently_wrong_in_twenty_audits(attack):
    for seed in range(1000, 1020):
        check(attack, seed)


def test_the_suite_is_as_large_as_promised_and_knows_its_truths():
    assert len(ATTACKS) >= 80
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    overlaps = [attack for attack in ATTACKS if attack.kind == "overlap"]
    assert sum(plain_tv(attack) > 0.1 for attack in overlaps) >= 12  # the rest is independent after all
