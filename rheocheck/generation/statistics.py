"""What happened in the cycles of `generate`, request by request.

    block      accepted drafts and one more token, before EOS or the maximum cut it
    level      depth of a node where a walk stood, the root being 0; it counts where the node has kept children
    survival   of the nodes that a walk stood at and that have kept children: how many kept their probe
    acceptance of those: how many walks went on to the probe

Properties count all requests together.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import torch
from torch.nn.functional import pad

from rheocheck.production.tree import DraftTree
from rheocheck.production.verify import Emitted

PARTS = ("prompt", "draft", "target", "verify", "cache")


@dataclass
class DecodingTally:
    """Counts of one request.

    blocks               lengths, in order
    stood, descended     by level: walks that stood at a node with kept children, and those that went on from it
    expanded, survived, accepted    nodes where a walk stood and that have kept children, if trees have probes
    """

    blocks: list[int] = field(default_factory=list)
    stood: Counter[int] = field(default_factory=Counter)
    descended: Counter[int] = field(default_factory=Counter)
    expanded: int = 0
    survived: int = 0
    accepted: int = 0


@dataclass
class Statistics:
    """Tallies by number of the request, and seconds by part (on a GPU: of the host, which waits in `cache`)."""

    requests: dict[int, DecodingTally] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    @property
    def blocks(self) -> Counter[int]:
        """How often each length came."""
        return Counter(length for tally in self.requests.values() for length in tally.blocks)

    @property
    def mean_block(self) -> float:
        """Tokens a cycle and row."""
        blocks = self.blocks
        cycles = blocks.total()
        return sum(length * times for length, times in blocks.items()) / cycles if cycles else 0.0

    @property
    def level_acceptance(self) -> dict[int, float]:
        """By level: the share of walks that went on, of those that stood at a node with kept children."""
        stood, descended = (
            sum((getattr(tally, name) for tally in self.requests.values()), Counter[int]())
            for name in ("stood", "descended")
        )
        return {level: descended[level] / stood[level] for level in sorted(stood)}

    @property
    def probe_survival(self) -> float | None:
        """None where no node had a probe."""
        return self._share("survived", "expanded")

    @property
    def probe_acceptance(self) -> float | None:
        """None where no probe was kept."""
        return self._share("accepted", "survived")

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Count the time of the block as that of a part."""
        start = perf_counter()
        yield
        self.seconds[part] += perf_counter() - start

    def add(self, tree: DraftTree, out: Emitted, lengths: Sequence[int], numbers: Sequence[int]) -> None:
        """Count a cycle of the requests of these numbers; reads the device."""
        at = out.nodes[..., None].expand(-1, -1, tree.shape.branching)
        child = tree.child.gather(1, at)
        visited = torch.arange(out.nodes.shape[1], device=at.device) < out.length[:, None]
        stood = visited & (child > 0).any(-1)
        following = pad(out.nodes[:, 1:], (0, 1))
        counts = [stood, stood & (following > 0)]
        if tree.slot_claim is not None and tree.shape.leads < tree.shape.branching:
            probe = child[..., tree.shape.leads]
            kept = visited & (probe > 0)
            counts += [stood, kept, kept & (following == probe)]
        for number, length, rows in zip(numbers, lengths, torch.stack(counts, 1).tolist(), strict=True):
            tally = self.requests.setdefault(number, DecodingTally())
            tally.blocks.append(length)
            tally.stood.update(level for level, yes in enumerate(rows[0]) if yes)
            tally.descended.update(level for level, yes in enumerate(rows[1]) if yes)
            for name, row in zip(("expanded", "survived", "accepted"), rows[2:], strict=False):
                setattr(tally, name, getattr(tally, name) + sum(row))

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "blocks": {str(length): times for length, times in sorted(self.blocks.items())},
            "mean_block": self.mean_block,
            "probe_survival": self.probe_survival,
            "probe_acceptance": self.probe_acceptance,
            "seconds": self.seconds,
        }

    def _share(self, part: str, whole: str) -> float | None:
        part_count, whole_count = (
            sum(getattr(tally, name) for tally in self.requests.values()) for name in (part, whole)
        )
        return part_count / whole_count if whole_count else None
