"""How often RheoSampling proposes the very tree of plain top-K: at common contexts, with common noise.

The contexts are the states that plain top-K itself comes to: a prompt, and its text up to the start of a cycle. Trees
are equal when they hold the same paths of tokens.
"""

from collections.abc import Sequence
from typing import Any

import torch

from rheocheck.bench.claims import Equal
from rheocheck.bench.settings import Settings
from rheocheck.generation.cache import CachedModel
from rheocheck.generation.drafting import TreeDrafter
from rheocheck.generation.generate import generate
from rheocheck.generation.requests import Request
from rheocheck.production.build import build
from rheocheck.production.noise import draw_noise
from rheocheck.production.slots import BUILDERS
from rheocheck.production.tree import DraftTree


def agreements(
    models: tuple[Any, Any], prompts: Sequence[tuple[int, ...]], temperature: float, leads: Sequence[int],
    settings: Settings,
) -> tuple[Equal, ...]:  # fmt: skip
    """For each m of `leads`."""
    contexts = _states(models, prompts, temperature, settings)
    equal = dict.fromkeys(leads, 0)
    for first in range(0, len(contexts), settings.rows):
        some = contexts[first : first + settings.rows]
        base = paths_of(models[1], some, "top_k", 0, temperature, settings, seed=first)
        for m in leads:
            mine = paths_of(models[1], some, "rheo", m, temperature, settings, seed=first)
            equal[m] += sum(a == b for a, b in zip(base, mine, strict=True))
    return tuple(Equal(temperature, m, equal[m], len(contexts)) for m in leads)


@torch.inference_mode()
def paths_of(
    drafter: Any, contexts: Sequence[Sequence[int]], builder: str, leads: int, temperature: float, settings: Settings,
    *, seed: int,
) -> list[frozenset[tuple[int, ...]]]:  # fmt: skip
    """The trees at these contexts, each as the set of its paths."""
    shape, longest = settings.shape(leads), max(map(len, contexts))
    model = CachedModel(drafter, len(contexts))
    ids = torch.tensor([[*tokens, *[0] * (longest - len(tokens))] for tokens in contexts])
    root = model.follow(ids, torch.tensor([len(tokens) for tokens in contexts]))
    noise = draw_noise(shape, len(contexts), root.shape[-1], generator=torch.Generator().manual_seed(seed))
    temperatures = torch.full((len(contexts),), temperature, dtype=root.dtype)
    drafted = TreeDrafter(model)
    return _paths(build(root, drafted, shape, noise.probe, builder=BUILDERS[builder], temperature=temperatures))


def _paths(tree: DraftTree) -> list[frozenset[tuple[int, ...]]]:
    found = []
    for tokens, parents, valid in zip(tree.token.tolist(), tree.parent.tolist(), tree.valid.tolist(), strict=True):
        paths: list[tuple[int, ...]] = [()]
        for node in range(1, len(tokens)):  # parents come first
            paths.append((*paths[parents[node]], tokens[node]))
        found.append(frozenset(path for path, holds in zip(paths, valid, strict=True) if holds))
    return found


def _states(
    models: tuple[Any, Any], prompts: Sequence[tuple[int, ...]], temperature: float, settings: Settings
) -> list[tuple[int, ...]]:
    """Every state that a cycle of plain top-K began in."""
    requests = [
        Request(prompt=p, max_new_tokens=settings.new_tokens, temperature=temperature, seed=settings.seed + n, eos=())
        for n, p in enumerate(prompts)
    ]
    texts, found = [list(prompt) for prompt in prompts], []

    def block(number: int, tokens: tuple[int, ...]) -> None:
        found.append(tuple(texts[number]))
        texts[number].extend(tokens)

    generate(*models, requests, shape=settings.shape(0), builder="top_k", verifier="recursive", on_tokens=block)
    return found
