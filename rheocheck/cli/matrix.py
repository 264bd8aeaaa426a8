"""`rheocheck matrix`: many settings of a decoder, each audited exactly, in one table."""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import click
from rich.console import Console

from rheocheck.audit.matrix import Entry, MatrixRow, audited, entries
from rheocheck.audit.settings import parse_settings
from rheocheck.formats.files import parse_context
from rheocheck.report.matrix_table import matrix_table, matrix_title, remarks, row_to_dict


@click.command(short_help="Audit many settings of a decoder exactly, in one table.")
@click.argument("settings_matrix", metavar="MODULE:ATTR")
@click.option("--context", default="", help='Token ids that every word continues, such as "0 1".  [default: none]')
@click.option(
    "--tokens", default=4, show_default=True,
    help="Audit the joint law of this many tokens: the bonus token of a decoder with K drafts shows in K + 2.",
)  # fmt: skip
@click.option("--max-seconds", default=60.0, show_default=True, help="End a row's enumeration after so many seconds.")
@click.option("--max-paths", type=int, help="End a row's enumeration after so many paths.")
@click.option("--rtol", type=float, help="Tolerance of a law per token.  [default: 0 for a Pair, 1e-6 for a float law]")
@click.option("--float-tolerance", default=1e-6, show_default=True, help="TV that rounding may amount to.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Call ATTR as a factory with this setting.")
@click.option("--eos", type=int, metavar="ID", help="Texts end behind this token, in every row.  [default: never]")
@click.option("--seed", default=0, show_default=True, help="Seeds the plain draws that check a bias.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def matrix(
    settings_matrix: str, context: str, tokens: int, max_seconds: float, max_paths: int | None, rtol: float | None,
    float_tolerance: float, settings: tuple[str, ...], eos: int | None, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Audit every row of MODULE:ATTR exactly, and print a table of them as they come.

    ATTR is a sequence of rows, or a function that returns one. A row is (name, subject, target), or (name, subject,
    target, "lossy") for a setting that is known to change the law. Exit code 1 if a row is biased that is not declared
    lossy, else 3 if one is undecided, else 0; 2 on bad input. Ctrl-C ends the table at the row it interrupts.
    """
    words = parse_context(context)
    with redirect_stdout(sys.stderr):  # what a subject prints is not the table
        listed = entries(settings_matrix, parse_settings(settings))
    question: dict[str, Any] = dict(
        context=words, tokens=tokens, max_seconds=max_seconds, max_paths=max_paths, rtol=rtol,
        float_tolerance=float_tolerance, eos=eos, seed=seed,
    )  # fmt: skip
    console = Console(width=160, highlight=False, markup=False, soft_wrap=True, quiet=as_json)
    names = [entry.name for entry in listed]
    console.print(matrix_title(words, tokens))
    console.print(matrix_table([], names))
    rows: list[MatrixRow] = []
    for row in _until_interrupted(listed, question):
        rows.append(row)
        console.print(matrix_table([row], names))
        for text in remarks(row):
            console.print(text)
    if as_json:
        found = {"context": words, "tokens": tokens, "rows": [row_to_dict(row) for row in rows]}
        click.echo(json.dumps(found, indent=1))
    return _exit_code(rows, len(listed))


def _until_interrupted(listed: list[Entry], question: dict[str, Any]) -> Iterator[MatrixRow]:
    for entry in listed:
        with redirect_stdout(sys.stderr):
            row = audited(entry, **question)
        yield row
        if row.verdict is not None and row.verdict.interrupted:
            return


def _exit_code(rows: list[MatrixRow], asked: int) -> int:
    if any(row.word == "biased" and not row.lossy for row in rows):
        return 1
    return 3 if len(rows) < asked or any(row.word in ("inconclusive", "not understood") for row in rows) else 0
