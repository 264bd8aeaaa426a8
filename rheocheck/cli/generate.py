"""`rheocheck generate`: texts of a target model, drafted by another one, with the target's own law."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape
from rheocheck.formats.files import parse_context
from rheocheck.formats.loading import load_attribute

if TYPE_CHECKING:
    from rheocheck.generation import GreedyComparison

MODELS = "rheocheck.adapters.causal_models"


@click.command()
@click.argument("target")
@click.argument("drafter")
@click.option("--prompt", "texts", multiple=True, help="A text to go on with; more than one make a batch.")
@click.option("--prompt-ids", multiple=True, metavar='"1 2 3"', help="The same as token ids, without a tokenizer.")
@click.option("--max-new-tokens", default=64, show_default=True, help="Tokens of an answer at most.")
@click.option("-T", "--temperature", default=1.0, show_default=True, help="0 is greedy.")
@click.option("--top-k", default=0, show_default=True, help="Keep the target's k likeliest tokens; 0 is off.")
@click.option("--top-p", default=1.0, show_default=True, help="Keep the target's nucleus of this mass; 1 is off.")
@click.option("--builder", type=click.Choice(["top_k", "rheo"]), default="rheo", show_default=True)
@click.option("--verifier", type=click.Choice(["matching", "recursive", "rheo"]), default="rheo", show_default=True)
@click.option("-m", "--leads", default=1, show_default=True, help="Best tokens of a node that are not drawn.")
@click.option("-K", "--branching", default=4, show_default=True, help="Children of a node.")
@click.option("-D", "--depth", default=3, show_default=True, help="Layers of the tree.")
@click.option("-N", "--nodes", default=8, show_default=True, help="Nodes kept; 0 is plain sampling of the target.")
@click.option("-F", "--frontier", type=int, help="Nodes of a layer that get children.  [default: K]")
@click.option("--seed", default=0, show_default=True, help="Seeds the first prompt; the next ones take the next seeds.")
@click.option(
    "--dtype", type=click.Choice(["auto", "float32", "float64", "bfloat16", "float16"]), default="auto",
    show_default=True, help="Of both models; auto: as their checkpoints say.",
)  # fmt: skip
@click.option("--device", default="cpu", show_default=True, help="Where both models run, such as cuda.")
@click.option(
    "--bare", is_flag=True,
    help="Without what else TARGET's generation config asks for, such as a repetition penalty; refused otherwise.",
)  # fmt: skip
@click.option(
    "--against-greedy", "greedy", is_flag=True,
    help="With -T 0: compare with TARGET's own greedy search, and say whether a difference is rounding.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def generate(
    ctx: click.Context, /, target: str, drafter: str, texts: tuple[str, ...], prompt_ids: tuple[str, ...],
    max_new_tokens: int, temperature: float, top_k: int, top_p: float, builder: str, verifier: str, leads: int,
    branching: int, depth: int, nodes: int, frontier: int | None, seed: int, dtype: str, device: str, bare: bool,
    greedy: bool, as_json: bool,
) -> None:  # fmt: skip
    """Sample from TARGET, drafted by DRAFTER: causal models of transformers over one vocabulary, each a
    folder, a name, a .gguf file, or module:attr.

    The answers have exactly the law that TARGET's own generate(do_sample=True) samples from with this temperature,
    top_k and top_p; the tree only decides how fast they come. Then what the tree did: mean block (tokens a pass of
    TARGET, before EOS or the maximum cuts the last one), how often a drawn probe stayed in the tree, and how often it
    was then accepted. Exit code 0; 1 if --against-greedy found a difference that rounding does not explain; 2 on bad
    input.
    """
    if bool(texts) == bool(prompt_ids):
        raise click.UsageError("exactly one of --prompt and --prompt-ids must be given; name a text, or token ids")
    shape = Shape(leads=leads, branching=branching, depth=depth, nodes=nodes, frontier=frontier)
    tokenizer = load_attribute(f"{MODELS}:load_tokenizer", "loader")(target, drafter) if texts else None
    if tokenizer is None:
        prompts = [parse_context(ids) for ids in prompt_ids]
    else:
        prompts = [_ids(tokenizer, text) for text in texts]
    if not all(prompts):
        raise InputError("a prompt must have at least one token, got none; begin with the model's start token")
    from rheocheck.generation import Request, against_greedy
    from rheocheck.generation import generate as decode
    from rheocheck.generation.models import check_device

    check_device(device)
    load = load_attribute(f"{MODELS}:load", "loader")
    models = [load(name, dtype=dtype, device=device) for name in (target, drafter)]
    if bare:
        config = models[0].generation_config
        models[0].generation_config = type(config)(eos_token_id=config.eos_token_id)
    requests = [
        Request(
            prompt=prompt, max_new_tokens=max_new_tokens, temperature=temperature, top_k=top_k, top_p=top_p,
            seed=seed + row,
        )
        for row, prompt in enumerate(prompts)
    ]  # fmt: skip
    how: dict[str, Any] = {"shape": shape, "builder": builder, "verifier": verifier}
    verified, drafting = models
    compared = against_greedy(verified, drafting, requests, **how) if greedy else None
    found = compared.generated if compared else decode(verified, drafting, requests, **how)
    answers = [
        {"prompt": list(prompt), "tokens": list(tokens)} | ({"text": tokenizer.decode(tokens)} if tokenizer else {})
        for prompt, tokens in zip(prompts, found.tokens, strict=True)
    ]
    report: dict[str, Any] = {"answers": answers, "statistics": found.statistics.to_dict()}
    if compared:
        report["differences"] = [asdict(item) | {"verdict": item.verdict} for item in compared.differences]
    lines = _text(answers, found.statistics) + (_differences(compared, tokenizer) if compared else [])
    click.echo(json.dumps(report, indent=1) if as_json else "\n".join(lines))
    ctx.exit(1 if compared and compared.structural else 0)


def _ids(tokenizer: Any, text: str) -> tuple[int, ...]:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"a prompt must be text in UTF-8, got {text!r:.60}; convert it") from None
    return tuple(tokenizer(text).input_ids)


def _text(answers: list[dict[str, Any]], statistics: Any) -> list[str]:
    """The answers, and a few lines on how they came about."""
    lines = [answer.get("text") or " ".join(map(str, answer["tokens"])) for answer in answers]
    blocks = ", ".join(f"{length}: {times}" for length, times in sorted(statistics.blocks.items()))
    lines += ["", f"mean block        {statistics.mean_block:.2f} tokens  ({blocks})"]
    for name, share in (("survival", statistics.probe_survival), ("acceptance", statistics.probe_acceptance)):
        if share is not None:
            lines.append(f"probe {name:<11} {share:.1%}")
    lines.append("seconds           " + ", ".join(f"{part} {s:.2f}" for part, s in statistics.seconds.items()))
    return lines


def _differences(compared: "GreedyComparison", tokenizer: Any) -> list[str]:
    """Where greedy search answers something else."""
    total = len(compared.generated.tokens)
    lines = [f"greedy search     the same in {total - len(compared.differences)} of {total} answers"]
    for item in compared.differences:
        ours, theirs = (
            "the end" if token is None else f"{token} {tokenizer.decode([token])!r}" if tokenizer else str(token)
            for token in (item.ours, item.theirs)
        )
        lines.append(f"  answer {item.request}, token {item.position}: {ours}, greedy search {theirs}: {item.verdict}")
        if item.margin is not None:
            lines.append(
                f"    logits {item.margin:.2g} apart; rounding {item.rounding:.2g} here, "
                f"{item.usual:.2g} in greedy search itself"
            )
    return lines
