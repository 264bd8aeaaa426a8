"""The demonstration's table: builders against verifiers, with exact figures."""

from rich import box
from rich.table import Table

from rheocheck.audit import Verification
from rheocheck.report.verify_text import number

Row = tuple[str, str, Verification, str]  # (builder, verifier, what was found, what was expected)


def demo_table(rows: list[Row], title: str) -> Table:
    """One row per decoder: exact total variation, expected block length, acceptance and verdict."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for name in ("builder", "verifier"):
        table.add_column(name)
    for name in ("total variation", "block length", "acceptance", "possible"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for place, (builder, verifier, found, expected) in enumerate(rows):
        assert found.total_variation is not None and found.expected_length is not None  # the demonstration is exact
        assert found.acceptance is not None and found.optimal_acceptance is not None
        verdict = found.verdict if found.verdict == expected else f"{found.verdict} (expected: {expected})"
        last_of_builder = place + 1 == len(rows) or rows[place + 1][0] != builder
        table.add_row(
            builder,
            verifier,
            number(found.total_variation),
            f"{float(found.expected_length):.4f}",
            f"{float(found.acceptance.cycle):.4f}",
            f"{float(found.optimal_acceptance.cycle):.4f}",
            verdict,
            end_section=last_of_builder,
        )
    return table
