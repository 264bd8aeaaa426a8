"""`rheocheck bench claims`: what the paper claims, in miniature, on this machine."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click


@click.group()
def bench() -> None:
    """Measure claims instead of believing them."""


@bench.command()
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("rheocheck-claims"), show_default=True,
    metavar="FOLDER", help="Models, finished pieces, claims.json, claims.md and plots.",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Start over: forget the models and the pieces that FOLDER holds.")
@click.option("--quick", is_flag=True, help="Tiny models and a few prompts, in seconds: shows that it works, no more.")
@click.option("--seed", type=int, help="Seeds the models and the noise.  [default: 0]")
@click.option("--threads", type=int, help="Threads of torch; 2 pay on an idle machine only.  [default: 1]")
@click.option("--vocab-size", type=int, help="Subwords of the vocabulary.  [default: 1024; quick: 450]")
@click.option("--prompts", type=int, help="Held-out texts to go on with.  [default: 192; quick: 4]")
@click.option("--new-tokens", type=int, help="Tokens to go on with each.  [default: 96; quick: 8]")
@click.option("--plots/--no-plots", default=True, show_default=True, help="Draw plots (extra plots).")
@click.option("--json", "as_json", is_flag=True, help="Print claims.json instead of claims.md.")
def claims(
    out: Path, fresh: bool, quick: bool, seed: int | None, threads: int | None, vocab_size: int | None,
    prompts: int | None, new_tokens: int | None, plots: bool, as_json: bool,
) -> None:  # fmt: skip
    """Train a small target and drafter, decode with top-K and RheoSampling, and compare with the paper's claims.

    The text is the docstrings of Python's standard library: nothing is downloaded. Every method gets the same prompts
    and seeds; differences come with paired 99 % intervals, and each claim with a verdict: agrees, differs, could not
    tell. Under 30 minutes on 2 cores. What is finished is kept in FOLDER: an interrupted run goes on, and another one
    with the same settings only prints. The exit code says nothing about the claims.
    """
    from rheocheck.bench.run import run  # first: it says which extra is missing
    from rheocheck.bench.settings import FULL, QUICK
    from rheocheck.report.claims_plots import claims_plots, require_matplotlib
    from rheocheck.report.claims_table import claims_text

    asked: dict[str, Any] = dict(
        seed=seed, threads=threads, vocab_size=vocab_size, prompts=prompts, new_tokens=new_tokens
    )
    settings = replace(QUICK if quick else FULL, **{name: value for name, value in asked.items() if value is not None})
    if plots:
        require_matplotlib()
    result = run(out, settings, fresh=fresh)
    text, data = claims_text(result), json.dumps(result.to_dict(), indent=1, allow_nan=False)
    (out / "claims.md").write_text(text)
    (out / "claims.json").write_text(data + "\n")
    if plots:
        claims_plots(result, out)
    click.echo(data if as_json else text, nl=as_json)
