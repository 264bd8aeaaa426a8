"""Exact curves over one size of the trees, or over the temperature: `sweep` is the front door."""
