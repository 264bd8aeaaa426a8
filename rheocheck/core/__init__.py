"""The specification: pairs, trees with claims, builders and verifiers, on the standard library alone.

Read in this order: pair, chance, tree, rule, builders/rheo, ranking, verifiers/recursive, verifiers/matching,
builders/naive (why the rank must not look at the draw), verifiers/rheo, decoder.
"""

from rheocheck.core.builders import BUILDERS, naive, sampled, top_k
from rheocheck.core.chance import Chance, RandomChance, ReplayChance, outcomes
from rheocheck.core.decoder import Decoder, build
from rheocheck.core.errors import InputError, MissingExtra, RheocheckError
from rheocheck.core.pair import Context, Law, Pair, normalise, one_hot
from rheocheck.core.ranking import Proposal, grow
from rheocheck.core.rule import Rule, Slot
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node, Tree
from rheocheck.core.verifiers import VERIFIERS, matching, recursive

__all__ = [
    "BUILDERS",
    "Chance",
    "Context",
    "Decoder",
    "InputError",
    "Law",
    "MissingExtra",
    "Node",
    "Pair",
    "Proposal",
    "RandomChance",
    "ReplayChance",
    "RheocheckError",
    "Rule",
    "Shape",
    "Slot",
    "Tree",
    "VERIFIERS",
    "build",
    "grow",
    "matching",
    "naive",
    "normalise",
    "one_hot",
    "outcomes",
    "recursive",
    "sampled",
    "top_k",
]
