"""A decoder = a builder + a verifier, walking one tree per cycle.

    cycle:  build a tree after the context; from the root, ask the verifier for (token, descend) at each node,
            emit the token, and go on below the child that carries it while the verifier says so
    generate: cycles, each after everything emitted so far, until there are enough tokens

A leaf has no children, so its verifier emits from p: that is the bonus token of a fully accepted path.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rheocheck.core.builders import rheo as rheo_builder
from rheocheck.core.chance import Chance, RandomChance
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Law, Pair
from rheocheck.core.ranking import draw, grow
from rheocheck.core.shape import Shape
from rheocheck.core.tree import Node, Tree
from rheocheck.core.verifiers import rheo as rheo_verifier

Builder = Callable[..., Any]  # a rule(q, K, m), or builder(pair, context, chance, shape) -> Tree
Verifier = Callable[[Law, tuple[Node, ...], Chance], tuple[int, bool]]


def is_rule(builder: Builder) -> bool:
    """Whether `builder` is a rule (three arguments) and not a callable of (pair, context, chance, shape).

    Arguments with a default are the author's own and do not count.
    """
    try:
        parameters = list(inspect.signature(builder).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if count not in (3, 4):
        raise InputError(
            "a builder must be a rule(q, K, m) or a callable (pair, context, chance, shape) -> Tree, "
            f"got {getattr(builder, '__name__', builder)!r} with {count}"
        )
    return count == 3


def build(builder: Builder, pair: Pair, context: Context, chance: Chance, shape: Shape) -> Tree:
    """The tree that a rule or a callable builder makes after `context`."""
    if is_rule(builder):
        return grow(lambda at: draw(builder, pair, at, chance, shape), context, shape)
    return builder(pair, context, chance, shape)


def child_with(children: tuple[Node, ...], token: int) -> Node:
    """The child the walk descends to: the eldest that carries `token`. InputError when there is none."""
    for child in children:
        if child.token == token:
            return child
    raise InputError(
        f"a verifier may descend to a kept child only, got token {token!r}; kept: {[c.token for c in children]}"
    )


@dataclass(frozen=True)
class Decoder:
    """A speculative decoder over a pair; also a subject, `decoder(context, n_tokens, seed=0) -> tokens`."""

    pair: Pair
    builder: Builder = rheo_builder
    verifier: Verifier = rheo_verifier
    shape: Shape = Shape()

    def cycle(self, context: Context, chance: Chance) -> Context:
        """The block of one cycle after `context`: the accepted path and one more token."""
        children = build(self.builder, self.pair, context, chance, self.shape).children
        block: Context = ()
        while True:
            seen = tuple(child.leaf() for child in children)
            token, descend = self.verifier(self.pair.p(context + block), seen, chance)
            if descend:
                children = child_with(children, token).children
            block = (*block, token)
            if not descend:
                return block

    def generate(self, context: Context, n_tokens: int, chance: Chance) -> Context:
        """At least `n_tokens` new tokens after `context`, over as many cycles as they take."""
        tokens: Context = ()
        while len(tokens) < n_tokens:
            tokens += self.cycle(context + tokens, chance)
        return tokens

    def __call__(self, context: Context, n_tokens: int, seed: int | None = None) -> Context:
        return self.generate(tuple(context), n_tokens, RandomChance(seed))
