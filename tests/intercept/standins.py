"""Stand-ins: for every sampler that interception answers, the law that it enumerates against the sampler's own draws.

    python -m tests.intercept.standins        1,000,000 draws of each, written to STANDINS.md (minutes)

A stand-in is one small program `draw(n, generator, dtype)` that makes n words of a few outcomes. Enumerated, it makes
one; run plainly, it makes as many as the statistic wants, so that both are the same code. What a sampler draws
otherwise than its stand-in would must be refused; such an entry tells the law that would have been claimed.

Null hypothesis: the real draws have the enumerated law. Chi-square, ALPHA an entry, seeds fixed by the entry's name. A
pass says nothing of a TV below the one printed beside it (power 99.9 %), nor of what happens to less than one draw in
a million: the points that floats are made of are not looked at here.
"""

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from rheocheck.intercept import enumerate_law
from rheocheck.stats import ChiSquare, chi_square, smallest_detectable_tv, total_variation

PAGE = Path(__file__).with_name("STANDINS.md")
COMMAND = "python -m tests.intercept.standins"
ALPHA = 1e-9
DRAWS = 1_000_000
AT_ONCE = 50_000  # draws of one call: a batch of rows must fit into memory
LIBRARIES = ("torch", "numpy", "random", "jax")
FLOATS, HALVES = ("float64", "float32"), ("float16", "bfloat16")
WEIGHTS = (0.4224, 0.2059, 0.1119, 0.0641, 0, 0.04, 0.0383, 0.0239, 0.0107, 0.0408, 0.0392, 0.001, 0.002)
COINS = (0.3001, 0.001, 0.9973, 0.5)
EDGES = (0.001, 0.3001, 0.5, 0.9973)
Law = dict[tuple[int, ...], float]


@dataclass(frozen=True, eq=False)
class StandIn:
    """A sampler of a library at a dtype, a program that draws from it, and what is claimed where it is refused.

    claimed  None: the sampler is followed. A law: it is refused, and this is the law that it would be taken for
    quick    whether it is looked at whenever the tests run: at the first dtype of a program, and at bfloat16
    """

    sampler: str
    dtype: str
    what: str
    draw: Callable[[int, Any, str], Any]
    generator: Callable[[int], Any]
    tokens: int
    claimed: Law | None = None
    quick: bool = True

    @property
    def name(self) -> str:
        return f"{self.sampler}, {self.dtype}, {self.what}"

    def subject(self, context: tuple[int, ...], n_tokens: int, seed: int) -> list[int]:
        """One word, as the subject of an audit."""
        word = self.draw(1, self.generator(seed), self.dtype)[0]
        return [int(x) for x in np.ravel(word.tolist() if hasattr(word, "tolist") else word)]

    def enumerated(self) -> Law:
        """The law that interception finds."""
        result = enumerate_law(self.subject, tokens=self.tokens)
        assert result.stopped is None and not result.unseen
        return {word: float(mass) for word, mass in result.law.items()}

    def real(self, draws: int) -> Law:
        """How often each word came in real draws."""
        counts: Law = {}
        for block, start in enumerate(range(0, draws, AT_ONCE)):
            n = min(AT_ONCE, draws - start)
            generator = self.generator((zlib.crc32(self.name.encode()) + block) % 2**31)
            words, seen = np.unique(
                np.asarray(self.draw(n, generator, self.dtype)).reshape(n, -1).astype(np.int64),
                axis=0, return_counts=True,
            )  # fmt: skip
            for word, count in zip(words.tolist(), seen.tolist(), strict=True):
                counts[tuple(word)] = counts.get(tuple(word), 0) + count
        return counts


@dataclass(frozen=True)
class Comparison:
    """Real draws against a law: the test, the TV seen, the one that chance alone makes, and the least one found."""

    test: ChiSquare
    tv: float
    by_chance: float
    found_from: float


