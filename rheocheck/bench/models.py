"""Text, vocabulary, target and drafter of a run: trained once, kept in a folder, and taken from there when they fit.

    tokenizer.json   target.pt   drafter.pt   training.json     what was trained, written last

They fit when the settings that they depend on, and the text, are the same.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from tokenizers import Tokenizer

from rheocheck.bench.settings import Settings, Size
from rheocheck.bench.text import Texts, standard_library
from rheocheck.bench.training import (
    CHECKED,
    distillation,
    first_layers,
    held_out_loss,
    new_model,
    text_loss,
    train,
    windows,
    written,
)
from rheocheck.bench.vocabulary import encoded, train_vocabulary
from rheocheck.core.errors import InputError

NAMES = ("target", "drafter")
REPORTED = {"wanted", "tokens", "parameters", "held_out_nats", "seconds"}  # in training.json
OWN = 64  # texts that the target writes and the drafter does not learn


@dataclass(frozen=True)
class Prepared:
    """What a run decodes with.

    prompts   the first tokens of held-out texts      windows   held-out text [n, width + 1]
    training  sizes, held-out losses and seconds, as in training.json
    digest    of the weights
    """

    target: Any
    drafter: Any
    prompts: tuple[tuple[int, ...], ...]
    windows: torch.Tensor
    training: dict[str, Any]
    digest: str
    reused: bool

    @property
    def models(self) -> tuple[Any, Any]:
        """Target and drafter."""
        return self.target, self.drafter


def prepare(folder: Path, settings: Settings) -> Prepared:
    """Train the models of these settings, or load them from the folder."""
    texts = standard_library(settings.files)
    wanted = _wanted(settings, texts)
    reused = _known(folder).get("wanted") == wanted
    if not reused:
        _train(folder, settings, texts, wanted)
    with _kept(folder / "tokenizer.json") as path:
        tokenizer = Tokenizer.from_file(str(path))
    held_out = encoded(tokenizer, texts.held_out)
    target, drafter = (_load(folder, name, size, settings) for name, size in _sizes(settings).items())
    digest = sha256(b"".join((folder / f"{name}.pt").read_bytes() for name in NAMES)).hexdigest()
    return Prepared(
        target, drafter, _prompts(held_out, settings), windows(held_out, settings.target.window)[:CHECKED],
        _known(folder), digest, reused,
    )  # fmt: skip


def _train(folder: Path, settings: Settings, texts: Texts, wanted: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "training.json").unlink(missing_ok=True)
    seconds, clock = {}, _stopwatch()
    tokenizer = train_vocabulary(texts.training, settings.vocab_size)
    # now, and not after minutes of training: a folder that takes no files is found out
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=True), encoding="utf-8")
    training, held_out = encoded(tokenizer, texts.training), encoded(tokenizer, texts.held_out)
    learned, other = training[: settings.texts], training[settings.texts :] or training
    seconds["vocabulary"] = clock()
    target = new_model(settings.target, settings.vocab_size, settings.seed)
    train(target, learned, settings.target, text_loss, settings.seed, what="target")
    seconds["target"] = clock()
    width = settings.drafter.window
    begun = _begun(other, settings.prompt_tokens)[: settings.written + OWN]
    own = written(target, begun, width + 1, settings.seed)
    seconds["writing"] = clock()
    drafter, loss = first_layers(target, settings.drafter), distillation(target)
    train(drafter, own[:-OWN], settings.drafter, loss, settings.seed + 1, every=width + 1, what="drafter")
    losses = {
        "target": held_out_loss(target, held_out, width),
        "drafter": held_out_loss(drafter, held_out, width),
        "target's entropy on its own texts": held_out_loss(target, own[-OWN:], width, loss),
        "drafter against it there": held_out_loss(drafter, own[-OWN:], width, loss),
    }
    seconds["drafter"] = clock()
    for name, model in zip(NAMES, (target, drafter), strict=True):
        torch.save(model.state_dict(), folder / f"{name}.pt")
    report = {
        "wanted": wanted,
        "tokens": {
            "learned": sum(map(len, learned)),
            "written": sum(map(len, own)),
            "held out": sum(map(len, held_out)),
        },
        "parameters": {name: m.num_parameters() for name, m in zip(NAMES, (target, drafter), strict=True)},
        "held_out_nats": losses,
        "seconds": seconds,
    }
    (folder / "training.json").write_text(json.dumps(report, indent=1) + "\n")


def _wanted(settings: Settings, texts: Texts) -> dict[str, Any]:
    """All that the models depend on, as JSON gives it back."""
    names = ("vocab_size", "target", "drafter", "files", "texts", "written", "prompt_tokens", "seed")
    made: dict[str, Any] = {name: settings.to_dict()[name] for name in names} | {
        "digest": texts.digest,
        "found": {"training": len(texts.training), "held out": len(texts.held_out)},
    }
    return made


def _known(folder: Path) -> dict[str, Any]:
    path = folder / "training.json"
    if not path.exists():
        return {}
    with _kept(path):
        found: dict[str, Any] = json.loads(path.read_text())
        if missing := REPORTED - set(found):
            raise ValueError(f"no {sorted(missing)[0]!r}")
    return found


@contextmanager
def _kept(path: Path) -> Iterator[Path]:
    """Read a file that an earlier run wrote; readers of torch and tokenizers raise whatever they like."""
    try:
        yield path
    except Exception as error:
        raise InputError(f"{path} must be as it was written, got {error!r}; start over with --fresh") from error


def _sizes(settings: Settings) -> dict[str, Size]:
    return dict(zip(NAMES, (settings.target, settings.drafter), strict=True))


def _load(folder: Path, name: str, size: Size, settings: Settings) -> Any:
    model = new_model(size, settings.vocab_size, 0)
    with _kept(folder / f"{name}.pt") as path:
        model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


def _prompts(held_out: list[list[int]], settings: Settings) -> tuple[tuple[int, ...], ...]:
    """The first tokens of as many texts as are asked for."""
    long = _begun(held_out, settings.prompt_tokens)
    if len(long) < settings.prompts:
        raise InputError(
            f"prompts must be at most the {len(long)} held-out texts of more than {settings.prompt_tokens} tokens, "
            f"got {settings.prompts}; lower --prompts"
        )
    return tuple(long[: settings.prompts])


def _begun(texts: list[list[int]], width: int) -> list[tuple[int, ...]]:
    """The first tokens of the texts that go on after them."""
    return [tuple(ids[:width]) for ids in texts if len(ids) > width]


def _stopwatch() -> Callable[[], float]:
    """Seconds since the last call."""
    last = perf_counter()

    def lap() -> float:
        nonlocal last
        before, last = last, perf_counter()
        return last - before

    return lap
