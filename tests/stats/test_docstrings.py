"""The worked lines in the docstrings are true."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("module", ["chi_square", "emix", "rising"])
def test_examples(module):
    result = doctest.testmod(importlib.import_module(f"rheocheck.stats.{module}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed
