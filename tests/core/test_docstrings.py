"""The worked examples of the core are run."""

import doctest
import importlib

import pytest

EXAMPLES = {"builders.naive": 4}


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples(module):
    found = doctest.testmod(importlib.import_module(f"rheocheck.core.{module}"))
    assert (found.failed, found.attempted) == (0, EXAMPLES[module])
