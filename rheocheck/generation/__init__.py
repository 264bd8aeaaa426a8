"""RheoSampling on models of transformers: whole texts with the target's own law, drafted by another model.

    requests    prompts, parameters, seeds            drafting    the drafter's passes over a tree
    cache       keys and values, kept by path         statistics  blocks, probes, seconds
    generate    whole texts, in batches               greedy      greedy answers against transformers' own
    models      which models can be used

    answers = generate(target, drafter, [Request(prompt, seed=1), ...])

The arrays are those of `rheocheck.production`, to which logits go once a cycle, looked at for NaN and +inf. Needs the
extra `torch`, and models need `hf`.
"""

import rheocheck.production  # noqa: F401  # it says what to install where torch is missing
from rheocheck.generation.generate import Generated, generate
from rheocheck.generation.greedy import GreedyComparison, GreedyDifference, against_greedy
from rheocheck.generation.requests import Request
from rheocheck.generation.statistics import Statistics

__all__ = [
    "Generated", "GreedyComparison", "GreedyDifference", "Request", "Statistics", "against_greedy", "generate",
]  # fmt: skip
