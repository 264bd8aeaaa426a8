"""The rows of the support matrix bind on the tiny models: a filter that removes nothing would test nothing."""

import inspect
import itertools

import pytest

from rheocheck.adapters import transformers
from rheocheck.adapters.settings_matrix import settings_matrix

FILTERS = {"top_k", "top_p", "min_p", "bad_token"}
ROWS = {row.name: row for row in settings_matrix()}
TOKENS = {3: 4, 4: 3}  # vocabulary -> tokens of the audited words


def removed(vocab_size, keywords):
    """(context, token) of every token that gets probability 0 within an audited word."""
    law = transformers.target(vocab_size=vocab_size, **keywords)
    gone = set()
    for length in range(TOKENS[vocab_size]):
        for context in itertools.product(range(vocab_size), repeat=length):
            assert law.boundary(context) == frozenset(), "rounding would decide"
            gone |= {(context, x) for x, p in enumerate(law(context)) if p == 0}
    return gone


@pytest.mark.parametrize("vocab_size", TOKENS)
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if FILTERS & row.keywords.keys()])
def test_every_filter_removes_a_token(name, vocab_size):
    assert removed(vocab_size, ROWS[name].keywords)


@pytest.mark.parametrize("vocab_size", TOKENS)
def test_of_two_filters_each_removes_what_the_other_keeps(vocab_size):
    both = ROWS["top_k and top_p"].keywords
    together = removed(vocab_size, both)
    for name, value in both.items():
        assert removed(vocab_size, {name: value}) < together


@pytest.mark.parametrize("vocab_size", TOKENS)
def test_the_other_rows_change_the_law(vocab_size):
    plain = transformers.target(vocab_size=vocab_size)
    for row in ROWS.values():
        if row.lossless and row.name != "temperature 1":
            law = transformers.target(vocab_size=vocab_size, **row.keywords)
            assert abs(law((1,)) - plain((1,))).max() > 0.02, row.name


def test_the_rows_are_keywords_of_the_factories():
    assert {"temperature 0.5", "temperature 1", "temperature 2", "min_p", "repetition penalty"} < ROWS.keys()
    assert [row.name for row in ROWS.values() if not row.lossless] == ["ensemble weight 0.9"]
    for row in ROWS.values():
        factories = [transformers.assisted]
        if row.lossless:
            factories += [transformers.prompt_lookup, transformers.early_exit, transformers.plain, transformers.target]
        for factory in factories:
            assert row.keywords.keys() <= inspect.signature(factory).parameters.keys()
