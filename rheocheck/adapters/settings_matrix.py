"""The settings of a support matrix: does each combine with speculation, and is the law still the target's?

Keywords of the factories in `rheocheck.adapters.transformers`. The values are chosen for the tiny models:
with vocabularies of 3 and 4, each filter removes a token after some context within four tokens, and where
two filters meet, each removes a token that the other would keep.
"""

from dataclasses import dataclass, field
from typing import Any


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
