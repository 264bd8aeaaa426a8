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
from rheocheck.exact.guests import forget, impure, trusted
from rheocheck.exact.numbers import as_fraction
from rheocheck.exact.slots import calling, place

ASKED_AGAIN = 2_000  # outcomes of a builder that are run once more, at most
MAX_DEPTH = 500  # layers of a tree; the forest is built by recursion


def replay(pair: Pair, builder: Builder, context: Context, shape: Shape, budget: Budget) -> Forest:
    """The forest of `builder` (a rule or a callable), one class per outcome of its choices. It is given Fractions."""
    forest = Forest()
    number = type(pair.p(())[0])
    fractions = pair.converted(as_fraction)
    covered: Any = Fraction(0)
    known = _Known()

    def grown(chance: ReplayChance) -> Tree:
        return checked(build(builder, fractions, context, chance, shape), pair.vocab_size)

    def run(chance: ReplayChance, again: bool = False) -> tuple[Tree, tuple[int, ...]]:
        return calling("builder", grown, context, chance, guest=builder, again=again), tuple(chance.taken)

    where = place("builder", builder, context)
    try:
        for weight, (tree, script), _ in outcomes(run):
            forest.add(forest.plant(tree, number), number(weight))
            covered += weight
            if not known.trees and run(ReplayChance(), again=True) != (tree, script):
                raise impure(where, "two trees, or other choices, when asked again", builder)
            known.add(script, tree)
            if not budget.spend(covered):
                break
        else:
            if covered != 1:
                raise impure(where, f"outcomes of total weight {covered}", builder)
        forget(builder)
        for script, tree in reversed(known.trees if not trusted(builder) else []):
            if run(ReplayChance(script), again=True) != (tree, script):
                raise impure(where, "two trees, or other choices, when asked again", builder)
        if fractions != pair.converted(as_fraction):
            raise impure(where, "another pair than it was given: it changes its rows", builder)
    except KeyboardInterrupt:
        budget.stopped = "interrupted"
    forest.unseen = 1 - covered
    return forest


class _Known:
    """Some of the trees of a replay, evenly spaced, with the choices that led to them."""

    def __init__(self) -> None:
        self.trees: list[tuple[tuple[int, ...], Tree]] = []
        self._count, self._step = 0, 1

    def add(self, script: tuple[int, ...], tree: Tree) -> None:
        """Keep every first, second, fourth ... tree, whichever leaves few enough."""
        if self._count % self._step == 0:
            self.trees.append((script, tree))
        self._count += 1
        if len(self.trees) > ASKED_AGAIN:
            self.trees, self._step = self.trees[::2], 2 * self._step


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
