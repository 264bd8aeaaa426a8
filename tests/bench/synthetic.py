"""Made-up evidence: every cell of a run, with block lengths, levels and probes of known means."""

import numpy as np

from rheocheck.bench.cells import shares
from rheocheck.bench.claims import Equal, claims
from rheocheck.bench.evidence import ClaimEvidence
from rheocheck.bench.paper import PAPER
from rheocheck.bench.pieces import Measured, Piece, PieceRow
from rheocheck.bench.result import ClaimSummary, Coverage, Result
from rheocheck.bench.settings import FULL

PROMPTS, ROUNDS, CYCLES = 64, 4, 40
EQUAL = tuple(Equal(T, m, same, 50) for T in (0.0, 0.01, 0.25, 1.0) for m, same in ((0, 50 if T == 0 else 9), (1, 3)))


def mean_block(cell):
    """What a run that agrees with the paper in everything would have, and by much."""
    if cell.builder == "top_k":
        return 3.0 - 0.5 * cell.temperature
    more = {0: 0.3, 1: 0.6, 2: 0.4, 3: 0.1, 4: 0.05}[cell.leads]
    return 3.0 - 0.1 * cell.temperature - 0.4 + more + (0.2 if cell.verifier == "rheo" else 0.0)


def evidence(mean=mean_block, seconds=lambda cell: 1.0, spread=0.05, seed=0):
    """Pieces of all cells; prompt by prompt, `spread` is the noise of a mean that methods do not share."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.5, PROMPTS)
    found = []
    for cell in shares():
        for first in range(0, PROMPTS, PROMPTS // ROUNDS):
            numbers = range(first, first + PROMPTS // ROUNDS)
            rows = tuple(_row(n, cell, float(mean(cell) + ease[n] + rng.normal(0, spread))) for n in numbers)
            found.append(
                Measured(Piece(cell, first, len(rows)), rows, seconds(cell) * (1 + first / 100), {"draft": 0.5})
            )
    return ClaimEvidence(found)


def _row(number, cell, mean):
    """Blocks of two lengths with this mean; acceptance of a level grows with it."""
    blocks = [int(mean) + (i < (mean % 1) * CYCLES) for i in range(CYCLES)]
    stood = (4 * CYCLES, 2 * CYCLES)
    descended = tuple(round(s * (1 - 1 / mean)) for s in stood)
    probes = (6 * CYCLES, 5 * CYCLES, 2 * CYCLES) if cell.builder == "rheo" else (0, 0, 0)
    return PieceRow(number, tuple(blocks), stood, descended, tuple(map(float, descended)), *probes)


def result(found=None, settings=FULL):
    """A whole result."""
    found = found or evidence()
    names = ("block", "acceptance", "root", "mass", "root mass", "probe survival", "probe acceptance")
    common = found.common()

    def metrics(of, cell):
        return {n: of.one(cell, n) if cell.builder == "rheo" or not n.startswith("probe") else None for n in names}

    cells = tuple(
        ClaimSummary(
            cell, PROMPTS, PROMPTS * CYCLES, metrics(found, cell), metrics(common, cell),
            tuple(found.levels(cell)), found.parts(cell),
        )
        for cell in found.rows
    )  # fmt: skip
    conditions = {
        "python": "3.0", "machine": "a machine", "versions": {"torch": "2.0"}, "alpha": 0.01, "models_reused": False,
        "weights": "0" * 12,
    }  # fmt: skip
    training = {
        "held_out_nats": {"target": 3.25, "drafter": 3.5}, "parameters": {"target": 2_000_000, "drafter": 500_000},
        "seconds": {"target": 7.0}, "wanted": {"texts": 500}, "tokens": {"learned": 60_000},
    }  # fmt: skip
    covered = tuple(Coverage(T, 0.9, 0.8, 0.7, 1000) for T in (0.5, 1.0))
    answers = claims(found, EQUAL, PAPER, quick=settings.quick)
    return Result(settings, conditions, training, {"decoding": 9.0}, PAPER, answers, cells, covered, EQUAL)
