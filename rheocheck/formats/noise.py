"""The shared-noise contract: one cycle of a decoder as a function of arrays of uniforms.

    probe[e][i]   clock of the i-th best token of the tail at expanded node e; the race draws token argmin -log(u)/q
    coin[n][j]    at kept node n: the j-th coin that is asked for; coin[n][K] is the uniform of its draw

Numbering, the same in every implementation, so that equal noise gives equal trees, lengths and tokens:

    expanded node   e = 0 is the root, e = 1 + (d-1) F + rank the rank-th best node of layer d, for d = 1..D-1
    kept node       n = 0 is the root, then the kept nodes by (layer, rank of the parent in its layer, slot)
    draw            the weights are laid end to end, the kept children first in slot order, then the other tokens by
                    id; the draw is where u times their sum falls. A verifier that only needs to know whether the draw
                    is a kept child can then look at the children alone

Uniforms are in [0, 1). Arrays are anything indexed twice, probe [E, V] (more is not read) and coin [N+1, K+1]; trees
are those of rules, which draw once a node.
"""

import math
from collections.abc import Sequence
from typing import Any

from rheocheck.core.decoder import Decoder, child_with, is_rule
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.core.ranking import Proposal, draw, grow
from rheocheck.core.tree import Tree

Uniforms = Sequence[float]
Noise = Sequence[Uniforms]


class ProbeRace:
    """The chance of a builder at one node: a race of exponential clocks over the tokens that may be drawn."""

    def __init__(self, clocks: Uniforms) -> None:
        self._clocks = clocks

    def choose(self, weights: Sequence[Any]) -> int:
        ranked = sorted((x for x, w in enumerate(weights) if w > 0), key=lambda x: (-weights[x], x))
        if len(self._clocks) < len(ranked):
            raise InputError(
                f"a race must have a uniform for each of {len(ranked)} tokens, got {len(self._clocks)}: "
                "the others could never be drawn; make probe [E, V]"
            )
        times = [_clock(u) / float(weights[x]) for u, x in zip(self._clocks, ranked, strict=False)]
        return ranked[times.index(min(times))]

    def flip(self, p: Any) -> bool:
        raise InputError("a builder driven by noise arrays must draw by chance.choose, got a flip; use a rule")

    def note(self, event: str) -> None:
        """Nothing is kept."""


class Coins:
    """The chance of a verifier at one node: its coins in the order in which they are asked for, and one draw.

    kept        tokens of the kept children, in slot order
    vocab_size  how many weights the draw has: those of other lists would be read as other tokens'
    """

    def __init__(self, coins: Uniforms, kept: Sequence[int], vocab_size: int) -> None:
        self._coins, self._kept, self._vocab_size = coins, kept, vocab_size
        self._asked, self._drawn = 0, False

    def choose(self, weights: Sequence[Any]) -> int:
        if self._drawn:
            raise InputError(
                "a verifier driven by noise arrays must draw once a node, got a second draw, which would repeat the "
                "first one's uniform: use coins (chance.flip), or a generator instead of arrays"
            )
        if len(weights) != self._vocab_size:
            raise InputError(
                f"a draw of noise arrays must have a weight for each of {self._vocab_size} tokens, got {len(weights)}: "
                "lay them out over the vocabulary"
            )
        self._drawn = True
        order = [*self._kept, *(x for x in range(len(weights)) if x not in self._kept)]
        point = self._coins[len(self._coins) - 1] * float(sum(weights))
        reached: Any = 0
        for x in order:
            reached += weights[x]
            if point < reached:
                return x
        return max(order, key=lambda x: (weights[x] > 0, order.index(x)))  # the sum was rounded down

    def flip(self, p: Any) -> bool:
        if self._asked == len(self._coins) - 1:
            raise InputError(
                f"a verifier driven by noise arrays must ask one coin a child, at most {self._asked} a node, got one "
                "more: use a generator instead of arrays"
            )
        self._asked += 1
        return bool(self._coins[self._asked - 1] < p)

    def note(self, event: str) -> None:
        """Nothing is kept."""


def cycle_from_noise(decoder: Decoder, context: Context, probe: Noise, coin: Noise) -> tuple[Tree, Context]:
    """The tree and the block that `decoder`, whose builder is a rule, makes of this noise after `context`."""
    pair, shape = decoder.pair, decoder.shape
    _check(decoder, probe, coin)
    ranks: dict[Context, int] = {}  # of every expanded node, within its layer
    asked = [0] * (shape.depth + 1)

    def propose(at: Context) -> list[Proposal]:
        layer = len(at) - len(context)
        ranks[at] = asked[layer]
        asked[layer] += 1
        expanded = 1 + (layer - 1) * shape.width + ranks[at] if layer else 0
        return draw(decoder.builder, pair, at, ProbeRace(probe[expanded]), shape)

    tree = grow(propose, context, shape)
    paths = sorted(
        ((len(path), ranks[context + path[:-1]], node.slot, context + path) for path, node in tree.walk()),
    )
    number = {context: 0} | {path: n for n, (*_, path) in enumerate(paths, start=1)}
    children, at = tree.children, context
    while True:
        chance = Coins(coin[number[at]], [child.token for child in children], pair.vocab_size)
        token, descend = decoder.verifier(pair.p(at), tuple(child.leaf() for child in children), chance)
        at = (*at, token)
        if not descend:
            return tree, at[len(context) :]
        children = child_with(children, token).children


def _check(decoder: Decoder, probe: Noise, coin: Noise) -> None:
    shape = decoder.shape
    rows, nodes, coins = 1 + (shape.depth - 1) * shape.width, shape.nodes + 1, shape.branching + 1
    if not is_rule(decoder.builder):
        raise InputError("noise arrays must drive a builder that is a rule, got one that draws as it likes; try rheo")
    if len(probe) < rows:
        raise InputError(f"probe must have {rows} rows, one an expanded node, got {len(probe)}; make it [E, V]")
    if len(coin) < nodes or any(len(row) != coins for row in coin):
        got = sorted({len(row) for row in coin})
        raise InputError(f"coin must be [{nodes}, {coins}], got {len(coin)} rows of {got}; make it [N+1, K+1]")


def _clock(u: float) -> float:
    return -math.log(u) if u > 0 else math.inf
