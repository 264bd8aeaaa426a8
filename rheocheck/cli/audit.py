"""`rheocheck audit`: a verdict on the law of somebody's decoder, from its code or from its draws."""

import sys
from contextlib import redirect_stdout
from typing import Any

import click

from rheocheck.audit.settings import parse_settings
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.formats.files import parse_context


@click.command()
@click.argument("subject")
@click.option("--target", help='The law to follow: a pair FILE, or "module:attr" giving a Pair or a law(context).')
@click.option("--baseline", help="Instead of a law, a second subject: the same engine with speculation off.")
@click.option("--context", default="", help='Token ids that every draw continues, such as "0 1".  [default: none]')
@click.option(
    "--tokens", type=int,
    help="Audit the joint law of exactly this many tokens.  [default: 4 are looked at; sampled draws bound the longest "
    "prefix of them that they can: the bonus token of a decoder with more than 2 drafts stays out of sight]",
)  # fmt: skip
@click.option(
    "--drafts", type=int, metavar="K",
    help="The decoder proposes K drafts a round: audit K + 2 tokens, which show its bonus token and the next round.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(["auto", "exact", "sampled"]), default="auto", show_default=True,
    help="exact: enumerate the code; sampled: draw; auto: exact where that decides, else sampled.",
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
@click.option("--eos", type=int, metavar="ID", help="SUBJECT may stop: texts end behind this token.  [default: never]")
@click.option("--seed", default=0, show_default=True, help="Seeds every draw; the same seed repeats the run.")
@click.option(
    "--resume", metavar="FILE",
    help="Save the audit here at every look, and go on with what FILE holds: its evidence keeps multiplying.",
)  # fmt: skip
@click.option("--resume-anyway", is_flag=True, help="Go on although the code has changed since; every report says so.")
@click.option("--max-paths", type=int, help="End an enumeration after so many paths, with an interval.")
@click.option(
    "--max-seconds", type=float,
    help="End an enumeration after so many seconds, with an interval.  [default: exact: never; auto: 20]",
)  # fmt: skip
@click.option(
    "--float-tolerance", default=1e-6, show_default=True,
    help="TV that rounding in the subject's own numbers may amount to, for exact audits.",
)  # fmt: skip
@click.option(
    "--plain-runs", type=int, metavar="N",
    help="Runs of the real code behind an exact verdict.  [default: 200, and more while that is quick]",
)  # fmt: skip
@click.option(
    "--replay", metavar="0,2,1",
    help="Audit nothing: run SUBJECT once through these random choices, and show each of them.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.pass_context
def audit(
    ctx: click.Context, /, subject: str, target: str | None, baseline: str | None, context: str, tokens: int | None,
    drafts: int | None, method: str, samples: int | None, alpha: float, tv: float | None, rtol: float | None,
    settings: tuple[str, ...], depth: int | None, eos: int | None, seed: int, resume: str | None, resume_anyway: bool,
    max_paths: int | None, max_seconds: float | None, float_tolerance: float, plain_runs: int | None,
    replay: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Say whether SUBJECT still emits the target's law.

    SUBJECT is "module:attr", a function (context, n_tokens) returning new token ids, or a file of recorded
    samples (.npy, .jsonl, .parquet). Method exact runs its code as it is and enumerates every random choice that it
    makes: the verdict is about its law itself. Method sampled looks at draws as they come, and stops as soon as they
    decide. Auto enumerates for --max-seconds, and samples if that decides nothing. The verdict: "no bias found"
    down to a stated total variation, "biased" with a witness, or "inconclusive". It is about the tokens that its second
    line names: without --drafts, the bonus token of a longer draft, and later rounds, are not looked at. Ids outside
    the vocabulary, too few tokens without --eos, and a sampler that refuses NaN are a bias. Exit code 0, 1, 3; 2 on bad
    input.
    Ctrl-C reports on what was seen so far.
    """
    from rheocheck.audit.objects import asked_tokens

    words, values = parse_context(context), parse_settings(settings)
    drawn = asked_tokens(tokens, drafts)[0]
    question = {"subject": subject, "target": target, "baseline": baseline, "settings": values}
    if replay is not None:
        _replay(question, replay, words, drawn, seed, eos, as_json)
        return
    if (target is None) == (baseline is None):
        raise click.UsageError(
            "exactly one of --target and --baseline must be given, got "
            f"{'neither' if target is None else 'both'}: name a law, or the engine with speculation off"
        )
    from rheocheck.audit.methods import audit as run_audit
    from rheocheck.audit.subject import load_subject
    from rheocheck.audit.target import load_target
    from rheocheck.report.audit_text import audit_text

    with redirect_stdout(sys.stderr):  # what a subject prints is not the report
        verdict = run_audit(
            load_subject(subject, values, words),
            target=None if target is None else load_target(target, values, words),
            baseline=None if baseline is None else load_subject(baseline, values, words, what="--baseline"),
            method=method, context=words, tokens=tokens, drafts=drafts, samples=samples, alpha=alpha, tv=tv, rtol=rtol,
            depth=depth, eos=eos, seed=seed, resume=resume, resume_anyway=resume_anyway, max_paths=max_paths,
            max_seconds=max_seconds, float_tolerance=float_tolerance, plain_runs=plain_runs, question=question,
            announce=lambda line: click.echo(line, err=True),
        )  # fmt: skip
    click.echo(verdict.to_json() if as_json else audit_text(verdict))
    ctx.exit(verdict.exit_code)


def _replay(
    question: dict[str, Any], choices: str, context: Context, tokens: int, seed: int, eos: int | None, as_json: bool
) -> None:
    """Run the subject through these choices and print them."""
    from rheocheck.audit.replay import parse_choices, replayed
    from rheocheck.audit.samples_file import RecordedSamples
    from rheocheck.audit.subject import load_subject
    from rheocheck.audit.target import load_target
    from rheocheck.report.replay_text import replay_text

    if question["baseline"] is not None:
        raise InputError("--replay must go with --target or neither, got --baseline: drop it")
    with redirect_stdout(sys.stderr):
        subject = load_subject(question["subject"], question["settings"], context)
        if isinstance(subject, RecordedSamples):
            raise InputError(
                f"--replay must have code to run, got the recorded samples {subject.path}: name a function"
            )
        target = question["target"] and load_target(question["target"], question["settings"], context)
        found = replayed(
            subject,
            parse_choices(choices),
            target=target,
            context=context,
            tokens=tokens,
            seed=seed,
            eos=eos,
            question=question,
        )
    click.echo(found.to_json() if as_json else replay_text(found))
