"""Operations and host reads of a cycle: exact, so a change that adds one says so here."""

import pytest
import torch

from rheocheck.production import build, verify
from rheocheck.production.target import PART
from tests.benchmarks.counting import Counting
from tests.benchmarks.tree_overhead import Contender, Twin, in_profile, profile_of
from tests.benchmarks.workload import workload

# (builder, by blocks and in parts as on a CPU): ops of build, of verification at once, of the walk; V = 32000, B = 1.
OPS = {
    ("top_k", True): (235, 79, 245),
    ("rheo", True): (281, 104, 398),
    ("top_k", False): (139, 60, 245),
    ("rheo", False): (185, 85, 398),
}
BAR = {"top_k": 260, "rheo": 330}  # build + verification at once


@pytest.fixture(scope="module")
def work():
    return workload(1, 32000)


@pytest.mark.parametrize(("builder", "blocks"), OPS)
def test_ops_and_host_reads(work, builder, blocks, monkeypatch):
    if not blocks:  # one topk a layer and all nodes in one part, as on a GPU: the fewest launches
        monkeypatch.setitem(PART, "cpu", PART["cuda"])
        monkeypatch.setattr("rheocheck.production.tops.block_width", lambda n, top: 1)
    monkeypatch.setattr("tests.benchmarks.tree_overhead.build", build.__wrapped__)
    monkeypatch.setattr("tests.benchmarks.tree_overhead.verify", verify.__wrapped__)
    ours = Contender(work, builder)
    noise, counts = ours.noise(), []
    for call in (lambda: ours.build(noise), lambda: ours.verify(noise), lambda: ours.verify(noise, walk=True)):
        call()  # constants that are kept for good are made by the first call of a process
        with Counting() as count:
            call()
        assert count.syncs == 0
        counts.append(count.ops)
    assert tuple(counts) == OPS[builder, blocks]
    if not blocks:
        assert counts[0] + counts[1] <= BAR[builder]


def test_the_twin_has_eagles_profile(work):
    """171 +- 10 and 133 +- 10 ops, 90 +- 10 host reads; outside, no ratio against it means anything."""
    profile = profile_of(Twin(work))
    assert in_profile(profile), profile


def test_the_twin_accepts_what_we_accept(work):
    """The same tree and target: mean block lengths within 4 standard errors."""
    twin, plain = Twin(work), Contender(work, "top_k")
    ours = torch.cat([verify(plain.tree, plain.target, plain.noise().coin, walk=True).length for _ in range(120)])
    theirs = torch.tensor([float(len(twin.verify()[1])) for _ in range(120)])
    error = (ours.double().var() / 120 + theirs.double().var() / 120).sqrt()
    assert abs(ours.double().mean() - theirs.double().mean()) < 4 * error
