"""The joint law of the first L tokens, over as many cycles as they take."""

from collections.abc import Callable
from typing import Any

from rheocheck.core.pair import Context
from rheocheck.exact.budget import Budget
from rheocheck.exact.emission import Emission


def joint_law(cycle: Callable[[Context], Emission], start: Context, tokens: int, budget: Budget) -> dict[Context, Any]:
    """{start + word of length `tokens`: probability}, each cycle starting after everything emitted so far.

    `cycle` gives the emission of one cycle from a context, possibly a partial one. When the budget's time is up, words
    that were not reached are missing: a partial sum.
    """
    words: dict[Context, Any] = {}
    pending: list[dict[Context, Any]] = [{start: 1}, *({} for _ in range(tokens - 1))]  # by tokens emitted
    end = len(start) + tokens
    for layer in pending:
        for context, mass in layer.items():
            if budget.late() or budget.stopped is not None:
                return words
            emission = cycle(context)
            for block, weight in emission.stops.items():
                text = (*context, *block[len(emission.start) :])
                into = words if len(text) >= end else pending[len(text) - len(start)]
                into[text[:end]] = into.get(text[:end], 0) + mass * weight
    return words


def prefixes(words: dict[Context, Any], start: Context) -> tuple[dict[Context, Any], dict[Context, dict[int, Any]]]:
    """The joint law as (probability of each context, probability of each context and next token)."""
    visits: dict[Context, Any] = {}
    emitted: dict[Context, dict[int, Any]] = {}
    for word, mass in words.items():
        for at in range(len(start), len(word)):
            context, token = word[:at], word[at]
            visits[context] = visits.get(context, 0) + mass
            law = emitted.setdefault(context, {})
            law[token] = law.get(token, 0) + mass
    return visits, emitted
