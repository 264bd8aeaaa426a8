"""The forest of any builder, by replaying every way its choices may fall: small sizes, no assumptions."""

from fractions import Fraction
from typing import Any

from rheocheck.core.chance import ReplayChance, outcomes
from rheocheck.core.decoder import Builder, build
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Tree
from rheocheck.exact.budget import Budget
from rheocheck.exact.forest import Forest
from rheocheck.exact.numbers import as_fraction
from rheocheck.exact.slots import calling, name_of


def replay(pair: Pair, builder: Builder, context: Context, shape: Shape, budget: Budget) -> Forest:
    """The forest of `builder` (a rule or a callable), one class per outcome of its choices. It is given Fractions."""
    forest = Forest()
    number = type(pair.p(())[0])
    fractions = pair.converted(as_fraction)
    covered: Any = Fraction(0)

    def grown(chance: ReplayChance) -> Tree:
        return checked(build(builder, fractions, context, chance, shape), pair.vocab_size)

    try:
        runs = outcomes(lambda chance: calling("builder", grown, context, chance, name=name_of(builder)))
        for weight, tree, _ in runs:
            forest.add(forest.plant(tree, number), number(weight))
            covered += weight
            if not budget.spend(covered):
                break
    except KeyboardInterrupt:
        budget.stopped = "interrupted"
    forest.unseen = 1 - covered
    return forest


def checked(tree: Tree, vocab_size: int) -> Tree:
    """`tree`, or InputError when a builder returned what no verifier can be asked about."""
    if not isinstance(tree, Tree):
        raise InputError(f"a builder must return a Tree, got {type(tree).__name__}")
    for path, node in tree.walk():
        if not all(isinstance(x, int) and 0 <= x < vocab_size for x in path):
            raise InputError(f"a tree must hold tokens 0..{vocab_size - 1}, got the path {path}")
        if len(node.claim) != vocab_size:
            raise InputError(f"the claim of node {path} must have {vocab_size} entries, got {len(node.claim)}")
        slots = [child.slot for child in node.children]
        if slots != sorted(set(slots)):
            raise InputError(f"children must stand in slot order, each slot once; node {path} has slots {slots}")
    return tree
