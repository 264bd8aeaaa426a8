"""Tree building, layer by layer, driven by a drafter.

    score(root) = 1,  score(child) = score(parent) * rank weight
    frontier of a layer = its F best nodes by a stable sort: equal scores stand by (parent's rank, slot), never by token

A score that underflows to 0 drops its node, whatever was drawn there: scores do not look at the draw they rank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.production.noise import TOP, expanded_nodes
from rheocheck.production.slots import BUILDERS, Builder, SlotTensors
from rheocheck.production.tops import TINY, Ranked, check_temperature, top_law
from rheocheck.production.tree import DraftTree, finish

Reader = Callable[[Float[Tensor, "B R V"], Float[Tensor, "B 1 1"] | None, int, int], Ranked]


@dataclass(frozen=True)
class Frontier:
    """The nodes whose logits are asked for.

    layer    how deep they stand, 1 being right below the root
    token    their last tokens (target ids)
    parent   their parents' columns in the frontier before (0 in layer 1, where the parent is the root)
    """

    layer: int
    token: Int[Tensor, "B F"]
    parent: Int[Tensor, "B F"]


Drafter = Callable[[Frontier], Float[Tensor, "B F V"]]


class Best(NamedTuple):
    """The F best children of a layer: scores, tokens, and places among all children, empty ones past the last."""

    score: Float[Tensor, "B F"]
    token: Int[Tensor, "B F"]
    place: Int[Tensor, "B F"]


Step = Callable[..., "Layer"]
Layer = tuple[SlotTensors, Float[Tensor, "B R K"], Best | None]  # the children, their scores, the next frontier


def rank_layer(
    builder: Builder,
    tokens: Int[Tensor, "B R S"],
    q: Float[Tensor, "B R S"],
    clocks: Float[Tensor, "B R T"],
    parent_score: Float[Tensor, "B R"] | None,
    shape: Shape,
    last: bool,
) -> Layer:
    """Propose and rank one layer; `rheocheck.production.fused` does the same in one kernel."""
    K, F = shape.branching, shape.width
    slots = builder(tokens, q, clocks, K, shape.leads)
    score = slots.weight if parent_score is None else slots.weight * parent_score[..., None]
    if last:
        return slots, score, None
    ranked, token = score.flatten(1), slots.token.flatten(1)
    if ranked.shape[1] < F:  # a first layer of fewer than F nodes: empty ones behind them
        ranked, token = (torch.nn.functional.pad(part, (0, F - ranked.shape[1])) for part in (ranked, token))
    ranked, place = ranked.sort(dim=-1, descending=True, stable=True)
    place = place[:, :F]
    return slots, score, Best(ranked[:, :F], token.gather(1, place), place)


@torch.inference_mode()
def build(
    root: Float[Tensor, "B V"],
    drafter: Drafter,
    shape: Shape,
    probe: Float[Tensor, "B E T"],
    *,
    builder: Builder = BUILDERS["rheo"],
    temperature: Float[Tensor, "B"] | None = None,
    top: int = TOP,
    d2t: Int[Tensor, "Vd"] | None = None,
    read: Reader = top_law,
    step: Step = rank_layer,
) -> DraftTree:
    """The trees of B sequences; `root` holds the drafter's logits at the root.

    It runs in inference mode, the drafter too.

    temperature  one a row; None is 1. A greedy row (0) is drafted at temperature 1 with its best tokens only
    top          logits kept at a node before the softmax
    d2t          target id of each drafter token, when the drafter has a vocabulary of its own
    read, step   how logits become laws, and how a layer is proposed and ranked
    """
    K, F = shape.branching, shape.width
    nowhere = expanded_nodes(shape) * K + 1
    _check(root, probe, shape, top)
    check_temperature(temperature, len(root))
    scale = None
    clocks = _clocks(probe, temperature, K + 1)
    if temperature is not None:
        scale = torch.where(temperature > 0, temperature, 1.0).reciprocal()[:, None, None]
    laws, layers, frontiers = [], [], []
    logits, parent_score, first = root[:, None], None, 0
    for number in range(1, shape.depth + 1):
        rows = logits.shape[1]
        tokens, q = read(logits, scale, top, K + 1)
        if d2t is not None:
            tokens = d2t[tokens]
        mine = clocks[:, first : first + rows]
        slots, score, best = step(builder, tokens, q, mine, parent_score, shape, number == shape.depth)
        laws.append((tokens, q))
        layers.append((slots, score))
        if best is not None:
            parent_score, token, place = best
            frontiers.append(place if rows * K >= F else place.masked_fill(place >= rows * K, nowhere))
            logits = drafter(Frontier(number, token, place // K if rows > 1 else place * 0))
            first += rows
    return finish(laws, layers, frontiers, shape)


def _clocks(probe: Float[Tensor, "B E V"], temperature: Float[Tensor, "B"] | None, least: int) -> Tensor:
    """Exponential clocks. In a greedy row the best tail token always wins: there the tree is plain top-K."""
    clocks = probe.log().neg()  # never 0, so that clock / 0 is infinite and not NaN
    if temperature is not None:
        clocks[..., 0].masked_fill_(temperature[:, None] <= 0, TINY)
    if clocks.shape[-1] < least:
        clocks = torch.nn.functional.pad(clocks, (0, least - clocks.shape[-1]), value=1.0)
    return clocks


def _check(root: Tensor, probe: Tensor, shape: Shape, top: int) -> None:
    """What can be checked without a look at the numbers."""
    B, V = root.shape
    least = (B, expanded_nodes(shape), min(V, top))
    if probe.shape[:2] != least[:2] or probe.shape[2] < least[2]:
        raise InputError(f"probe must have shape {least}, got {tuple(probe.shape)}; try draw_noise(shape, {B}, {V})")
    if shape.nodes and shape.branching > top:
        raise InputError(f"branching must be at most top = {top}, got {shape.branching}; lower it")
