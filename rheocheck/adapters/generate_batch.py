"""A batch of three requests, answered by `rheocheck.generation.generate`: a subject that emits a row, or all of them.

    rheocheck audit rheocheck.adapters.generate_batch:subject --target rheocheck.adapters.generate_batch:target \\
        --tokens 6

Prompts, lengths and sampling parameters differ from row to row. What is emitted:

    row=0|1|2      the tokens of that row, beside the two others
    (no row)       `each` tokens of every row, one row after another. Their law is the product of the rows' laws if and
                   only if rows are independent: a row that looks at another one's noise, cache or parameters shows

`sample` puts many such batches into one, row by row behind each other. `rows=2` leaves the third row out: an exact
audit follows the choices of all rows, and there are as many paths as these have together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rheocheck.adapters.batches import draws
from rheocheck.adapters.generate import BATCH, model
from rheocheck.adapters.sampling_parameters import SamplingParameters
from rheocheck.adapters.tiny_models import DRAFTER_SEED, PROMPT, TARGET_SEED, ModelLaw, check_integer, one_thread
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.core.shape import Shape


@dataclass(frozen=True)
class BatchRow:
    """What is asked in a row: a prompt, behind the one-token prompt; tokens beyond those looked at; parameters."""

    prompt: Context
    further: int
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0


ROWS = (
    BatchRow((), 0, temperature=0.7),
    BatchRow((1, 0, 1, 1), 1, top_k=2),
    BatchRow((1, 1), 2, temperature=1.4, top_p=0.8),
)


class BatchGenerate:
    """Batches of `ROWS`; `row` is the one looked at, or None for `each` tokens of all."""

    def __init__(
        self, vocab_size: int, seeds: tuple[int, int], how: dict[str, object], row: int | None, each: int, rows: int
    ) -> None:
        self._models = tuple(model(vocab_size, seed) for seed in seeds)
        self._how, self._row, self._each, self._rows = how, row, each, rows

    def __call__(self, context: Context, n_tokens: int, seed: int) -> list[int]:
        """`n_tokens` new ids after the row's prompt and `context`; or of all rows."""
        return self._answers(context, n_tokens, [seed])[0]

    def sample(self, context: Context, n_tokens: int, samples: int, seed: int) -> NDArray[np.int64]:
        """Independent draws [samples, n_tokens]."""
        return draws(lambda seeds: self._answers(context, n_tokens, seeds), samples, seed, BATCH // 3)

    def _answers(self, context: Context, n_tokens: int, seeds: list[int]) -> list[list[int]]:
        from rheocheck.generation import Request, generate

        rows = self._rows
        if self._row is None and (context or n_tokens > rows * self._each):
            raise InputError(
                f"a whole batch must be asked for at most {rows * self._each} tokens after no context, got {n_tokens} "
                f"after {list(context)}; choose a row, or raise each"
            )
        wanted = n_tokens if self._row is not None else self._each
        requests = [
            Request(
                prompt=PROMPT + row.prompt + tuple(context), max_new_tokens=wanted + row.further, seed=seed + place,
                temperature=row.temperature, top_k=row.top_k, top_p=row.top_p,
            )
            for seed in seeds
            for place, row in enumerate(ROWS[:rows])
        ]  # fmt: skip
        with one_thread():
            tokens = generate(*self._models, requests, **self._how).tokens  # type: ignore[arg-type]
        shown = range(rows) if self._row is None else (self._row,)
        return [
            [token for row in shown for token in tokens[rows * batch + row][:wanted]][:n_tokens]
            for batch in range(len(seeds))
        ]


class BatchLaw:
    """The law of a row, or of all rows one after another, each as if it were alone."""

    def __init__(self, vocab_size: int, target_seed: int, row: int | None, each: int) -> None:
        self.vocab_size, self._row, self._each = vocab_size, row, each
        self._laws = [
            ModelLaw(model(vocab_size, target_seed), SamplingParameters(asked.temperature, asked.top_k, asked.top_p))
            for asked in ROWS
        ]

    def __call__(self, context: Context) -> NDArray[np.float64]:
        """Probabilities [V] of the next token."""
        row, own = self._own(context)
        return self._laws[row](own)

    def boundary(self, context: Context) -> frozenset[int]:
        """The tokens that rounding may keep or drop."""
        row, own = self._own(context)
        return self._laws[row].boundary(own)

    def _own(self, context: Context) -> tuple[int, Context]:
        """Whose turn it is, and what that row has read behind the one-token prompt."""
        row, before = (self._row, 0) if self._row is not None else (len(context) // self._each, self._each)
        return row, ROWS[row].prompt + tuple(context[row * before :])


def subject(
    *,
    vocab_size: int = 3,
    row: int | None = None,
    each: int = 2,
    rows: int = 3,
    builder: str = "rheo",
    verifier: str = "rheo",
    leads: int = 1,
    branching: int = 2,
    depth: int = 2,
    nodes: int = 3,
    target_seed: int = TARGET_SEED,
    drafter_seed: int = DRAFTER_SEED,
) -> BatchGenerate:
    """A factory for the command line."""
    _check(row, each, rows)
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes)
    how = {"shape": shape, "builder": builder, "verifier": verifier}
    return BatchGenerate(vocab_size, (target_seed, drafter_seed), how, row, each, rows)


def target(*, vocab_size: int = 3, row: int | None = None, each: int = 2, target_seed: int = TARGET_SEED) -> BatchLaw:
    """The law that `subject` should follow with these settings."""
    _check(row, each, len(ROWS))
    return BatchLaw(vocab_size, target_seed, row, each)


def _check(row: int | None, each: int, rows: int) -> None:
    check_integer("each", each, 1, instead=2)
    check_integer("rows", rows, 1, len(ROWS), instead=len(ROWS))
    if row is not None:
        check_integer("row", row, 0, rows - 1, instead=0)
