"""The production path as a subject: whole batches of words from a toy pair, cycle after cycle.

    rheocheck audit rheocheck.production:subject --target toy_models.survival_bias:pair --set walk=true

The pair's laws go in as logits of the dtype that is asked for, through the top-128 softmax and all.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context, Pair
from rheocheck.core.shape import Shape
from rheocheck.formats.loading import load_attribute
from rheocheck.production.build import Frontier, build
from rheocheck.production.decide import VERIFIERS, Verifier
from rheocheck.production.noise import CycleNoise, draw_noise
from rheocheck.production.slots import BUILDERS, Builder
from rheocheck.production.target import Laws
from rheocheck.production.tops import given_law, top_law
from rheocheck.production.tree import DraftTree
from rheocheck.production.verify import Emitted, verify

BLOCK = 8192  # sequences decoded at once


@dataclass(frozen=True)
class PairTensors:
    """A drafter and a target as an automaton: logits (or laws) per state, and the state after each token."""

    draft: Float[Tensor, "S V"]
    target: Float[Tensor, "S V"]
    step: Int[Tensor, "S V"]
    laws: bool

    @classmethod
    def of(cls, pair: Pair, dtype: torch.dtype, *, laws: bool = False) -> "PairTensors":
        """Log probabilities as logits; with `laws`, the probabilities themselves."""
        draft, target = (
            torch.tensor([[float(x) for x in law(word)] for word in pair.states.words], dtype=torch.float64)
            for law in (pair.q, pair.p)
        )
        if not laws:
            draft, target = draft.log(), target.log()
        return cls(draft.to(dtype), target.to(dtype), torch.tensor(pair.states.step), laws)

    def to(self, device: torch.device | str) -> "PairTensors":
        """The same tables on a device."""
        return PairTensors(self.draft.to(device), self.target.to(device), self.step.to(device), self.laws)


def toy_cycle(
    tables: PairTensors,
    state: Int[Tensor, "B"],
    shape: Shape,
    noise: CycleNoise,
    builder: Builder,
    verifier: Verifier,
    *,
    walk: bool = False,
    temperature: Float[Tensor, "B"] | None = None,
) -> tuple[DraftTree, Emitted]:
    """One cycle from a state a row, the models being rows of the tables."""
    at = [state[:, None]]

    def drafter(frontier: Frontier) -> Tensor:
        at[0] = tables.step[at[0].gather(1, frontier.parent), frontier.token]
        return tables.draft[at[0]]

    read = given_law if tables.laws else top_law
    tree = build(tables.draft[state], drafter, shape, noise.probe, builder=builder, temperature=temperature, read=read)
    node_state = state[:, None].expand_as(tree.token)
    for depth in range(1, shape.depth + 1):
        stepped = tables.step[node_state.gather(1, tree.parent), tree.token]
        node_state = torch.where(tree.position == depth, stepped, node_state)
    rows = tables.target[node_state]
    target = Laws(rows) if tables.laws else rows
    return tree, verify(tree, target, noise.coin, verifier=verifier, temperature=temperature, walk=walk)


@dataclass(frozen=True)
class ProductionSubject:
    """A decoder of the production path on a pair; `sample` draws batches, a call draws one word."""

    pair: Pair
    builder: Builder
    verifier: Verifier
    shape: Shape
    walk: bool = False
    dtype: torch.dtype = torch.float32

    @cached_property
    def _tables(self) -> PairTensors:
        return PairTensors.of(self.pair, self.dtype)

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new tokens after `context`."""
        return [int(x) for x in self.sample(context, n_tokens, 1, seed)[0]]

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent words [samples, n_tokens] after `context`, over as many cycles as they take."""
        generator = torch.Generator().manual_seed(seed)
        tables, start = self._tables, self.pair.state(context)
        parts = [min(BLOCK, samples - done) for done in range(0, samples, BLOCK)]
        words = [self._words(tables, torch.full((rows,), start), n_tokens, generator) for rows in parts]
        return torch.cat(words).numpy()

    def _words(
        self, tables: PairTensors, state: Int[Tensor, "B"], n_tokens: int, generator: torch.Generator
    ) -> Int[Tensor, "B L"]:
        shape, D1 = self.shape, self.shape.depth + 1
        words = torch.zeros(len(state), n_tokens + D1, dtype=torch.long)
        filled = torch.zeros(len(state), 1, dtype=torch.long)
        while bool((filled < n_tokens).any()):
            noise = draw_noise(shape, len(state), self.pair.vocab_size, generator=generator)
            _, out = toy_cycle(tables, state, shape, noise, self.builder, self.verifier, walk=self.walk)
            going = (filled < n_tokens) & (out.tokens >= 0)  # words that are full get no more
            words.scatter_add_(1, filled.clamp_max(n_tokens) + torch.arange(D1), torch.where(going, out.tokens, 0))
            filled += going.sum(1, keepdim=True)
            for place in range(D1):
                stepped = tables.step[state, out.tokens[:, place].clamp_min(0)]
                state = torch.where(out.tokens[:, place] >= 0, stepped, state)
        return words[:, :n_tokens]


def subject(
    *,
    pair: str = "toy_models.survival_bias:pair",
    builder: str = "rheo",
    verifier: str = "rheo",
    leads: int = 1,
    branching: int = 3,
    depth: int = 2,
    nodes: int = 4,
    walk: bool = False,
    dtype: str = "float32",
) -> ProductionSubject:
    """A factory for the command line; the pair is named as `module:attr`."""
    dtypes = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
    choices = (("builder", builder, BUILDERS), ("verifier", verifier, VERIFIERS), ("dtype", dtype, dtypes))
    for name, value, known in choices:
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}; try {next(iter(known))}")
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes)
    loaded = load_attribute(pair, "pair")
    return ProductionSubject(loaded, BUILDERS[builder], VERIFIERS[verifier], shape, bool(walk), dtypes[dtype])
