"""One piece: real decoding by `rheocheck.production`, cycle after cycle, with what happened to every prompt.

The verifier is watched as it walks: sum of p over the kept children of each node that it stands at. For one-hot claims
that is the probability of going on; for a probe it is not.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import torch

from rheocheck.bench.pieces import Measured, Piece, PieceRow
from rheocheck.bench.settings import Settings
from rheocheck.generation.generate import Decoding
from rheocheck.generation.requests import Request
from rheocheck.production.decide import VERIFIERS, Decision, Look


class Watched:
    """A verifier for walks that remembers the target's mass on kept children, by request and level."""

    def __init__(self, name: str, requests: int, depth: int) -> None:
        self._verifier, self._depth = VERIFIERS[name], depth
        self.mass = torch.zeros(requests, depth, dtype=torch.float64)
        self._rows, self._going, self._level = torch.empty(0), torch.empty(0), 0

    def begin(self, rows: Sequence[int]) -> None:
        """A cycle of these requests comes."""
        self._rows, self._level = torch.tensor(rows), 0
        self._going = torch.ones(len(rows), dtype=torch.bool)

    def __call__(self, look: Look) -> Decision:
        decision = self._verifier(look)
        if self._level < self._depth:  # a row that has ended decides its last node again, which does not count
            mass = (look.p * look.kept).sum(-1)[:, 0] * self._going
            self.mass[self._rows, self._level] += mass
        self._going &= decision.slot[:, 0] < look.kept.shape[-1]
        self._level += 1
        return decision


@torch.inference_mode()
def measure(piece: Piece, models: tuple[Any, Any], prompts: Sequence[tuple[int, ...]], settings: Settings) -> Measured:
    """Decode a piece. Prompt number n draws its noise from the seed `settings.seed + n` in every cell."""
    cell, numbers = piece.cell, range(piece.first, piece.first + piece.rows)
    requests = [
        Request(
            prompt=prompts[number], max_new_tokens=settings.new_tokens, temperature=cell.temperature,
            seed=settings.seed + number, eos=(),
        )
        for number in numbers
    ]  # fmt: skip
    start = perf_counter()
    watched = Watched(cell.verifier, piece.rows, settings.depth)
    decoding = Decoding(*models, requests, settings.shape(cell.leads), cell.builder, watched)
    while decoding.rows:
        watched.begin(decoding.rows)
        decoding.cycle()
    seconds = perf_counter() - start
    levels = range(settings.depth)
    rows = []
    for row, number in enumerate(numbers):
        tally = decoding.statistics.requests[row]
        stood, descended = (tuple(count[level] for level in levels) for count in (tally.stood, tally.descended))
        mass = tuple(watched.mass[row].tolist())
        probes = tally.expanded, tally.survived, tally.accepted
        rows.append(PieceRow(number, tuple(tally.blocks), stood, descended, mass, *probes))
    return Measured(piece, tuple(rows), seconds, dict(decoding.statistics.seconds))
