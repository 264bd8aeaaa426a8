"""A support matrix: one setting a row, its exact verdict beside it."""

from typing import Any

from rich.table import Table

from rheocheck.audit import Context, Verdict, spaced
from rheocheck.audit.matrix import MatrixRow
from rheocheck.report.exact_text import number, rounded_up


def matrix_title(context: Context, tokens: int) -> str:
    """What the table is about."""
    after = f' after context "{spaced(context)}"' if context else ""
    return f"The exact law of {tokens} tokens{after}, setting by setting"


def matrix_table(rows: list[MatrixRow], names: list[str]) -> Table:
    """Some rows of the table, or its header where there are none; `names` of all rows, so that its parts line up."""
    table = Table(box=None, show_header=not rows, pad_edge=False, padding=(0, 2, 0, 0))
    for title, width in (("setting", max(map(len, [*names, "setting"]))), ("verdict", 28)):
        table.add_column(title, width=width)
    for title, width in (("total variation", 29), ("boundary faults", 15), ("paths", 7), ("seconds", 10)):
        table.add_column(title, width=width, justify="right")
    for row in rows:
        table.add_row(row.name, _word(row), *_figures(row.verdict))
    return table


def row_to_dict(row: MatrixRow) -> dict[str, Any]:
    """A row as plain JSON."""
    verdict = None if row.verdict is None else row.verdict.to_dict()
    declared = "lossy" if row.lossy else "lossless"
    return {"name": row.name, "declared": declared, "word": row.word, "problem": row.problem, "verdict": verdict}


def _word(row: MatrixRow) -> str:
    return f"{row.word.replace('_', ' ')}{', declared' if row.lossy and row.word == 'biased' else ''}"


def _figures(verdict: Verdict | None) -> tuple[str, str, str, str]:
    if verdict is None:
        return "", "", "", ""
    variation = verdict.total_variation
    if variation is None:
        lower = verdict.total_variation_lower if verdict.total_variation_lower > (verdict.tolerance or 0.0) else 0.0
        text = f"{number(lower)} .. {number(verdict.total_variation_upper or 0.0)}"
    elif verdict.tolerance and variation <= verdict.tolerance:
        text = f"below {verdict.tolerance:.2g}"  # its digits are the processor's
    else:
        text = number(variation)
    if verdict.hidden_tv is not None and verdict.verdict == "no_bias_found":
        text += f" + {rounded_up(verdict.hidden_tv)} hidden"
    return text, str(len(verdict.boundary_faults)), str(verdict.paths), f"{verdict.seconds or 0.0:.2f} s"


def remarks(row: MatrixRow) -> list[str]:
    """Why there is no verdict, or why it is undecided; one line each."""
    if row.verdict is None:
        return [f"  {row.problem}"]
    return [f"  {note}" for note in row.verdict.notes]
