"""`rheocheck demo`: the main job without any input, in under two minutes.

First the exact law of fifteen decoders on a toy pair, then an audit of a real third party's: transformers' assisted
generation as it is installed, and the same with a setting that it declares lossy.
"""

import json
from collections.abc import Iterator

import click
from rich.console import Console

from rheocheck.audit.sampled import audit
from rheocheck.audit.verdict import Verdict
from rheocheck.core.builders import naive, rheo, top_k
from rheocheck.core.errors import MissingExtra
from rheocheck.core.shape import Shape
from rheocheck.core.verifiers import VERIFIERS
from rheocheck.exact import verify
from rheocheck.formats.files import load_pair
from rheocheck.formats.loading import load_attribute
from rheocheck.report.audit_text import audit_text
from rheocheck.report.demo_table import Row, demo_table

PAIR = "toy_models.survival_bias:pair"
SHAPE = "toy_models.survival_bias:shape"
ADAPTER = "rheocheck.adapters.transformers:demo_arms"
BUILDERS = (
    ("top_k", top_k, 0),
    ("rheo m=0", rheo, 0),
    ("rheo m=1", rheo, 1),
    ("rheo m=2", rheo, 2),
    ("naive", naive, 1),
)
TOKENS, ALPHA, SAMPLES = 3, 1e-3, 2000
LESSON = """`naive` ranks its probe by what it drew, so the probe survives the cut more often when it drew a likely
token: its claim is false, and a verifier that trusts the claim emits another model. `rheo` ranks it blindly.
"""

Arm = tuple[str, Verdict, str]  # (title, what was found, what was expected)


@click.command(short_help="Show the main job on real input: an exact table, then an audit.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(as_json: bool) -> int:
    """Show the main job on real input: an exact table on a toy pair, then an audit of transformers.

    Exit 0 when every cell of the table and both arms of the audit are as expected, 1 otherwise.
    """
    console = Console(width=120, highlight=False, markup=False, soft_wrap=True, quiet=as_json)
    rows = exact_rows()
    shape = load_attribute(SHAPE, "shape")
    sizes = f"K={shape.branching} D={shape.depth} N={shape.nodes}"
    console.print(demo_table(rows, f"The exact law of {len(rows)} decoders on {PAIR} ({sizes})"))
    console.print(LESSON)
    arms: list[Arm] = []
    try:
        for arm in audited_arms():
            arms.append(arm)
            if any("interrupted" in note for note in arm[1].notes):
                console.print(audit_text(arm[1]))
                return 3
            console.print(f"{arm[0]}\n{audit_text(arm[1])}\n")
    except MissingExtra:
        console.print("To audit a real decoder next: python -m pip install 'rheocheck[hf]', then this command again.")
    as_expected = all(row[-2].verdict == row[-1] for row in rows) and all(arm[1].verdict == arm[2] for arm in arms)
    console.print("Everything as expected." if as_expected else "NOT as expected: see above.")
    if as_json:
        table = [{"builder": b, "verifier": v, "expected": e, **found.to_json()} for b, v, found, e in rows]
        audits = [{"title": title, "expected": e, **found.to_dict()} for title, found, e in arms]
        click.echo(json.dumps({"as_expected": as_expected, "pair": PAIR, "table": table, "audits": audits}, indent=1))
    return 0 if as_expected else 1


def exact_rows() -> list[Row]:
    """Five builders under three verifiers on the demonstration pair; only naive claims that are trusted may bias."""
    pair, base = load_pair(PAIR), load_attribute(SHAPE, "shape")
    rows = []
    for name, builder, leads in BUILDERS:
        shape = Shape(leads=leads, branching=base.branching, depth=base.depth, nodes=base.nodes)
        for verifier_name, verifier in VERIFIERS.items():
            expected = "biased" if name == "naive" and verifier_name != "matching" else "lossless"
            rows.append((name, verifier_name, verify(pair, builder, verifier, shape), expected))
    return rows


def audited_arms() -> Iterator[Arm]:
    """Transformers' assisted generation, audited as it is and with a setting that it declares lossy."""
    honest, lossy, law = load_attribute(ADAPTER, "adapter")()
    for title, subject, expected in (
        ("transformers assisted generation, default settings:", honest, "no_bias_found"),
        ("the same with assistant_ensemble_weight=0.9, which transformers declares lossy:", lossy, "biased"),
    ):
        yield title, audit(subject, target=law, tokens=TOKENS, samples=SAMPLES, alpha=ALPHA), expected
