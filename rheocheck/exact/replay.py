"""The forest of any builder, by replaying every way its choices may fall: small sizes, no assumptions."""

from fractions import Fraction
from typing import Any

from rheocheck.core.chance import ReplayChance, outcomes
from rheocheck.core.decoder import Builder, build
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.rule import check_law
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node, Tree
from rheocheck.exact.budget import Budget
from rheocheck.exact.forest import Forest
from rheocheck.exact.numbers import as_fraction
from rheocheck.exact.slots import calling, name_of

MAX_DEPTH = 500  # layers of a tree; the forest is built by recursion


def replay(pair: Pair, builder: Builder, context: Context, shape: Shape, budget: Budget) -> Forest:
    """The forest of `builder` (a rule or a callable), one class per outcome of its choices. It is given Fractions."""
    forest = Forest()
    number = type(pair.p(())[0])
    fractions = pair.converted(as_fraction)
    covered: Any = Fraction(0)
    first: Tree | None = None

    def grown(chance: ReplayChance) -> Tree:
        return checked(build(builder, fractions, context, chance, shape), pair.vocab_size)

    try:
        runs = outcomes(lambda chance: calling("builder", grown, context, chance, name=name_of(builder)))
        for weight, tree, _ in runs:
            forest.add(forest.plant(tree, number), number(weight))
            covered += weight
            if first is None:  # the same choices once more: a builder may depend on nothing else
                first = tree
                if grown(ReplayChance()) != tree:
                    raise InputError(
                        f"builder {name_of(builder)!r} must depend on its chance alone, got two trees for the same "
                        "choices; draw with chance.choose and chance.flip"
                    )
            if not budget.spend(covered):
                break
        else:
            if covered != 1:
                raise InputError(
                    f"builder {name_of(builder)!r} must depend on its chance alone, got outcomes of total weight "
                    f"{covered}; draw with chance.choose and chance.flip"
                )
    except KeyboardInterrupt:
        budget.stopped = "interrupted"
    forest.unseen = 1 - covered
    return forest


def checked(tree: Tree, vocab_size: int) -> Tree:
    """`tree`, or InputError when a builder returned what no verifier can be asked about."""
    if not isinstance(tree, Tree):
        raise InputError(f"a builder must return a Tree, got {type(tree).__name__}; try Tree(children)")
    _check_slots((), tree.children)
    for path, node in tree.walk():
        if len(path) > MAX_DEPTH:
            raise InputError(f"a tree may be at most {MAX_DEPTH} layers deep, got more; try a smaller depth")
        if type(node.token) is not int or not 0 <= node.token < vocab_size:
            raise InputError(f"a tree must hold tokens 0..{vocab_size - 1} (integers), got the path {path}")
        check_law(f"the claim of node {path}", node.claim, vocab_size)
        _check_slots(path, node.children)
    return tree


def _check_slots(path: Context, children: tuple[Node, ...]) -> None:
    slots = [child.slot for child in children]
    if not all(type(slot) is int for slot in slots) or slots != sorted(set(slots)):
        raise InputError(
            f"children must stand in slot order, each slot (an integer) once; node {path} has slots {slots}; sort them"
        )
