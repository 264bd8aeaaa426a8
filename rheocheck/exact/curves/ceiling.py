"""How long a block could be: an expected length that no lossless verifier of the same trees exceeds.

    ceiling = 1 + sum over d = 1..D of C_d,    C_d = the largest P(W_1..W_d is a path of the tree) over all couplings
                                               of the tree with a text W of the target's law

A lossless block is the beginning of such a text W, and its first d tokens, if they were all accepted, are a path of
the tree: P(d accepted) <= C_d. Every C_d is the optimal transport of `transport`, whose "tokens" are words of d
tokens; C_1 is the optimal acceptance at the root. Of a tree without a draw the ceiling is reached, by `matching`; in
general the C_d may ask for different couplings, so it is an upper bound.
"""

from typing import Any

from rheocheck.core.pair import Context, Pair
from rheocheck.exact.budget import Budget
from rheocheck.exact.forest import Forest
from rheocheck.exact.transport import optimal_acceptance

MOST_SETS = 1_500  # different sets of kept words of one length: beyond, a max-flow takes many seconds

Sets = dict[frozenset[Context], Any]  # {set of kept words: probability}


def length_ceiling(pair: Pair, forest: Forest, start: Context, depth: int, budget: Budget) -> Any:
    """The ceiling of a complete forest built for `start`; None when the budget or MOST_SETS does not allow it."""
    found: dict[tuple[int, int], Sets | None] = {}
    total: Any = 1
    for length in range(1, depth + 1):
        kept: Sets | None = {}
        for tree, mass in forest.roots.items():
            kept = _mixed(kept, _sets(forest, tree, length, found), mass)
            if kept is None or budget.late():
                return None
        assert kept is not None  # left above
        words = sorted(set().union(*kept))
        place = {word: index for index, word in enumerate(words)}
        law = [_probability(pair, start, word) for word in words]
        total += optimal_acceptance(law, {frozenset(place[w] for w in some): mass for some, mass in kept.items()})
    return total


def _sets(forest: Forest, tree: int, length: int, found: dict[tuple[int, int], Sets | None]) -> Sets | None:
    """The law of the set of kept words of `length` tokens below a node; None when there are too many."""
    key = (tree, length)
    if key not in found:
        family, cloud = forest.families[tree]
        if length == 1:
            found[key] = {}
            for mass, _, children in forest.revealed(family, cloud):
                found[key] = _mixed(found[key], {frozenset((child.token,) for child in children): 1}, mass)
        else:
            found[key] = _product(forest, tree, length, found)
    return found[key]


def _product(forest: Forest, tree: int, length: int, found: dict[tuple[int, int], Sets | None]) -> Sets | None:
    """Kept children draw what is below them independently; a cloud has nothing below it."""
    out: Sets = {frozenset(): 1}
    family, _ = forest.families[tree]
    for kind, subtree in zip(family, forest.subtrees[tree], strict=True):
        token = forest.kinds[kind].token
        below = _sets(forest, subtree, length - 1, found)
        if below is None:
            return None
        if token is None:
            continue
        product: Sets | None = {}
        for some, mass in below.items():
            longer = frozenset((token, *word) for word in some)
            product = _mixed(product, {old | longer: weight for old, weight in out.items()}, mass)
        if product is None:
            return None
        out = product
    return out


def _mixed(one: Sets | None, other: Sets | None, mass: Any) -> Sets | None:
    """one + mass * other, in place; None when it has too many sets."""
    if one is None or other is None:
        return None
    for some, weight in other.items():
        one[some] = one.get(some, 0) + mass * weight
    return one if len(one) <= MOST_SETS else None


def _probability(pair: Pair, start: Context, word: Context) -> Any:
    """The target's probability of `word` after `start`."""
    mass: Any = 1
    for at, token in enumerate(word):
        mass *= pair.p((*start, *word[:at]))[token]
    return mass
