"""Seeds: those handed to a subject, and those of the global generators.

Every call gets a seed of its own, and no two audits get the same ones unless they are asked to. The global generators
get seeds that are unrelated to the call's and to each other, although some of them share an engine: a subject that
draws from several of them is right to take them for independent.
"""

import random
import sys

import numpy as np

STREAMS = 16  # uses of seeds within one audit, each with calls of its own
ENUMERATION = 15  # the stream of an enumeration's seeds; an audit's sources have the others
WORD = 2**32  # np.random.seed takes no larger seed
OURS = 0x7268656F  # a subject may use SeedSequence too
SEED_RANDOM, SEED_NUMPY = random.seed, np.random.seed  # whatever stands in for them during an enumeration
GOLDEN = 2654435769  # 2^32 / golden ratio: its multiples keep away from each other


def first_seed(seed: int) -> int:
    """Where the counter of an audit's calls starts.

    Audits with neighbouring seeds start far apart: two of a hundred have 900,000 calls each before they could meet.
    """
    high, low = divmod(seed, WORD)
    return (low * GOLDEN + (_mixed(high % WORD) if high else 0)) % WORD


def call_seed(start: int, stream: int, call: int) -> int:
    """The seed of a call: 32 bits, without repeats for 2^28 calls, disjoint for streams 0 to 15.

    A counter through a bijection of 32-bit words: neighbouring calls get unrelated seeds.
    """
    return _mixed((start + STREAMS * call + stream) % WORD)


def seed_globals(seed: int, *, devices: bool = True) -> None:
    """Seed `random`, `numpy.random` and, if it is imported, torch, each by words of its own made of this seed.

    Several words lead to states that no seed of 32 bits leads to. Without `devices`, torch's accelerators are left
    alone: that is a hundred times as fast.
    """
    words = [int(word) for word in np.random.SeedSequence([OURS, seed]).generate_state(7)]
    SEED_RANDOM(words[0] << 64 | words[1] << 32 | words[2])
    SEED_NUMPY(words[3:6])
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        (torch if devices else torch.default_generator).manual_seed(words[6])


def _mixed(x: int) -> int:
    """MurmurHash3's finaliser, a bijection of 32-bit words."""
    x = (x ^ x >> 16) * 0x85EBCA6B % WORD
    x = (x ^ x >> 13) * 0xC2B2AE35 % WORD
    return x ^ x >> 16
