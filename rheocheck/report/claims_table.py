"""The claims of a paper beside what was found, as Markdown: it reads in a terminal and goes into a README as it is."""

from collections.abc import Callable, Iterable, Sequence

from rheocheck.bench.cells import plain, probed
from rheocheck.bench.claims import Figure
from rheocheck.bench.intervals import Interval
from rheocheck.bench.result import ClaimSummary, Result


def claims_text(result: Result) -> str:
    """The whole report."""
    parts = [
        "# RheoSampling's claims in miniature",
        _preface(result),
        "## Claims",
        claims_table(result),
        "## Methods",
        WORDS,
        _table(CELL_HEAD, (_cell_row(summary) for summary in result.cells)),
        "## Acceptance by level at T = 1",
        _levels(result),
        "## Top-128 coverage on held-out text",
        _table(
            ("T", "drafter's mass", "target's mass", "sum of min(p, q)"),
            ((f"{c.temperature:g}", *(_percent(x) for x in (c.drafter, c.target, c.overlap))) for c in result.coverage),
        ),
        "## Time",
        _time(result),
    ]
    return "\n\n".join(parts) + "\n"


def claims_table(result: Result) -> str:
    """One row a claim."""
    head = "question", f"the paper ({result.paper.source})", "found here", "verdict"
    return _table(
        head,
        (
            (
                claim.question,
                claim.paper,
                "; ".join(map(figure_text, claim.figures)),
                f"{claim.verdict}: {claim.because}",
            )
            for claim in result.claims
        ),
    )


def figure_text(figure: Figure) -> str:
    """Such as "difference +0.151 tokens (+0.097 .. +0.204)"."""
    show = SHOWN[figure.unit]
    text = f"{figure.label} {show(figure.value)}{' tokens' if figure.unit.startswith('tokens') else ''}"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} ({show(figure.low)} .. {show(figure.high)})"


SHOWN: dict[str, Callable[[float], str]] = {
    "tokens": lambda x: f"{x:.3f}",
    "tokens more": lambda x: f"{x:+.3f}",
    "share": lambda x: f"{100 * x:.1f} %",
    "share more": lambda x: f"{100 * x:+.1f} %",
    "ratio": lambda x: f"{x:.3f}",
}


def _preface(result: Result) -> str:
    settings, training = result.settings, result.training
    losses = ", ".join(f"{name} {loss:.2f}" for name, loss in training["held_out_nats"].items())
    sizes = ", ".join(f"{name} {n / 1e6:.2f} M" for name, n in training["parameters"].items())
    spent = {**result.seconds, **{f"training the {name}": s for name, s in training["seconds"].items()}}
    seconds = ", ".join(f"{name} {s:.0f}" for name, s in spent.items())
    learned = f"{training['wanted']['texts']:,} texts of {training['tokens']['learned']:,} tokens"
    lines = [
        f"Vocabulary {settings.vocab_size:,}; learned: {learned}; parameters: {sizes}.",
        f"Held-out nats a token: {losses}.",
        f"Trees of {settings.nodes} nodes, depth {settings.depth}, K = {settings.branching}; prompts of "
        f"{settings.prompt_tokens} tokens, {settings.new_tokens} new ones; seed {settings.seed}.",
        f"Intervals: {100 * (1 - result.conditions['alpha']):g} %, paired, prompts as clusters. The verifier rheo is "
        "our reconstruction of RheoVerification; top-K is verified recursively.",
        f"{result.conditions['machine']}, Python {result.conditions['python']}, "
        + ", ".join(f"{name} {number}" for name, number in result.conditions["versions"].items())
        + f"; seconds: {seconds}.",
    ]
    if settings.quick:
        lines.insert(0, "**Too small to conclude: a quick run shows that the command works, and nothing else.**")
    return "\n".join(lines)


WORDS = """\
Tokens a cycle: accepted drafts and one more. Level acceptance: of the nodes with kept children at which a walk stood,
the share from which it went on; at the root: of the roots alone; p on kept children: the target's mass there, which for
one-hot claims is the acceptance to be expected. Probe kept: of these nodes, those whose probe stayed in the tree; probe
accepted: of those, the ones from which the walk went on to it. Fewer prompts are the first of them: what differs
between rows is in the claims, over common prompts. Of probes and coverage the paper, as we know it, gives no figure."""

CELL_HEAD = (
    "T", "method", "prompts", "cycles", "tokens a cycle", "level acceptance", "at the root", "p on kept children",
    "probe kept", "probe accepted",
)  # fmt: skip


def _cell_row(summary: ClaimSummary) -> tuple[str, ...]:
    cell, metrics = summary.cell, summary.metrics
    block = metrics["block"]
    assert block is not None  # every cell has cycles
    shares = ("acceptance", "root", "mass", "probe survival", "probe acceptance")
    return (
        f"{cell.temperature:g}",
        cell.name.partition(" ")[2],
        str(summary.prompts),
        f"{summary.cycles:,}",
        f"{block.estimate:.3f} ({block.low:.3f} .. {block.high:.3f})",
        *(_share(metrics[name]) for name in shares),
    )


def _levels(result: Result) -> str:
    """Stood and descended, level by level, of the three methods."""
    cells = [plain(1.0), probed(1.0, 1, "recursive"), probed(1.0, 1, "rheo")]
    rows = []
    for cell in cells:
        levels = result.of(cell).levels
        rows.append((cell.name, *(_percent(down / stood) if stood else "" for stood, down in levels)))
    return _table(("method", *map(str, range(len(result.of(cells[0]).levels)))), rows)


def _time(result: Result) -> str:
    """Milliseconds a cycle of one prompt in a batch."""
    cells = [plain(1.0), probed(1.0, 1, "recursive"), probed(1.0, 1, "rheo")]
    parts = list(result.of(cells[0]).milliseconds)
    rows = [(cell.name, *(f"{result.of(cell).milliseconds[part]:.2f}" for part in parts)) for cell in cells]
    return _table(("milliseconds a cycle of a row", *parts), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _share(found: Interval | None) -> str:
    return "" if found is None else _percent(found.estimate)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
