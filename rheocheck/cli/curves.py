"""`rheocheck curves PAIR`: exact block length, acceptance and probes along one size of the tree, or the temperature."""

import json
import re
import sys

import click
from tqdm import tqdm

from rheocheck.cli.verify import named, stopped_in_time
from rheocheck.core.builders import BUILDERS
from rheocheck.core.decoder import is_rule
from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.core.verifiers import VERIFIERS
from rheocheck.exact import Budget, Method, sweep
from rheocheck.exact.curves.sweep import METHODS, OVER
from rheocheck.exact.curves.values import Value
from rheocheck.formats.files import load_pair, parse_context
from rheocheck.report.curves_text import curves_text

MOST_VALUES = 200


@click.command(short_help="Draw exact block length and acceptance over m, T, K, D or N.")
@click.argument("pair")
@click.option("--over", type=click.Choice(OVER), default="m", show_default=True, help="What the curves run over.")
@click.option("--values", default="0..3", show_default=True, help='Its values: "0..4", "1,2,4", of T "0.5,1,2".')
@click.option(
    "--method", "methods", multiple=True, metavar="BUILDER+VERIFIER",
    help="A curve; repeat for more. Parts by name or as module:attr.  "
    f"[default: {', '.join(method.name for method in METHODS)}]",
)  # fmt: skip
@click.option("-m", "--leads", default=1, show_default=True, help="m: slots that hold a node's best tokens, undrawn.")
@click.option("-K", "--branching", default=4, show_default=True, help="K: slots of a node.")
@click.option("-D", "--depth", default=3, show_default=True, help="D: layers of the tree.")
@click.option("-N", "--nodes", default=8, show_default=True, help="N: nodes kept; 0 is plain target sampling.")
@click.option("-F", "--frontier", type=int, help="F: nodes of a layer that get children.  [default: K]")
@click.option("--context", default="", help='Start after these tokens, such as "0 1".  [default: the start]')
@click.option("--max-classes", type=click.IntRange(min=1), help="Leave a point out after so many classes.")
@click.option(
    "--max-seconds", type=click.FloatRange(min=0), default=60.0, show_default=True,
    help="Leave a point out after so many seconds.",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw the curves into FILE.png or FILE.svg (extra `plots`).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def curves(
    pair: str, over: str, values: str, methods: tuple[str, ...], leads: int, branching: int, depth: int, nodes: int,
    frontier: int | None, context: str, max_classes: int | None, max_seconds: float, plot: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Compute exact curves on PAIR: what is gained and lost along m, T, K, D or N.

    PAIR is a pair file (JSON) or module:attr, such as toy_models.one_lead:pair. A temperature applies to both models.
    Every figure is exact and of one cycle; a point beyond --max-classes or --max-seconds is left out and named. Exit 0;
    2 on bad input; 3 when no point could be computed. Ctrl-C ends the sweep with the points so far.
    """
    if over == "K" and frontier is not None:
        branching = frontier + 1  # the swept size means nothing, but an F equal to it would follow it
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes, frontier=frontier)
    asked = tuple(_method(text) for text in methods) or METHODS
    wanted = parse_values(values, over)
    loaded, start = load_pair(pair), parse_context(context)
    if plot is not None:
        from rheocheck.report.curves_plot import check_plot

        check_plot(plot)
    count = len(wanted) * len(asked)
    with tqdm(total=count, unit="point", disable=not sys.stderr.isatty(), leave=False) as bar:
        found = sweep(
            loaded, over, wanted, asked, shape, context=start, done=bar.update,
            budget=lambda: Budget(max_classes, max_seconds), guard=stopped_in_time,
        )  # fmt: skip
    subject = f'{pair} after "{context}"' if start else pair
    click.echo(json.dumps(found.to_json(), indent=1) if as_json else curves_text(found, subject=subject))
    if plot is not None and found.computed:
        from rheocheck.report.curves_plot import save_plot

        save_plot(found, plot, subject=subject)
    return 0 if found.computed else 3


def parse_values(text: str, over: str) -> tuple[Value, ...]:
    """The values that "0..4", "1,2,4" or "0..2,5" write; decimals are allowed of a temperature alone."""
    values: list[Value] = []
    for part in text.split(","):
        span = re.fullmatch(r"\s*(\d{1,6})\.\.(\d{1,6})\s*", part)
        if span:
            first, last = int(span[1]), int(span[2])
            values += range(first, min(last, first + MOST_VALUES) + 1)
        elif re.fullmatch(r"\s*\d{1,6}\s*", part):
            values.append(int(part))
        elif over == "T" and re.fullmatch(r"\s*\d{0,6}\.\d{1,9}\s*", part):
            values.append(float(part))
        else:
            kind = 'decimals, such as "0,0.5,1..3"' if over == "T" else 'integers, such as "0..4" or "1,2,4"'
            raise InputError(f"--values must be {kind}, of at least 0, got {part!r:.40}")
    if not 1 <= len(values) <= MOST_VALUES:
        raise InputError(f"--values must be 1 to {MOST_VALUES} numbers, got {text!r:.40}; ask for fewer, or for some")
    return tuple(values)


def _method(text: str) -> Method:
    builder, plus, verifier = (part.strip() for part in text.partition("+"))
    if not plus:
        raise InputError(f"--method must be BUILDER+VERIFIER, got {text!r:.60}; try rheo+recursive")
    method = Method(
        f"{builder} + {verifier}", named(builder, BUILDERS, "builder"), named(verifier, VERIFIERS, "verifier")
    )
    is_rule(method.builder)  # refuses a callable of any other form
    return method
