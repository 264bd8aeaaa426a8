"""Builders: rules under the shared ranking loop, and `sampled`, which is a builder of its own."""

from rheocheck.core.builders.naive import naive
from rheocheck.core.builders.rheo import rheo
from rheocheck.core.builders.sampled import sampled
from rheocheck.core.builders.top_k import top_k

BUILDERS = {"top_k": top_k, "rheo": rheo, "naive": naive, "sampled": sampled}

__all__ = ["BUILDERS", "naive", "rheo", "sampled", "top_k"]
