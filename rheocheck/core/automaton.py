"""A pair as a finite automaton, so that arrays can walk it: one row of laws per state, one table of steps.

    draft[s], target[s]   the laws q and p in state s
    step[s][x]            the state after emitting token x in state s

A state is a word that some context of the tables begins with; a context is in the longest state that it ends with
(Aho and Corasick). All that the pair can tell apart, the states do.
"""

from dataclasses import dataclass, field

from rheocheck.core.pair import Context, Law, Pair


@dataclass(frozen=True)
class Automaton:
    """The states of a pair with their laws; `words` says which suffix each state stands for."""

    words: tuple[Context, ...]
    draft: tuple[Law, ...] = field(repr=False)
    target: tuple[Law, ...] = field(repr=False)
    step: tuple[tuple[int, ...], ...] = field(repr=False)

    def state(self, context: Context) -> int:
        """The state a context is in."""
        at = 0
        for token in context:
            at = self.step[at][token]
        return at


def automaton(pair: Pair) -> Automaton:
    """The automaton of a pair; state 0 is the start."""
    words = sorted({word[:n] for word in (*pair.draft, *pair.target) for n in range(len(word) + 1)}, key=_by_length)
    number = {word: state for state, word in enumerate(words)}
    step = tuple(tuple(_longest(number, (*word, x)) for x in range(pair.vocab_size)) for word in words)
    return Automaton(tuple(words), tuple(map(pair.q, words)), tuple(map(pair.p, words)), step)


def _by_length(word: Context) -> tuple[int, Context]:
    return len(word), word


def _longest(number: dict[Context, int], word: Context) -> int:
    return next(number[word[start:]] for start in range(len(word) + 1) if word[start:] in number)
