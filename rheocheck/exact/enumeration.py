"""One door to the two enumerators: lazily revealed classes for a rule, replay for anything else."""

from rheocheck.core.decoder import Builder, is_rule
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.exact.budget import Budget
from rheocheck.exact.classes import Classes
from rheocheck.exact.forest import Forest
from rheocheck.exact.replay import replay


def forest_of(
    pair: Pair, builder: Builder, context: Context, shape: Shape, budget: Budget | None = None, first: int | None = None
) -> Forest:
    """The measure over the trees that `builder` makes after `context`; `first` limits it to the first l tokens."""
    budget = budget or Budget()
    if is_rule(builder):
        forest = Classes(pair, builder, context, shape).enumerate(budget, first)
    else:
        forest = replay(pair, builder, context, shape, budget)
    if forest.unseen == 0 and budget.stopped != "interrupted":
        budget.stopped = None  # the last class used the budget up, and nothing is missing
    return forest
