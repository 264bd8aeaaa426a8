"""The object of an assertion is what its test asked for."""

import pytest

from rheocheck.core.errors import InputError
from rheocheck.pytest_plugin.assertions import Assertions
from rheocheck.pytest_plugin.settings import SuiteSettings
from tests.audit.test_objects import FOUR, Words, bonus_from_the_drafter


def assertions():
    return Assertions("test_it", SuiteSettings(root=1, attempt=0, suite_alpha=1e-6, eps=0.15, samples=None))


@pytest.mark.distribution
def test_drafts_are_asked_about():
    """Fixed seed; an honest decoder passes in 97 % of runs at least, the bonus token from q is found in 99.9 %."""
    ask, law = assertions(), {"target": lambda context: FOUR}
    verdict = ask.lossless(Words(FOUR), drafts=2, **law)
    assert (verdict.tokens, ask.records[-1]["tokens"], ask.records[-1]["verdict"]) == (4, 4, "no_bias_found")
    with pytest.raises(AssertionError, match="joint prefix of 5 tokens"):
        ask.lossless(Words(FOUR, bonus_from_the_drafter(3)), drafts=3, **law)


@pytest.mark.distribution
def test_with_neither_the_first_line_says_what_the_pass_is_about():
    verdict = assertions().lossless(Words(FOUR), target=lambda context: FOUR)
    assert (verdict.asked, verdict.tokens) == (False, 4)


def test_drafts_and_fewer_tokens_contradict_each_other():
    with pytest.raises(InputError, match="--tokens must be at least 5 with --drafts 3, got 4"):
        assertions().lossless(Words(FOUR), target=lambda context: FOUR, drafts=3, tokens=4)
    with pytest.raises(InputError, match="--tokens must be at least 5 with --drafts 3, got 4"):
        assertions().same_law(Words(FOUR), Words(FOUR), drafts=3, tokens=4)
