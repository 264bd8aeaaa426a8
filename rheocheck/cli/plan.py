"""`rheocheck plan`: how many draws an audit needs, before a single one is drawn."""

import json
from typing import Any

import click

from rheocheck.core.errors import InputError
from rheocheck.formats.files import parse_context

SHAPES = ("uniform", "zipf", "llm")
MAX_TOKENS = 2**20


@click.command(short_help="Say how many draws an audit needs, before a single one is drawn.")
@click.option("--target", help='The law to be audited: a pair FILE, or "module:attr" giving a Pair or a law(context).')
@click.option("--cells", type=int, help="Instead of a target: a law of so many tokens, as --shape says.")
@click.option(
    "--shape", type=click.Choice(SHAPES), default="llm", show_default=True,
    help="uniform; zipf: 1/rank; llm: softmax of normal logits of deviation 3, a head and a long tail.",
)  # fmt: skip
@click.option("--context", default="", help='Token ids that every draw continues, such as "0 1".  [default: none]')
@click.option(
    "--tokens",
    type=int,
    help="The object is exactly this many tokens.  [default: the longest prefix of 4 that the draws can bound, which "
    "does not look at the bonus token of a decoder with more than 2 drafts]",
)
@click.option("--drafts", type=int, metavar="K", help="The decoder proposes K drafts: the object is K + 2 tokens.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Call the target as a factory with this setting."
)
@click.option("--eos", type=int, metavar="ID", help="Texts end behind this token of the target.  [default: never]")
@click.option("--tv", default=0.02, show_default=True, help="The bias worth finding.")
@click.option("--alpha", default=1e-6, show_default=True, help="Probability of a false alarm.")
@click.option("--power", default=0.999, show_default=True, help="Probability of finding a bias of --tv.")
@click.option("--delta", default=1e-3, show_default=True, help="1 - confidence of the bound on TV.")
@click.option("--samples", type=int, help="Say what so many draws can find and rule out.  [default: the budget]")
@click.option(
    "--simulate", default=30, show_default=True, help="Simulated runs against the hardest bias of --tv; 0: none."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(
    target: str | None, cells: int | None, shape: str, context: str, tokens: int | None, drafts: int | None,
    settings: tuple[str, ...], eos: int | None, tv: float, alpha: float, power: float, delta: float,
    samples: int | None, simulate: int, as_json: bool,
) -> int:  # fmt: skip
    """Say how many draws `rheocheck audit` needs to find a bias of --tv, or to rule it out.

    The law comes from --target, or is made up by --cells and --shape when there is no decoder yet. Exit code 0; 2 on
    bad input.
    """
    if (target is None) == (cells is None):
        came = "neither" if target is None else "both"
        raise click.UsageError(
            f"exactly one of --target and --cells must be given, got {came}: name a law, or the size of one"
        )
    for name, value, least in (("simulate", simulate, 0), ("samples", samples, 1)):
        if value is not None and value < least:
            raise InputError(f"--{name} must be an integer >= {least}, got {value}: raise it")
    for name, level in (("tv", tv), ("alpha", alpha), ("power", power), ("delta", delta)):
        if not 0 < level < 1:
            raise InputError(f"--{name} must lie strictly between 0 and 1, got {level!r}: try 0.01")
    if cells is not None and not 1 <= cells <= MAX_TOKENS:
        raise InputError(f"--cells must lie in 1..{MAX_TOKENS}, got {cells}: pass the size of the vocabulary")

    from rheocheck.audit.against_law import law_plan, law_reach
    from rheocheck.audit.choose_object import choose_object
    from rheocheck.audit.objects import asked_tokens, object_name
    from rheocheck.audit.settings import parse_settings
    from rheocheck.audit.stopping import stopped_target
    from rheocheck.audit.target import FLOAT_RTOL, load_target

    drawn, asked = asked_tokens(tokens, drafts)
    values = parse_settings(settings)
    if target is not None:
        after = parse_context(context)
        texts = stopped_target(load_target(target, values, after), eos, after)
        chosen = choose_object(texts, after, drawn, asked, FLOAT_RTOL, tv=tv, samples=samples, alpha=alpha, delta=delta)
        if not chosen.whole:
            raise InputError(
                f"the object must have at most {MAX_TOKENS} possible words, got more of {drawn} tokens: no number of "
                f"draws bounds it, try --tokens {chosen.longer.tokens}"
            )
        law, about = chosen.joint.cell_law(), object_name(chosen.tokens, after)
    else:
        if values or context or drafts is not None:
            raise InputError(
                "--set, --drafts and --context must go with --target, got --cells: drop them, or name a target"
            )
        if eos is not None:
            raise InputError("--eos must go with --target, got --cells: drop it, or name a target")
        law, about = _made_up(int(cells or 1), shape), f"first token, {shape} law"
    size = int((law > 0).sum())
    planned = law_plan(law, tv=tv, alpha=alpha, delta=delta, power=power, samples=samples, simulate=simulate)
    n = samples or planned.budget
    detectable, ruled_out = law_reach(law, n, alpha=alpha, delta=delta)
    found: dict[str, Any] = {
        "object": about,
        "cells": size,
        "tv": tv,
        "alpha": alpha,
        "power": power,
        "delta": delta,
        "detect": planned.detect,
        "pass": planned.pass_,
        "budget": planned.budget,
        "cap": planned.cap,
        "mean_stop": _finite(planned.mean_stop),
        "q99_stop": _finite(planned.q99_stop),
        "samples": n,
        "smallest_detectable_tv": detectable,
        "tv_ruled_out": ruled_out,
        "notes": list(planned.notes),
    }
    click.echo(json.dumps(found, indent=1, allow_nan=False) if as_json else _text(found))
    return 0


def _made_up(cells: int, shape: str) -> Any:
    """A law [cells], always the same one for the same arguments."""
    import numpy as np

    if shape == "uniform":
        weights = np.ones(cells)
    elif shape == "zipf":
        weights = 1 / np.arange(1, cells + 1)
    else:
        logits = 3 * np.random.default_rng(0).standard_normal(cells)
        weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _finite(stop: float | None) -> float | None:
    return None if stop is None or stop == float("inf") else stop


def _text(found: dict[str, Any]) -> str:
    tv = f"TV {found['tv']:g}"
    lines = [
        f"an audit for {tv} of the {found['object']} ({found['cells']} cells), alpha {found['alpha']:g}",
        f"  detect  {found['detect']} draws find any bias of {tv} with power {found['power']:.5g}",
        f"  pass    {found['pass']} draws bound TV by {found['tv']:g} when there is none, confidence "
        f"{1 - found['delta']:.5g}",
        f"  budget  {found['budget']} draws serve for both",
        f"  cap     {found['cap']} draws, where an undecided audit stops",
    ]
    if found["mean_stop"] is not None:
        end = f", 99% of them by {found['q99_stop']:.0f}" if found["q99_stop"] is not None else ""
        lines.append(f"  stop    simulated audits of the hardest bias stop at {found['mean_stop']:.0f} on average{end}")
    lines += [
        f"  with {found['samples']} draws",
        f"    a bias of TV {found['smallest_detectable_tv']:.4f} or more would be found with probability 99.9%",
        f"    a correct decoder earns TV <= {found['tv_ruled_out']:.4f}",
    ]
    return "\n".join([*lines, *(f"  note: {note}" for note in found["notes"])])
