"""Exact laws of the token at each position of a word, and of its first tokens together, by enumeration of prefixes."""

import numpy as np

from rheocheck.stats.contexts import Prefix, PrefixLaws
from rheocheck.stats.inputs import Floats
from rheocheck.stats.words import cell

JOINT_CELLS = 512  # the joint prefix is the longest with at most this many cells
ENUMERATED_CELLS = 2**22  # of the laws that one position is computed from


def position_laws(laws: PrefixLaws, tokens: int, max_prefixes: int) -> tuple[list[Floats], Floats]:
    """The law of each position, and of the joint prefix [vocab_size ** its length]; positions whose law needs too
    many prefixes stay out."""
    V = laws.size
    prefixes: list[Prefix] = [()]
    weights = np.ones(1)
    positions: list[Floats] = []
    joint = np.ones(1)
    for t in range(tokens):
        rows = weights[:, None] * np.array([laws.find(prefix)[1] for prefix in prefixes], dtype=float)
        positions.append(rows.sum(axis=0) / rows.sum())
        possible = np.flatnonzero(rows.ravel() > 0)
        if t < joint_length(V, tokens, t + 1):
            joint = np.zeros(V ** (t + 1))
            cells = np.array([cell(w, V) for w in prefixes])
            joint[(cells[:, None] * V + np.arange(V)).ravel()] = rows.ravel()
        if len(possible) > min(max_prefixes, ENUMERATED_CELLS // V):
            break
        prefixes = [(*prefixes[i // V], int(i % V)) for i in possible]
        weights = rows.ravel()[possible]
    return positions, joint / joint.sum()


def joint_length(vocab_size: int, tokens: int, enumerated: int) -> int:
    """The longest prefix with at most JOINT_CELLS cells whose law is known, at least the first token."""
    length = 1
    while length < min(tokens, enumerated) and vocab_size ** (length + 1) <= JOINT_CELLS:
        length += 1
    return length