def compare(counts: Law, law: Law) -> Comparison:
    """The chi-square of counts against a law, over all words of either."""
    words = sorted({*counts, *law})
    p = np.array([law.get(word, 0.0) for word in words])
    seen = np.array([counts.get(word, 0) for word in words])
    n = int(seen.sum())
    by_chance = float(np.sqrt(p * (1 - p) / (2 * np.pi * n)).sum())  # half the mean of |normal| in each cell
    tv = total_variation(seen / n, p / p.sum())
    return Comparison(chi_square(seen, p), tv, by_chance, smallest_detectable_tv(p, n, ALPHA))


class Samplers(list[StandIn]):
    """The stand-ins of one library, in the order of their definition; `generator` makes its generator from a seed."""

    def __init__(self, generator: Callable[[int], Any]) -> None:
        self.generator = generator

    def followed(self, sampler: str, *dtypes: str, tokens: int = 1) -> Callable[..., Any]:
        """Adds a program whose enumerated law must be that of its real draws; its docstring says what it draws."""
        return self._adding(sampler, dtypes, tokens, None)

    def refused(self, sampler: str, *dtypes: str, claimed: Callable[[str], Law], tokens: int = 1) -> Callable[..., Any]:
        """Adds a program that must be refused, since its real draws do not have the law `claimed(dtype)`."""
        return self._adding(sampler, dtypes, tokens, claimed)

    def _adding(
        self, sampler: str, dtypes: tuple[str, ...], tokens: int, claimed: Callable[[str], Law] | None
    ) -> Callable[..., Any]:
        def add(draw: Callable[[int, Any, str], Any]) -> Callable[[int, Any, str], Any]:
            what = (draw.__doc__ or "").strip().rstrip(".")
            for dtype in dtypes:
                law = None if claimed is None else claimed(dtype)
                quick = dtype in (dtypes[0], HALVES[-1])
                self.append(StandIn(sampler, dtype, what, draw, self.generator, tokens, law, quick))
            return draw

        return add


def law_of(weights: Any) -> Law:
    """The law of one outcome by weights."""
    values = [float(w) for w in weights]
    return {(i,): w / sum(values) for i, w in enumerate(values) if w}


def in_order(weights: Any) -> Law:
    """The law of two outcomes drawn by weights without replacement."""
    first = law_of(weights)
    return {(i, j): p * q / (1 - p) for (i,), p in first.items() for (j,), q in first.items() if i != j}


def flat(outcomes: int) -> Law:
    """The uniform law of one outcome."""
    return law_of([1] * outcomes)


def standins(library: str) -> Samplers:
    """The stand-ins of a library."""
    return import_module(f"tests.intercept.samplers_{library}").SAMPLERS


def rows(draws: int) -> Iterator[str]:
    """The rows of the table, as they are measured."""
    for library in LIBRARIES:
        for entry in standins(library):
            found = compare(entry.real(draws), entry.claimed or entry.enumerated())
            stand_in = "followed" if entry.claimed is None else "refused"
            yield (
                f"| {entry.sampler} | {entry.dtype} | {entry.what} | {stand_in} "
                f"| {found.tv:.4f} | {found.by_chance:.4f} | {found.test.p_value:.1g} | {found.found_from:.4f} |"
            )


def page(table: list[str], draws: int) -> str:
    """The page that is kept: what was measured, when, with which versions."""
    python = ".".join(map(str, sys.version_info[:3]))
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "jax"))
    return "\n".join(
        [
            "# Stand-ins against the real samplers",
            "",
            f"`{COMMAND}`, {date.today().isoformat()}; Python {python}, {versions}; {draws:,} real draws a row.",
            "",
            "TV is that of the real draws from the law that interception enumerates or, where it refuses, from the",
            "law that it would have to claim; next to it stands what chance alone makes of so many draws, and the",
            f"p-value of a chi-square test (a followed row fails below {ALPHA:g}). The last column is the TV that the",
            "test finds in 99.9 % of cases, and any larger one.",
            "",
            "| sampler | dtype | program | stand-in | TV | by chance | p | found from |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *table,
            "",
        ]
    )


def main() -> None:
    """Measure every row and keep the table."""
    table = []
    for row in rows(DRAWS):
        print(row, flush=True)
        table.append(row)
    PAGE.write_text(page(table, DRAWS))


if __name__ == "__main__":
    main()
