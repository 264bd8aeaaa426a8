"""One path again: what it shows, and the command that shows it."""

import random

import pytest

from rheocheck.audit.replay import parse_choices, replayed
from rheocheck.core.errors import InputError
from tests.audit.subjects import CHAIN


def coins(context, n_tokens):
    return [random.choice([0, 1, 2]) for _ in range(n_tokens)]


def test_a_path_is_shown_with_its_command():
    question = {"subject": "my:decoder", "target": "my:law", "baseline": None, "settings": {"top_k": 3}}
    found = replayed(coins, (1, 2), target=CHAIN, context=(0,), tokens=2, question=question)
    assert (found.path.word, [step.index for step in found.path.choices]) == ((1, 2), [1, 2])
    assert found.path.weight == pytest.approx(1 / 9)
    assert found.target == (0.4, 0.5)
    options = "--target my:law --set top_k=3 --context 0 --tokens 2"
    assert found.path.replay == f"rheocheck audit my:decoder {options} --replay 1,2"
    assert '"word": [' in found.to_json()


def test_the_target_is_zero_from_the_first_impossible_token_on():
    found = replayed(coins, (1, 0, 1), target=CHAIN, tokens=3)
    assert found.target == (0.25, 0.0, 0.0)
    assert replayed(coins, (1,), tokens=1).target is None


def test_choices_are_branches():
    assert parse_choices("0,2,1") == (0, 2, 1) and parse_choices("") == ()
    with pytest.raises(InputError, match="must be branches from 0 on, got '-1'"):
        parse_choices("-1")
