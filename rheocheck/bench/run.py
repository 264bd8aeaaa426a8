"""The whole of `rheocheck bench claims`: train, decode, compare. Everything comes back as one value."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from rheocheck.core.errors import MissingExtra

try:
    import jaxtyping  # noqa: F401
    import tokenizers  # noqa: F401
    import torch
    import transformers  # noqa: F401
except ImportError as error:
    raise MissingExtra(
        f"rheocheck bench must have the extra 'bench', {error.name} is missing: pip install 'rheocheck[bench]'"
    ) from error

from tqdm import tqdm

from rheocheck.bench.cells import COLD, WARM, Cell
from rheocheck.bench.claims import Equal, claims
from rheocheck.bench.coverage import coverage
from rheocheck.bench.evidence import METRICS, ClaimEvidence
from rheocheck.bench.intervals import ALPHA, Interval
from rheocheck.bench.ledger import Ledger
from rheocheck.bench.measuring import measure
from rheocheck.bench.models import Prepared, prepare
from rheocheck.bench.paper import PAPER
from rheocheck.bench.pieces import pieces
from rheocheck.bench.result import ClaimSummary, Result
from rheocheck.bench.settings import Settings, fingerprint
from rheocheck.bench.trees import agreements

LEDGER = "cells.jsonl"
COMPARED = 16  # prompts, at most, at whose states trees are compared


def run(folder: Path, settings: Settings, *, fresh: bool = False) -> Result:
    """Train or load the models, decode what is not in the folder's ledger yet, and answer the paper's claims.

    fresh   forget the models and the pieces that the folder holds
    """
    if fresh:
        for name in ("training.json", LEDGER):
            (folder / name).unlink(missing_ok=True)
    with _threads(settings.threads):
        start = perf_counter()
        prepared = prepare(folder, settings)
        seconds = {"text and models": perf_counter() - start}
        evidence = _decode(folder, settings, prepared)
        common = evidence.common()
        seconds["decoding"] = sum(piece.seconds for piece in evidence.pieces)
        start = perf_counter()
        covered = coverage(prepared.models, prepared.windows, sorted({1.0, *WARM}))
        seconds["coverage"] = perf_counter() - start
        start = perf_counter()
        equal = _compare_trees(settings, prepared)
        seconds["trees"] = perf_counter() - start
    return Result(
        settings,
        _conditions(settings, prepared),
        prepared.training,
        seconds,
        PAPER,
        claims(evidence, equal, PAPER, quick=settings.quick),
        tuple(_summary(evidence, common, cell) for cell in evidence.rows),
        covered,
        equal,
    )


def _decode(folder: Path, settings: Settings, prepared: Prepared) -> ClaimEvidence:
    ledger = Ledger(folder / LEDGER, fingerprint(settings, prepared.digest, _machine(settings)))
    found = []
    with tqdm(list(pieces(settings)), desc="decode", unit="piece", leave=False) as bar:
        for piece in bar:
            bar.set_postfix_str(piece.cell.name, refresh=True)
            found.append(
                ledger.remembered(piece, lambda piece: measure(piece, prepared.models, prepared.prompts, settings))
            )
    return ClaimEvidence(found)


def _compare_trees(settings: Settings, prepared: Prepared) -> tuple[Equal, ...]:
    prompts = prepared.prompts[: min(COMPARED, settings.prompts)]
    return tuple(
        equal for T in (*COLD, WARM[0], 1.0) for equal in agreements(prepared.models, prompts, T, (0, 1), settings)
    )


def _summary(evidence: ClaimEvidence, common: ClaimEvidence, cell: Cell) -> ClaimSummary:
    rows = evidence.rows[cell].values()
    cycles, levels = sum(len(row.blocks) for row in rows), tuple(evidence.levels(cell))
    return ClaimSummary(
        cell, len(rows), cycles, _metrics(evidence, cell), _metrics(common, cell), levels, evidence.parts(cell)
    )


def _metrics(evidence: ClaimEvidence, cell: Cell) -> dict[str, Interval | None]:
    has_probe = any(row.survived for row in evidence.rows[cell].values())
    return {name: evidence.one(cell, name) if has_probe or not name.startswith("probe") else None for name in METRICS}


def _conditions(settings: Settings, prepared: Prepared) -> dict[str, Any]:
    return {
        **_machine(settings),
        "alpha": ALPHA,
        "models_reused": prepared.reused,
        "weights": prepared.digest[:12],
    }


def _machine(settings: Settings) -> dict[str, Any]:
    """Where pieces are decoded and timed: those of another machine, or by other packages, are not mixed with them."""
    packages = ("torch", "transformers", "tokenizers", "numpy", "scipy")
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, {settings.threads} threads",
        "versions": {name: version(name) for name in packages},
    }


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
