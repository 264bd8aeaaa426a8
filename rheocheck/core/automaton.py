"""The states of a pair: all that its two tables can tell apart about a context, as few as possible.

    words[s]     a context in state s: after it the tables say what they say in this state
    step[s][x]   the state after token x in state s; state 0 is the start

A context is in the longest suffix of it that some context of the tables begins with (Aho and Corasick, 1975). Such
suffixes are one state where they have equal rows, and steps into equal states (Moore, 1956): equal states have equal
futures, different ones do not.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from rheocheck.core.rows import Context


@dataclass(frozen=True)
class Automaton:
    """The states of two tables of laws; `words` has the first and shortest suffix that is in each state.

    longest  length of the tables' longest context: tokens before the last so many change nothing
    """

    words: tuple[Context, ...]
    step: tuple[tuple[int, ...], ...] = field(repr=False)
    longest: int

    def state(self, context: Context) -> int:
        """The state that a context is in. Raises IndexError where it holds a token outside the vocabulary."""
        at = 0
        for token in context[max(0, len(context) - self.longest) :]:
            at = self.step[at][token]
        return at


def automaton(vocab_size: int, contexts: Iterable[Context], row: Callable[[Context], Hashable]) -> Automaton:
    """Build the fewest states that tell apart what `row` says after any context.

    contexts  those that have a row of their own, the empty one among them
    row       what the tables say after a context; it looks at the longest suffix among `contexts` only
    """
    contexts = list(contexts)
    words = sorted({context[:n] for context in contexts for n in range(len(context) + 1)}, key=_by_length)
    number = {word: i for i, word in enumerate(words)}
    step = [[_longest(number, (*word, x)) for x in range(vocab_size)] for word in words]
    group = _coarsest([row(word) for word in words], step)
    first = [group.index(state) for state in range(max(group) + 1)]
    return Automaton(
        tuple(words[i] for i in first),
        tuple(tuple(group[after] for after in step[i]) for i in first),
        max(map(len, contexts)),
    )


def _coarsest(rows: Sequence[Hashable], step: Sequence[Sequence[int]]) -> list[int]:
    """Number the groups of states that nothing tells apart, in the order of their first members."""
    group = _numbered(rows)
    while True:
        finer = _numbered([(group[i], *(group[after] for after in step[i])) for i in range(len(group))])
        if finer == group:
            return group
        group = finer


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _by_length(word: Context) -> tuple[int, Context]:
    return len(word), word


def _longest(number: dict[Context, int], word: Context) -> int:
    return next(number[word[start:]] for start in range(len(word) + 1) if word[start:] in number)
