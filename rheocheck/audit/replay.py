"""One path of a subject again, choice by choice, and what the target says of the tokens that it emits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rheocheck.audit.arguments import check_words
from rheocheck.audit.exact_witness import replay_command, shown_path
from rheocheck.audit.stopping import stopped_target
from rheocheck.audit.target import FLOAT_RTOL, as_target
from rheocheck.audit.verdict import ShownPath
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context
from rheocheck.intercept import replay
from rheocheck.intercept.words import is_impossible


@dataclass(frozen=True)
class Replayed:
    """A path that was run again: `target` holds the target's probability of each emitted token, if there is one.

    A token that no law over the vocabulary emits has probability 0.
    """

    context: Context
    path: ShownPath
    target: tuple[float, ...] | None

    def to_json(self) -> str:
        """The replay as JSON text."""
        return json.dumps(asdict(self), indent=1, allow_nan=False)


def replayed(
    subject: Any,
    choices: Sequence[int],
    *,
    target: Any = None,
    context: Context = (),
    tokens: int = 4,
    seed: int = 0,
    question: Mapping[str, Any] | None = None,
    eos: int | None = None,
) -> Replayed:
    """Run `subject` through these choices. Raises InputError where it does not offer them."""
    check_words(context, tokens, seed)
    path = replay(subject, list(choices), context, tokens, seed=seed, eos=eos)
    command = replay_command([choice.index for choice in path.choices], context, tokens, seed, question, eos)
    shown = shown_path(path, command)
    if target is None:
        return Replayed(context, shown, None)
    law, words = stopped_target(as_target(target, context), eos, context), (*context, *shown.word)
    return Replayed(context, shown, tuple(_followed(law, words, len(context))))


def _followed(law: Any, words: Context, start: int) -> list[float]:
    """The target's probability of each token from `start` on; 0 from the first impossible one on."""
    found: list[float] = []
    for i in range(start, len(words)):
        gone = (bool(found) and found[-1] == 0) or is_impossible(words[i : i + 1], law.vocab_size)
        found.append(0.0 if gone else law.possible(words[:i], FLOAT_RTOL).at(words[i]))
    return found


def parse_choices(text: str) -> tuple[int, ...]:
    """The choices that "0,2,1" writes; "" is a path without any."""
    try:
        choices = tuple(int(part) for part in text.split(",")) if text.strip() else ()
    except ValueError:
        choices = (-1,)
    if any(choice < 0 for choice in choices):
        raise InputError(f"--replay must be branches from 0 on, got {text!r}: try --replay 0,2,1")
    return choices
