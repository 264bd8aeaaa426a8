"""The cells of the noise in which a cycle's outcome is constant, with their exact volumes, from the specification.

    trees(decoder)    every way the races of a build can end: its volume, and probe arrays inside the cell
    blocks(...)       every way the coins of a walk can fall: its volume, and coin arrays at both ends of the cell

An implementation that gives the same block at both ends of every cell, INSET from its walls, has the decoder's exact
law up to INSET per wall.
"""

from dataclasses import dataclass
from typing import Any

from rheocheck.core import ReplayChance, outcomes
from rheocheck.core.decoder import child_with
from rheocheck.core.ranking import draw, grow

INSET = 4e-15
WINS, LOSES = 1 - 2.0**-53, 1e-300


class _Race:
    """Answers from a replay and notes which rank won."""

    def __init__(self, replay, row, ranks):
        self._replay, self._row, self._ranks = replay, row, ranks

    def choose(self, weights):
        token = self._replay.choose(weights)
        ranked = sorted((x for x, w in enumerate(weights) if w > 0), key=lambda x: (-weights[x], x))
        self._ranks[self._row] = ranked.index(token)
        return token


class _Coins:
    """Answers from a replay and notes the interval of each coin."""

    def __init__(self, replay, kept, K):
        self._replay, self._kept, self._asked = replay, kept, 0
        self.cells = {}
        self._K = K

    def flip(self, p):
        p = min(max(p, 0), 1)
        hit = self._replay.flip(p)
        self.cells[self._asked] = (0, p) if hit else (p, 1)
        self._asked += 1
        return hit

    def choose(self, weights):
        token = self._replay.choose(weights)
        order = [*self._kept, *(x for x in range(len(weights)) if x not in self._kept)]
        before = sum(weights[x] for x in order[: order.index(token)])
        total = sum(weights)
        self.cells[self._K] = (before / total, (before + weights[token]) / total)
        return token

    def note(self, event):
        self._replay.note(event)


@dataclass
class Build:
    """One cell of the races: its volume, the tree it grows, the number of every kept path, the winners by row."""

    volume: Any
    tree: Any
    number: dict
    ranks: dict

    def probe(self, shape, V):
        """Uniforms inside the cell."""
        rows = [[0.5] * V for _ in range(1 + (shape.depth - 1) * shape.width)]
        for row, rank in self.ranks.items():
            rows[row] = [WINS if place == rank else LOSES for place in range(V)]
        return rows


def trees(decoder):
    """All cells of the races of one build after the empty context; cells that keep the same tree are one."""
    pair, shape = decoder.pair, decoder.shape

    def program(replay: ReplayChance):
        ranks, asked, winners = {}, [0] * (shape.depth + 1), {}

        def propose(at):
            ranks[at], layer = asked[len(at)], len(at)
            asked[layer] += 1
            row = 1 + (layer - 1) * shape.width + ranks[at] if layer else 0
            return draw(decoder.builder, pair, at, _Race(replay, row, winners), shape)

        tree = grow(propose, (), shape)
        paths = sorted((len(path), ranks[path[:-1]], node.slot, path) for path, node in tree.walk())
        return tree, {(): 0} | {path: n for n, (*_, path) in enumerate(paths, start=1)}, winners

    found: dict = {}
    for weight, (tree, number, winners), _ in outcomes(program):
        key = (tree, tuple(number))
        if key in found:
            found[key].volume += weight
        else:
            found[key] = Build(weight, tree, number, winners)
    return list(found.values())


def blocks(decoder, build):
    """(volume, block, coins at the low ends, coins at the high ends) of every cell of the walk through a tree."""
    pair, K, N = decoder.pair, decoder.shape.branching, decoder.shape.nodes

    def program(replay):
        children, at, cells = build.tree.children, (), {}
        while True:
            chance = _Coins(replay, [child.token for child in children], K)
            token, descend = decoder.verifier(pair.p(at), tuple(child.leaf() for child in children), chance)
            cells[build.number[at]] = chance.cells
            at = (*at, token)
            if not descend:
                return at, cells
            children = child_with(children, token).children

    for weight, (block, cells), _ in outcomes(program):
        low, high = ([[0.5] * (K + 1) for _ in range(N + 1)] for _ in range(2))
        for node, coins in cells.items():
            for coin, (start, stop) in coins.items():
                low[node][coin], high[node][coin] = float(start) + INSET * (start > 0), float(stop) - INSET
        yield weight, block, low, high
