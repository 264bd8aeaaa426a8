"""Decoding of requests with two Hugging Face causal models: each text has the law of the target's own sampling.

    found = generate(target, drafter, [Request(prompt=(1, 2, 3), temperature=0.7, top_p=0.9, seed=5)])
    found.tokens[0]

A cycle, for all rows at once:

    draft    the drafter reads what is new, then the tree, layer by layer
    target   one pass over the root and the N nodes, each seeing its ancestors
    verify   against the logits, filtered as transformers does
    cache    the accepted path is kept, the other nodes are forgotten; rows that have ended leave the batch

A row's noise comes from its own seed, so that a row draws the same with any others beside it (up to the rounding of the
models, which may depend on the sizes of a batch).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.generation.cache import CachedModel
from rheocheck.generation.drafting import TreeDrafter
from rheocheck.generation.requests import Request, check_requests, eos_of, parameters
from rheocheck.generation.statistics import Statistics
from rheocheck.production.build import build
from rheocheck.production.decide import VERIFIERS, Verifier
from rheocheck.production.noise import CycleNoise, draw_noise
from rheocheck.production.slots import BUILDERS, Builder
from rheocheck.production.target import Filtered
from rheocheck.production.tree import DraftTree
from rheocheck.production.verify import Emitted, verify

OnTokens = Callable[[int, tuple[int, ...]], None]  # (number of the request, its next tokens)
Look = Callable[[int, Float[Tensor, "n V"], Sequence[int]], None]  # (request, logits at its path, block before cuts)


@dataclass(frozen=True)
class Generated:
    """The new tokens of every request, EOS included, and what happened on the way."""

    tokens: tuple[tuple[int, ...], ...]
    statistics: Statistics


@torch.inference_mode()
def generate(
    target: Any,
    drafter: Any,
    requests: Sequence[Request],
    *,
    shape: Shape | None = None,
    builder: str | Builder = "rheo",
    verifier: str | Verifier = "rheo",
    on_tokens: OnTokens | None = None,
) -> Generated:
    """Answer all requests.

    target, drafter    causal models of transformers, in eval mode, on one device, over one vocabulary
    builder, verifier  names of `BUILDERS` and `VERIFIERS`, or such functions; m, K, D, F, N are in `shape`
    on_tokens          is called with a request's number and its next tokens, as they come

    Raises InputError where the models or a request cannot be used.
    """
    decoding = Decoding(target, drafter, requests, shape or Shape(), builder, verifier)
    while decoding.rows:
        for number, block in decoding.cycle():
            if on_tokens is not None:
                on_tokens(number, block)
    return Generated(tuple(map(tuple, decoding.texts)), decoding.statistics)


class Decoding:
    """The state between cycles.

    texts   new tokens of every request          rows   requests that go on, by the row of the batch
    new     what the drafter has not read yet; its last token neither has the target: the root of the next tree
    """

    def __init__(
        self,
        target: Any,
        drafter: Any,
        requests: Sequence[Request],
        shape: Shape,
        builder: str | Builder,
        verifier: str | Verifier,
    ) -> None:
        check_requests(requests, target, drafter)
        self.builder: Builder = _named("builder", builder, BUILDERS)
        self.verifier: Verifier = _named("verifier", verifier, VERIFIERS)
        self.requests, self.device = requests, target.device
        self.shape = replace(shape, depth=max(1, min(shape.depth, shape.nodes)))  # N nodes reach no deeper
        self.eos = [eos_of(request, target) for request in requests]
        self.texts: list[list[int]] = [[] for _ in requests]
        self.rows = list(range(len(requests)))
        self.vocab_size = target.config.get_text_config().vocab_size
        self.noise = [torch.Generator(self.device).manual_seed(request.seed) for request in requests]
        self.statistics = Statistics()
        self.target, self.drafter = CachedModel(target, len(requests)), CachedModel(drafter, len(requests))
        self.new = [list(request.prompt) for request in requests]
        self.parameters = parameters(requests, self.device)
        with self.statistics.timed("prompt"):
            known = [tokens[:-1] for tokens in self.new]
            if any(known):
                self.target.follow(*self._padded(known))

    def cycle(self, look: Look | None = None) -> list[tuple[int, tuple[int, ...]]]:
        """One block more for every row: (request, tokens that count). `look` sees what each was taken from."""
        noise = self._draw()
        with self.statistics.timed("draft"):
            tree = self._tree(noise)
        with self.statistics.timed("target"):
            logits = self._read(tree)
        with self.statistics.timed("verify"):
            law, on_cpu = Filtered(logits, self.parameters), self.device.type == "cpu"
            out = verify(tree, law, noise.coin, verifier=self.verifier, walk=on_cpu, early_exit=on_cpu)
        with self.statistics.timed("cache"):
            self._keep(out)
            self._check_logits()
            self.new = [block[:length] for block, length in zip(out.tokens.tolist(), out.length.tolist(), strict=True)]
        self.statistics.add(tree, out, [len(block) for block in self.new], self.rows)
        for row, number in enumerate(self.rows if look is not None else ()):
            look(number, logits[row, out.nodes[row]], self.new[row])
        return self._finish()

    def _draw(self) -> CycleNoise:
        generators = [self.noise[number] for number in self.rows]
        return draw_noise(self.shape, len(self.rows), self.vocab_size, generator=generators, device=self.device)

    def _tree(self, noise: CycleNoise) -> DraftTree:
        if self.shape.nodes:
            root = self.drafter.follow(*self._padded(self.new))
        else:  # plain sampling asks no drafter
            root = torch.zeros(len(self.rows), self.vocab_size, device=self.device)
        temperature = self.parameters.temperature.to(root.dtype)
        model = TreeDrafter(self.drafter)
        tree = build(root, model, self.shape, noise.probe, builder=self.builder, temperature=temperature)
        self.drafter.drop()
        return tree

    def _read(self, tree: DraftTree) -> Float[Tensor, "B N1 V"]:
        """The target's logits at the root and every node."""
        roots = torch.tensor([tokens[-1:] for tokens in self.new], device=self.device)
        return self.target.read(torch.cat([roots, tree.token[:, 1:]], 1), tree.position, tree.mask)

    def _keep(self, out: Emitted) -> None:
        """The root and the accepted nodes; the last token of a block is read as the next root."""
        deepest = min(self.shape.depth, self.shape.nodes)
        self.target.keep(out.nodes[:, : deepest + 1], out.length)

    def _check_logits(self) -> None:
        """Raise InputError where a model's logits are no law; this waits for the device, as reading the block does."""
        for name, model in (("target", self.target), ("drafter", self.drafter)):
            for row in model.broken.nonzero()[:, 0].tolist():
                number = self.rows[row]
                raise InputError(
                    f"logits of the {name} must be finite, or -inf for some tokens only, got NaN, +inf or all -inf in "
                    f"request {number} after {len(self.texts[number])} new tokens; try a wider dtype"
                )

    def _finish(self) -> list[tuple[int, tuple[int, ...]]]:
        """Cut the blocks, and let the rows go that have ended."""
        blocks, going = [], []
        for row, number in enumerate(self.rows):
            text = self.texts[number]
            block, ended = self.requests[number].cut(self.new[row], len(text), self.eos[number])
            text.extend(block)
            blocks.append((number, block))
            if not ended:
                going.append(row)
        if len(going) < len(self.rows):
            self.rows = [self.rows[row] for row in going]
            self.new = [self.new[row] for row in going]
            self.parameters = parameters([self.requests[number] for number in self.rows], self.device)
            for model in (self.target, self.drafter):
                model.select(going)
        return blocks

    def _padded(self, tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Token ids [rows, longest], and how many of each row count."""
        longest = max(map(len, tokens))
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in tokens], device=self.device)
        return ids, torch.tensor([len(row) for row in tokens], device=self.device)


def _named(what: str, value: Any, known: dict[str, Any]) -> Any:
    if callable(value):
        return value
    if value not in known:
        raise InputError(f"{what} must be one of {', '.join(known)}, got {value!r}; try {next(iter(known))}")
    return known[value]
