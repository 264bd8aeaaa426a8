"""The settings of a support matrix: does each combine with speculation, and is the law still the target's?

    rheocheck matrix rheocheck.adapters.settings_matrix:assisted --tokens 4
    rheocheck matrix rheocheck.adapters.settings_matrix:assisted --set vocab_size=4 --tokens 3
    rheocheck matrix rheocheck.adapters.settings_matrix:prompt_lookup --context "1 2 0" --tokens 3
    rheocheck matrix rheocheck.adapters.settings_matrix:early_exit --tokens 3

Keywords of the factories in `rheocheck.adapters.transformers`. The values are chosen for the tiny models:
with vocabularies of 3 and 4, each filter removes a token after some context within four tokens, and where
two filters meet, each removes a token that the other would keep.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rheocheck.adapters import transformers

Row = tuple[str, Any, Any, str]  # name, subject, target, "lossless" or "lossy"


@dataclass(frozen=True)
class Setting:
    """One row of the matrix: keywords for a factory, and whether the decoder is meant to keep the target's law."""

    name: str
    keywords: dict[str, Any] = field(default_factory=dict)
    lossless: bool = True


def settings_matrix() -> tuple[Setting, ...]:
    """The rows for assisted generation; the last is declared lossy, and only `assisted` takes it."""
    return (
        Setting("temperature 1", {"temperature": 1.0}),
        Setting("temperature 0.5", {"temperature": 0.5}),
        Setting("temperature 2", {"temperature": 2.0}),
        Setting("top_k", {"top_k": 2}),
        Setting("top_p", {"top_p": 0.8}),
        Setting("min_p", {"min_p": 0.2}),
        Setting("top_k and top_p", {"top_k": 2, "top_p": 0.75}),
        Setting("repetition penalty", {"repetition_penalty": 1.5}),
        Setting("banned token", {"bad_token": 1}),
        Setting("ensemble weight 0.9", {"assistant_ensemble_weight": 0.9}, lossless=False),
    )


def assisted(*, vocab_size: int = 3) -> list[Row]:
    """Assisted generation under every setting."""
    return _rows(transformers.assisted, transformers.target, vocab_size, settings_matrix())


def prompt_lookup(*, vocab_size: int = 3) -> list[Row]:
    """Prompt lookup under every setting that keeps the law; after a context in which it finds something."""
    return _rows(transformers.prompt_lookup, transformers.target, vocab_size, settings_matrix()[:-1])


def early_exit(*, vocab_size: int = 3) -> list[Row]:
    """A model that drafts for itself, under every setting that keeps the law."""
    return _rows(transformers.early_exit, transformers.early_exit_target, vocab_size, settings_matrix()[:-1])


def _rows(
    subject: Callable[..., Any], target: Callable[..., Any], vocab_size: int, settings: tuple[Setting, ...]
) -> list[Row]:
    """Subject and target under each setting; the target takes no lossy setting."""
    return [
        (
            setting.name,
            subject(vocab_size=vocab_size, **setting.keywords),
            target(vocab_size=vocab_size, **(setting.keywords if setting.lossless else {})),
            "lossless" if setting.lossless else "lossy",
        )
        for setting in settings
    ]
