"""Cases for comparing core, JAX and torch draw by draw: random pairs and shapes, and the same noise for all.

Every probability is k / 2^b with b D <= 48, so float64 holds all sums and all scores exactly and a tie of the
specification is a tie of the arrays. A third of the pairs is dyadic through and through: ties everywhere.
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from rheocheck.core import BUILDERS, VERIFIERS, Decoder, Pair, Shape
from rheocheck.formats.noise import cycle_from_noise
from toy_models.random_family import random_pair


@dataclass(frozen=True)
class Case:
    """A decoder by names, and a seed for its noise."""

    seed: int
    pair: Pair
    shape: Shape
    builder: str
    verifier: str

    def decoder(self):
        return Decoder(self.pair, BUILDERS[self.builder], VERIFIERS[self.verifier], self.shape)

    def noise(self, draws):
        """probe [draws, E, V], coin [draws, N+1, K+1], float64."""
        rng, shape = np.random.default_rng(self.seed), self.shape
        rows = 1 + (shape.depth - 1) * shape.width
        return (
            rng.random((draws, rows, self.pair.vocab_size)),
            rng.random((draws, shape.nodes + 1, shape.branching + 1)),
        )


def case(seed, **fixed):
    """The case of a seed; `fixed` sizes of the shape are not drawn."""
    rng = random.Random(f"case {seed}")
    depth = fixed.get("depth", rng.randint(1, 3))
    sizes = {
        "leads": rng.randint(0, 3),
        "branching": rng.randint(1, 5),
        "depth": depth,
        "nodes": rng.randint(1, 10),
        "frontier": rng.choice([None, None, 1, 2, 6]),
    } | fixed
    V, order = rng.randint(2, 6), rng.randint(0, 2)
    if rng.random() < 1 / 3:
        pair = random_pair(seed, vocab_size=V, order=order, ties=True, zeros=rng.random() < 1 / 2)
    else:
        pair = grid_pair(rng, V, order, 2 ** (48 // depth // 3 if depth > 1 else 16))
    builder = rng.choice(["rheo", "rheo", "naive", "top_k"])
    return Case(seed, pair, Shape(**sizes), builder, rng.choice(list(VERIFIERS)))


def grid_pair(rng, V, order, grid):
    """Laws of multiples of 1/grid, some of them zero, for all contexts of up to `order` tokens, a few left out."""

    def law():
        cuts = sorted(rng.choice([rng.randrange(grid + 1), 0, grid]) for _ in range(V - 1))
        law = [Fraction(b - a, grid) for a, b in zip([0, *cuts], [*cuts, grid], strict=True)]
        rng.shuffle(law)
        return law

    contexts = [c for n in range(order + 1) for c in product(range(V), repeat=n) if not c or rng.random() < 0.8]
    return Pair(V, {c: law() for c in contexts}, {c: law() for c in contexts})


def core_run(case: Case, probe: Any, coin: Any):
    """[(paths with their slots, block)] of the specification, one a draw."""
    decoder = case.decoder()
    runs = []
    for p, c in zip(probe.tolist(), coin.tolist(), strict=True):
        tree, block = cycle_from_noise(decoder, (), p, c)
        runs.append(({path: node.slot for path, node in tree.walk()}, block))
    return runs


def jax_run(case: Case, probe: Any, coin: Any):
    """The same of the JAX reference, float64."""
    import jax
    import jax.numpy as jnp

    from rheocheck.reference import BUILDERS, VERIFIERS, cycles, tables_of

    with jax.enable_x64(True):
        start = jnp.zeros(len(probe), int)
        builder, verifier = BUILDERS[case.builder], VERIFIERS[case.verifier]
        tree, block = cycles(tables_of(case.pair), builder, verifier, case.shape, start, probe, coin)
    token, kept, below = (np.asarray(part).tolist() for part in (tree.token, tree.kept, tree.below))
    number = np.asarray(tree.number)
    assert (np.sort(number.reshape(len(number), -1)).max(1) == np.asarray(tree.kept).sum((1, 2))).all()
    runs = []
    for i, (emitted, length) in enumerate(zip(np.asarray(block.tokens).tolist(), block.length.tolist(), strict=True)):
        paths, rows = {}, [((), 0)]
        while rows:
            path, row = rows.pop()
            for slot, here in enumerate(kept[i][row]):
                if here:
                    paths[(*path, token[i][row][slot])] = slot + 1
                    rows.append(((*path, token[i][row][slot]), below[i][row][slot]))
        runs.append((paths, tuple(emitted[:length])))
    return runs


def torch_run(case: Case, probe: Any, coin: Any, *, walk=False, dtype=None, laws=True):
    """The same of the production path, by default on laws in float64."""
    import torch

    from rheocheck.production import BUILDERS, VERIFIERS, CycleNoise
    from rheocheck.production.subject import PairTensors, toy_cycle

    dtype = dtype or torch.float64
    tables = PairTensors.of(case.pair, dtype, laws=laws)
    noise = CycleNoise(torch.from_numpy(probe).to(dtype), torch.from_numpy(coin))
    start = torch.zeros(len(probe), dtype=torch.long)
    builder, verifier = BUILDERS[case.builder], VERIFIERS[case.verifier]
    tree, out = toy_cycle(tables, start, case.shape, noise, builder, verifier, walk=walk)
    token, parent, valid, child = (part.tolist() for part in (tree.token, tree.parent, tree.valid, tree.child))
    runs = []
    for i, (emitted, length) in enumerate(zip(out.tokens.tolist(), out.length.tolist(), strict=True)):
        paths, of_node = {}, {0: ()}
        for n in range(1, case.shape.nodes + 1):
            if valid[i][n]:
                of_node[n] = (*of_node[parent[i][n]], token[i][n])
                paths[of_node[n]] = 1 + child[i][parent[i][n]].index(n)
        runs.append((paths, tuple(emitted[:length])))
    return runs
