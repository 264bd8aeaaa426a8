"""The sizes of a run: everything that its answers depend on, the machine aside.

`FULL` takes under 30 minutes on 2 cores; `QUICK` takes seconds, shows that all parts work, and concludes nothing.
"""

from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from rheocheck.core.errors import InputError
from rheocheck.core.shape import Shape

TOP = 128  # drafter tokens that a node may propose
VOCABULARIES = (385, 8192)  # all bytes, the end and 128 merges; what the text supports


@dataclass(frozen=True, kw_only=True)
class Size:
    """A Llama, and how long it learns: `steps` of `batch` windows of `window` tokens."""

    layers: int
    hidden: int
    heads: int
    steps: int
    batch: int = 16
    window: int = 128
    rate: float = 2e-3


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A run.

    files         source files read; None: all
    texts         training texts learned, the first by their hashes; few, and learned long, so that the target is sure
                  of much that it says, as large models are; held-out texts are as many either way
    written       texts that the target writes, begun by texts that it did not learn, for the drafter to learn
    prompts       held-out texts, each begun by its first `prompt_tokens` tokens and continued by `new_tokens`
    rows          prompts decoded together
    threads       of torch; more than one wait for each other in a spin, and lose on a machine that is not idle
    """

    vocab_size: int = 1024
    target: Size = Size(layers=4, hidden=192, heads=6, steps=2600, batch=4)
    drafter: Size = Size(layers=1, hidden=192, heads=6, steps=2600, batch=4, rate=3e-3)
    files: int | None = None
    texts: int = 500
    written: int = 1536
    prompts: int = 192
    prompt_tokens: int = 24
    new_tokens: int = 96
    rows: int = 32
    branching: int = 10
    depth: int = 8
    nodes: int = 60
    seed: int = 0
    threads: int = 1
    quick: bool = False

    def __post_init__(self) -> None:
        low, high = VOCABULARIES
        for name, least, most, instead in (
            ("vocab_size", low, high, 1024),
            ("prompts", 2, 2**20, 192),
            ("new_tokens", 1, 1024, 96),
            ("threads", 1, 1024, 1),
            ("seed", 0, 2**31, 0),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise InputError(f"{name} must be an integer in {least}..{most}, got {value!r}; try {instead}")
        if self.drafter.hidden != self.target.hidden or self.drafter.layers > self.target.layers:
            raise InputError(
                f"drafter must be as wide as the target and no deeper, it begins as its first layers; got "
                f"{self.drafter} for {self.target}; change its size"
            )
        farthest = min(self.target.window, self.drafter.window) - self.prompt_tokens - self.depth
        if self.new_tokens > farthest:  # beyond its windows a model was never trained
            raise InputError(
                f"new_tokens must be at most {farthest}, which with prompt and tree fill the windows that the models "
                f"learn, got {self.new_tokens}; lower it"
            )

    def shape(self, leads: int) -> Shape:
        """The tree's shape with this many leads."""
        return Shape(leads=leads, branching=self.branching, depth=self.depth, nodes=self.nodes)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def fingerprint(*parts: object) -> str:
    """Twelve hex digits that change when any of the parts does."""
    return sha256(repr(parts).encode()).hexdigest()[:12]


FULL = Settings()
QUICK = replace(
    FULL, vocab_size=450, files=20, written=64, prompts=4, prompt_tokens=8, new_tokens=8, rows=2,
    branching=6, depth=2, nodes=8, threads=1, quick=True,
    target=Size(layers=1, hidden=32, heads=2, steps=20, batch=4, window=32),
    drafter=Size(layers=1, hidden=32, heads=2, steps=20, batch=4, window=32),
)  # fmt: skip
