"""Random pairs from a seed: small rationals, zeros on either side, ties, p = q, contexts of up to two tokens.

    random_pair(7)                      everything drawn from the seed
    random_pair(7, order=0, same=True)  what is given is not drawn

With hypothesis draw the seed: `integers(0, 2**32).map(random_pair)` gives a failing example that is one number.
The generator uses `Random.random` alone, the one method whose sequence Python promises to keep.
"""

from itertools import product
from random import Random

from rheocheck.core import Law, Pair, normalise


def random_pair(
    seed: int,
    *,
    vocab_size: int | None = None,
    order: int | None = None,
    zeros: bool | None = None,
    ties: bool | None = None,
    same: bool | None = None,
) -> Pair:
    """The pair of a seed; the same seed and arguments always give the same pair.

    vocab_size  2 to 5 unless given
    order       0: one law; 1: laws that depend on the last token; 2: on the last two (some contexts have no row
                of their own and use that of their suffix)
    zeros       whether entries of p and of q, each on its own, may be 0
    ties        dyadic laws, whose products tie everywhere
    same        p = q: True in every row, None in about one row in five, False only where two draws coincide
    """
    random = Random(seed)
    vocab_size = 2 + _below(random, 4) if vocab_size is None else vocab_size
    order = _below(random, 3) if order is None else order
    zeros = _below(random, 2) == 1 if zeros is None else zeros
    ties = _below(random, 3) == 0 if ties is None else ties
    draft: dict[tuple[int, ...], Law] = {}
    target: dict[tuple[int, ...], Law] = {}
    for length in range(order + 1):
        for context in product(range(vocab_size), repeat=length):
            if context and _below(random, 4) == 0:
                continue
            q, p = _law(random, vocab_size, zeros, ties), _law(random, vocab_size, zeros, ties)
            equal = _below(random, 5) == 0 if same is None else same
            draft[context], target[context] = q, q if equal else p
    return Pair(vocab_size, draft, target)


def _law(random: Random, vocab_size: int, zeros: bool, ties: bool) -> Law:
    if ties:
        return _dyadic_law(random, vocab_size, zeros)
    least = 0 if zeros and _below(random, 2) else 1
    weights = [least + _below(random, 6) for _ in range(vocab_size)]
    weights[_below(random, vocab_size)] += 1  # never all zero
    return normalise(weights)


def _dyadic_law(random: Random, vocab_size: int, zeros: bool) -> Law:
    """Mass 1 halved again and again: entries 1/2, 1/4, 1/8, ... in random order."""
    weights = [2**vocab_size]
    support = 1 + _below(random, vocab_size) if zeros else vocab_size
    while len(weights) < support:
        half = weights.pop(_below(random, len(weights))) // 2  # at most vocab_size - 1 halvings: stays whole
        weights += [half, half]
    weights += [0] * (vocab_size - support)
    for i in range(vocab_size - 1, 0, -1):
        j = _below(random, i + 1)
        weights[i], weights[j] = weights[j], weights[i]
    return normalise(weights)


def _below(random: Random, n: int) -> int:
    return int(random.random() * n)
