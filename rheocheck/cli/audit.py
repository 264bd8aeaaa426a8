"""`rheocheck audit`: draws from a decoder, a verdict on its law."""

import dataclasses

import click

from rheocheck.core.errors import InputError
from rheocheck.core.files import parse_context


@click.command()
@click.argument("subject")
@click.option("--target", help='The law to follow: a pair FILE, or "module:attr" giving a Pair or a law(context).')
@click.option("--baseline", help="Instead of a law, a second subject: the same engine with speculation off.")
@click.option("--context", default="", help='Token ids that every draw continues, such as "0 1".  [default: none]')
@click.option("--tokens", default=4, show_default=True, help="Audit the joint law of this many tokens.")
@click.option(
    "--method", type=click.Choice(["auto", "exact", "sampled"]), default="auto", show_default=True,
    help="auto: the best method there is for the subject.",
)  # fmt: skip
@click.option("--samples", type=int, help="Draws of each subject at most.  [default: four times what --tv needs]")
@click.option("--alpha", default=1e-6, show_default=True, help="Probability of a false alarm.")
@click.option(
    "--tv", type=float,
    help="The bias worth finding.  [default: 0.02; with --samples or a recording, what these can find and rule out]",
)  # fmt: skip
@click.option(
    "--rtol",
    type=float,
    help="Tolerance of the law per token.  [default: 0 for a Pair, 1e-6 for a float law]",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE",
    help="Call SUBJECT as a factory with this setting; --target and --baseline get those they take.",
)  # fmt: skip
@click.option(
    "--depth", type=int,
    help="Drafts of a full block, for a recording with a decode log (blocks); 0 leaves the log out.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, help="Seeds every draw; the same seed repeats the run.")
@click.option(
    "--resume", metavar="FILE",
    help="Save the audit here at every look, and go on with what FILE holds: its evidence keeps multiplying.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.pass_context
def audit(
    ctx: click.Context, /, subject: str, target: str | None, baseline: str | None, context: str, tokens: int,
    method: str, samples: int | None, alpha: float, tv: float | None, rtol: float | None,
    settings: tuple[str, ...], depth: int | None, seed: int, resume: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Say whether SUBJECT still emits the target's law.

    SUBJECT is "module:attr", a function (context, n_tokens) returning new token ids, or a file of recorded
    samples (.npy, .jsonl, .parquet). The verdict is statistical: "no bias found" down to a stated total
    variation, "biased" with a witness, or "inconclusive". Exit code 0, 1, 3; 2 on bad input. The draws are
    looked at as they come, and stop as soon as they decide; Ctrl-C reports on those made so far.
    """
    if (target is None) == (baseline is None):
        raise click.UsageError(
            "exactly one of --target and --baseline must be given, got "
            f"{'neither' if target is None else 'both'}: name a law, or the engine with speculation off"
        )
    if method == "exact":
        raise InputError("--method must be auto or sampled, got exact: exact audits are not available yet, try sampled")

    from rheocheck.audit.sampled import audit as run_audit
    from rheocheck.audit.settings import parse_settings
    from rheocheck.audit.subject import load_subject
    from rheocheck.audit.target import load_target
    from rheocheck.report.audit_text import audit_text

    words, values = parse_context(context), parse_settings(settings)
    verdict = run_audit(
        load_subject(subject, values, words),
        target=None if target is None else load_target(target, values, words),
        baseline=None if baseline is None else load_subject(baseline, values, words, what="--baseline"),
        context=words, tokens=tokens, samples=samples, alpha=alpha, tv=tv, rtol=rtol, depth=depth, seed=seed,
        resume=resume,
        question={"subject": subject, "target": target, "baseline": baseline, "settings": values},
    )  # fmt: skip
    if method == "auto":
        note = "method auto chose sampled: exact audits of a subject are not available yet"
        verdict = dataclasses.replace(verdict, notes=(*verdict.notes, note))
    click.echo(verdict.to_json() if as_json else audit_text(verdict))
    ctx.exit(verdict.exit_code)
