"""`rheocheck verify PAIR`: the exact law of a builder and a verifier on a toy pair."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from tqdm import tqdm

from rheocheck.audit.verdict import EXIT_CODES
from rheocheck.core.builders import BUILDERS
from rheocheck.core.decoder import is_rule
from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.core.verifiers import VERIFIERS
from rheocheck.exact import Budget
from rheocheck.exact import verify as verify_exactly
from rheocheck.exact.verify import METHODS
from rheocheck.formats.files import load_pair, parse_context
from rheocheck.formats.loading import load_attribute
from rheocheck.report.verify_text import verify_text

GRACE = 3.0  # seconds between asking code to stop and interrupting it
FOREVER = 1e8  # seconds, three years: the system's timer refuses an infinite wait


@click.command(short_help="Say exactly whether a decoder emits the target's law on a toy pair.")
@click.argument("pair")
@click.option("--builder", default="rheo", show_default=True, help=f"{', '.join(BUILDERS)}, or module:attr.")
@click.option("--verifier", default="rheo", show_default=True, help=f"{', '.join(VERIFIERS)}, or module:attr.")
@click.option("-m", "--leads", default=1, show_default=True, help="m: slots that hold a node's best tokens, undrawn.")
@click.option("-K", "--branching", default=4, show_default=True, help="K: slots of a node.")
@click.option("-D", "--depth", default=3, show_default=True, help="D: layers of the tree.")
@click.option("-N", "--nodes", default=8, show_default=True, help="N: nodes kept; 0 is plain target sampling.")
@click.option("-F", "--frontier", type=int, help="F: nodes of a layer that get children.  [default: K]")
@click.option("--context", default="", help='Start after these tokens, such as "0 1".  [default: the start]')
@click.option(
    "--tokens", type=int,
    help="Joint law of so many tokens over as many cycles as they take.  [default: one cycle; later ones are not "
    "looked at]",
)  # fmt: skip
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="exact enumerates; certificate runs local checks alone; auto enumerates as far as that is sensible.",
)
@click.option("--max-classes", type=click.IntRange(min=1), help="Stop after so many classes, with an interval.")
@click.option("--max-seconds", type=click.FloatRange(min=0), help="Stop after so many seconds, with an interval.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(
    pair: str,
    builder: str,
    verifier: str,
    leads: int,
    branching: int,
    depth: int,
    nodes: int,
    frontier: int | None,
    context: str,
    tokens: int | None,
    method: str,
    max_classes: int | None,
    max_seconds: float | None,
    as_json: bool,
) -> int:
    """Say exactly whether BUILDER + VERIFIER emit the target's law on PAIR.

    PAIR is a pair file (JSON) or module:attr, such as toy_models.survival_bias:pair. The verdict is lossless (exit
    0), biased with a witness (1), or inconclusive (3) when the work was cut short; Ctrl-C prints the interval so far.
    Your own BUILDER and VERIFIER must draw from `chance` alone and keep no state: what does not is refused (2).
    """
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes, frontier=frontier)
    build, check = named(builder, BUILDERS, "builder"), named(verifier, VERIFIERS, "verifier")
    is_rule(build)  # refuses a callable of any other form
    loaded = load_pair(pair)
    budget = Budget(max_classes, max_seconds)
    with _progress(budget), stopped_in_time(budget):
        result = verify_exactly(
            loaded, build, check, shape, context=parse_context(context), tokens=tokens, method=method, budget=budget
        )
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=1))
    else:
        click.echo(verify_text(result, subject=f"{builder} + {verifier} on {pair}", shape=shape))
    return EXIT_CODES[result.verdict]


def named(name: str, known: dict[str, Any], what: str) -> Any:
    """The builder or verifier of a name, or of an import string."""
    if name in known:
        return known[name]
    if ":" not in name:
        raise InputError(f'{what} must be one of {", ".join(known)}, or an import string "module:attr", got {name!r}')
    value = load_attribute(name, what)
    if not callable(value):
        raise InputError(f"{what} {name!r} must be callable, got {type(value).__name__}")
    return value


@contextmanager
def _progress(budget: Budget) -> Iterator[None]:
    """A bar of the probability covered, on a terminal's stderr."""
    form = "{percentage:3.0f}% covered |{bar}| {postfix} [{elapsed}]"
    with tqdm(total=1.0, bar_format=form, disable=not sys.stderr.isatty(), leave=False) as bar:

        def show(covered: Any, classes: int) -> None:
            bar.n = float(covered)
            bar.set_postfix_str(f"{classes} classes")

        budget.progress = show
        yield


@contextmanager
def stopped_in_time(budget: Budget) -> Iterator[None]:
    """The first Ctrl-C, or the end of --max-seconds, spends the budget, so that what was covered is reported.

    Code that does not look at the budget - a user's builder that never ends - is interrupted GRACE seconds later.
    Where the engine has noticed by itself that it must stop, it has as much time again to finish its report.
    """
    asked, reason = False, ""

    def stop(*_: Any) -> None:
        nonlocal asked, reason
        reason = "interrupted"
        if budget.stopped is None:
            budget.stopped, asked = reason, True
            _alarm(GRACE)
        else:
            raise KeyboardInterrupt

    def late(*_: Any) -> None:
        nonlocal asked, reason
        if asked:
            raise KeyboardInterrupt
        again = (budget.max_seconds or 0) if budget.stopped else 0
        asked, reason = True, budget.stopped or "max_seconds"
        budget.stopped = reason
        _alarm(again + GRACE)

    try:
        before = signal.signal(signal.SIGINT, stop)
    except ValueError:  # not in the main thread: there is no Ctrl-C to catch
        yield
        return
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, late)
    if budget.max_seconds is not None:
        _alarm(budget.max_seconds + GRACE)
    try:
        yield
    finally:
        _alarm(0)
        signal.signal(signal.SIGINT, before)
        budget.stopped = reason or budget.stopped  # what was interrupted cannot tell Ctrl-C from the clock


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, min(seconds, FOREVER))
