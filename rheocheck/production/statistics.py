"""What happened in the cycles of `generate`.

    block      accepted drafts and one more token, before EOS or the maximum cut it
    survival   of the nodes that a walk stood at and that have kept children: how many kept their probe
    acceptance of those: how many walks went on to the probe

Rows of a batch are counted together.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import torch

from rheocheck.production.tree import DraftTree
from rheocheck.production.verify import Emitted

PARTS = ("prompt", "draft", "target", "verify", "cache")


@dataclass
class Statistics:
    """Counts over all requests, and seconds by part (on a GPU: of the host, which waits in `cache`)."""

    blocks: Counter[int] = field(default_factory=Counter)
    expanded: int = 0
    survived: int = 0
    accepted: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    @property
    def mean_block(self) -> float:
        """Tokens a cycle and row."""
        cycles = self.blocks.total()
        return sum(length * times for length, times in self.blocks.items()) / cycles if cycles else 0.0

    @property
    def probe_survival(self) -> float | None:
        """None where no node had a probe."""
        return self.survived / self.expanded if self.expanded else None

    @property
    def probe_acceptance(self) -> float | None:
        """None where no probe was kept."""
        return self.accepted / self.survived if self.survived else None

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Count the time of the block as that of a part."""
        start = perf_counter()
        yield
        self.seconds[part] += perf_counter() - start

    def add(self, tree: DraftTree, out: Emitted, lengths: list[int]) -> None:
        """Count a cycle; reads the device."""
        self.blocks.update(lengths)
        if tree.slot_claim is None or tree.shape.leads >= tree.shape.branching:
            return
        count = out.nodes.shape[1]
        at = out.nodes[..., None].expand(-1, -1, tree.shape.branching)
        child = tree.child.gather(1, at)
        visited = torch.arange(count, device=at.device) < out.length[:, None]
        probe = child[..., tree.shape.leads]
        following = torch.nn.functional.pad(out.nodes[:, 1:], (0, 1))
        kept = visited & (probe > 0)
        found = torch.stack([(visited & (child > 0).any(-1)).sum(), kept.sum(), (kept & (following == probe)).sum()])
        expanded, survived, accepted = found.tolist()
        self.expanded += expanded
        self.survived += survived
        self.accepted += accepted

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "blocks": {str(length): times for length, times in sorted(self.blocks.items())},
            "mean_block": self.mean_block,
            "probe_survival": self.probe_survival,
            "probe_acceptance": self.probe_acceptance,
            "seconds": self.seconds,
        }
