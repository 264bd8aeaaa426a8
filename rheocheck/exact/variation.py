"""Total variation between what is emitted and what the target would have emitted, and the witness of a bias.

A block that ends at a context is completed by plain target sampling, so below a context at which nothing more
ends both laws are proportional to the target, and no words need be listed there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rheocheck.core.pair import Context, Pair
from rheocheck.exact.numbers import as_fraction


@dataclass(frozen=True)
class Witness:
    """Where the error is largest: after `context`, `token` comes with probability `emitted` and not `target`."""

    context: Context
    token: int
    emitted: Fraction
    target: Fraction


def total_variation(pair: Pair, start: Context, stops: Mapping[Context, Any]) -> Any:
    """sum over words w of (law(w) - target(w))+, the law being `stops` completed by the target.

    For stops that sum to 1 this is the total variation; for a partial sum it is a lower bound of it, and adding the
    missing mass gives an upper bound.
    """
    alive: set[Context] = set()  # contexts strictly below which something stops
    for block in stops:
        for end in range(len(start), len(block)):
            alive.add(block[:end])
    total: Any = 0
    stack: list[tuple[Context, Any, Any]] = [(start, stops.get(start, 0), 1)]
    while stack:
        context, law, target = stack.pop()
        if context not in alive:
            total += max(law - target, 0)
            continue
        for y, p in enumerate(pair.p(context)):
            word = (*context, y)
            ended = stops.get(word, 0)
            if p or ended or word in alive:
                stack.append((word, law * p + ended, target * p))
    return total


def first_token_variation(pair: Pair, start: Context, law: Mapping[int, Any]) -> Any:
    """Compute the total variation of the first token alone, whose law is given."""
    return sum(max(law.get(y, 0) - p, 0) for y, p in enumerate(pair.p(start)))


def witness(
    pair: Pair, visits: Mapping[Context, Any], drawn: Mapping[Context, Mapping[int, Any]], bonus: Mapping[Context, Any]
) -> Witness | None:
    """Find the (context, token) of the largest P(continue) * |emitted - target|; None when all laws agree.

    drawn  {context: {token: mass}} of what is emitted there, but for `bonus`: mass that is emitted by the target's law

    Ties go to the shortest, then the smallest context, then the smallest token.
    """
    best: tuple[Any, Context, int] | None = None
    for context in sorted(drawn, key=lambda s: (len(s), s)):
        other = visits[context] - bonus.get(context, 0)
        for y, p in enumerate(pair.p(context)):
            error = abs(drawn[context].get(y, 0) - other * p)
            if error and (best is None or error > best[0]):
                best = (error, context, y)
    if best is None:
        return None
    _, context, y = best
    target = as_fraction(pair.p(context)[y])
    mass = as_fraction(drawn[context].get(y, 0)) + as_fraction(bonus.get(context, 0)) * target
    return Witness(context, y, mass / as_fraction(visits[context]), target)


def certain_excess(pair: Pair, start: Context, stops: Mapping[Context, Any]) -> Witness | None:
    """A witness that a partial sum already proves: a prefix that is emitted more often than the target allows.

    `emitted` is then a lower bound of the probability that the text starts with context + token, and `target` the
    target's probability of it. None when the classes seen so far prove nothing.
    """
    seen: dict[Context, Any] = {}
    for block, mass in stops.items():
        for end in range(len(start) + 1, len(block) + 1):
            seen[block[:end]] = seen.get(block[:end], 0) + mass
    best: tuple[Any, Context, Any, Any] | None = None
    plain: dict[Context, tuple[Any, Any]] = {start: (0, 1)}  # (mass of blocks that ended above, target)
    for prefix in sorted(seen, key=lambda s: (len(s), s)):
        above, target = plain[prefix[:-1]]
        p = pair.p(prefix[:-1])[prefix[-1]]
        arriving, target = above * p, target * p
        plain[prefix] = (arriving + stops.get(prefix, 0), target)
        law = arriving + seen[prefix]
        if law > target and (best is None or law - target > best[0]):
            best = (law - target, prefix, law, target)
    if best is None:
        return None
    _, prefix, law, target = best
    return Witness(prefix[:-1], prefix[-1], as_fraction(law), as_fraction(target))
