"""What a cycle costs beside the models: `python -m tests.benchmarks.tree_overhead [--full]` prints the table.

One thread; contenders called in turn in one process; times are CPU seconds of the thread, which a busy machine disturbs
less than wall time (the share of CPU that the process got stands in the last line). Ratios are ratios of medians. No
model runs: logits are ready, and what is timed is all that is done with them.
"""

import argparse
import itertools
import resource
import statistics
import time

import torch

from rheocheck.production import BUILDERS, CycleNoise, build, draw_noise, verify
from tests.benchmarks import eagle_twin
from tests.benchmarks.counting import Counting
from tests.benchmarks.workload import SHAPE, workload

EXPONENTS = {2048: 1.9, 32000: 1.7, 128256: 1.7}  # of the workload, such that the twin has the profile
DEVICE = [torch.device("cpu")]  # set by main
PROFILE = {"build": (161, 181), "verify": (123, 143), "syncs": (80, 100)}  # of the published EAGLE-2, V = 32000


class Contender:
    """Our cycle on one workload, in parts: noise, build, verification of one kind."""

    def __init__(self, work, builder, *, top=128):
        self.work, self.builder, self.top = work, BUILDERS[builder], top
        self.B, _, self.V = work.layers[0].shape
        self.tree = self.build(self.noise())
        leaf = (self.tree.child > 0).any(-1).logical_not()
        self.target = work.target(self.tree.row, leaf)

    def noise(self) -> CycleNoise:
        return draw_noise(SHAPE, self.B, self.V, device=self.work.layers[0].device)

    def build(self, noise):
        root = self.work.layers[0][:, 0]
        return build(root, lambda f: self.work.layers[f.layer], SHAPE, noise.probe, builder=self.builder, top=self.top)

    def verify(self, noise, **how):
        return verify(self.tree, self.target, noise.coin, **how)


class Twin:
    """The sequential EAGLE-2 cycle on the first sequence of a workload."""

    def __init__(self, work, seed=0):
        self.work, self.rng = work, eagle_twin.fresh(seed)
        self.target = Contender(work, "top_k").target[0]  # the same tree, or close: q is cut to 128 tokens there
        self.paths = self.build()

    def build(self):
        layers = self.work.layers
        return eagle_twin.build(layers[0][0], lambda layer, *_: layers[layer][0], SHAPE.branching, 8, SHAPE.nodes)

    def verify(self):
        return eagle_twin.verify(self.paths, self.target, self.rng)


def profile_of(twin, cycles=60):
    """The twin's ops and host reads a cycle, and its mean block length."""
    with Counting() as made:
        twin.build()
    counts, length = [], 0
    for _ in range(cycles):
        with Counting() as count:
            length += len(twin.verify()[1])
        counts.append((count.ops, count.syncs))
    ops, syncs = (statistics.mean(part) for part in zip(*counts, strict=True))
    return {"build": made.ops, "verify": ops, "syncs": made.syncs + syncs, "length": length / cycles}


def in_profile(profile):
    return all(low <= profile[name] <= high for name, (low, high) in PROFILE.items())


def timed(parts, repetitions):
    """{name: seconds of each call}, the parts called in turn; on a GPU, wall time until it is idle."""
    times = {name: [] for name in parts}
    for call in parts.values():
        call()
    for _ in range(repetitions):
        for name, call in parts.items():
            started = _now()
            call()
            times[name].append(_now() - started)
    return times


def _now():
    if DEVICE[0].type == "cpu":
        return time.thread_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def median(times):
    return statistics.median(times)


def parts_of(name, contender):
    """Each part with other noise every time, so that an early exit stops where cycles do."""
    noises = itertools.cycle([contender.noise() for _ in range(16)])
    return {
        f"{name} noise": contender.noise,
        f"{name} build": lambda: contender.build(next(noises)),
        f"{name} all": lambda: contender.verify(next(noises)),
        f"{name} walk": lambda: contender.verify(next(noises), walk=True),
        f"{name} exit": lambda: contender.verify(next(noises), walk=True, early_exit=True),
    }


def against_the_twin(V, repetitions):
    """The twin over ours by each way to verify, and the twin's profile; the overhead of the probe."""
    work = workload(1, V, exponent=EXPONENTS[V], device=DEVICE[0])
    twin, plain, rheo = Twin(work), Contender(work, "top_k"), Contender(work, "rheo")
    profile = profile_of(twin)
    parts = {"twin build": twin.build, "twin verify": twin.verify, **parts_of("plain", plain), **parts_of("rheo", rheo)}
    times = {name: median(values) for name, values in timed(parts, repetitions).items()}
    total = times["twin build"] + times["twin verify"]

    def ours(name, kind):
        return times[f"{name} noise"] * (name == "rheo") + times[f"{name} build"] + times[f"{name} {kind}"]

    spent = f"{1e3 * total:.2f} ms = {1e3 * times['twin build']:.2f} + {1e3 * times['twin verify']:.2f}"
    seen = f"{profile['build']:.0f} + {profile['verify']:.0f} ops, {profile['syncs']:.0f} host reads"
    print(f"V={V:6d} B=1  twin {spent}; {seen}; {profile['length']:.1f} tokens a cycle")
    for name in ("plain", "rheo"):
        detail = "  ".join(f"{kind} {1e3 * times[f'{name} {kind}']:.2f}" for kind in ("build", "all", "walk", "exit"))
        ratios = "  ".join(f"{kind} {total / ours(name, kind):.2f}" for kind in ("all", "walk", "exit"))
        if not in_profile(profile):
            ratios = "no ratio: the twin is outside its profile"
        print(f"    twin / {name:5s}  {ratios}   (ms: {detail})")
    overhead = ours("rheo", "walk") / ours("plain", "walk") - 1
    print(f"    the probe costs {overhead:+.0%} of a cycle, against truncated plain top-K by the same walk")
    return times


def batches(V, sizes, repetitions):
    """Cost a sequence, all at once against the walk, and the distance to reading the logits once."""
    first = None
    for B in sizes:
        rheo = Contender(workload(B, V, device=DEVICE[0]), "rheo")
        target = rheo.target
        steps = rheo.target[:, : SHAPE.depth + 1]
        parts = parts_of("rheo", rheo) | {
            "draft read": lambda rheo=rheo: [layer.sum() for layer in rheo.work.layers],
            "target read": lambda target=target: target.sum(),
            "walk read": lambda steps=steps: steps.sum(),
        }
        times = {name: median(values) for name, values in timed(parts, repetitions).items()}
        cycle = times["rheo noise"] + times["rheo build"] + times["rheo walk"]
        whole = cycle - times["rheo walk"] + times["rheo all"]
        first = first or cycle
        milliseconds = "  ".join(f"{kind} {1e3 * times[f'rheo {kind}']:.1f}" for kind in ("build", "all", "walk"))
        floors = times["draft read"] + times["walk read"], times["draft read"] + times["target read"]
        print(
            f"V={V:6d} B={B:3d}  rheo ms: {milliseconds}; {B / cycle:.0f} sequences/s, a sequence costs "
            f"{cycle / B / first:.2f} of B={sizes[0]}; all / walk {times['rheo all'] / times['rheo walk']:.1f}; "
            f"over the floor: walk {cycle / floors[0]:.1f}, all {whole / floors[1]:.1f}; peak "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB so far, of which logits "
            f"{sum(x.numel() for x in (*rheo.work.layers, target)) * 4 // 2**20} MiB"
        )


def toy(repetitions=5, B=8192):
    """Complete cycles a second of the production code on a toy pair: noise, build, models, verification."""
    from rheocheck.core import Shape
    from rheocheck.production import VERIFIERS
    from rheocheck.production.subject import PairTensors, toy_cycle
    from toy_models.random_family import random_pair

    shape = Shape(leads=1, branching=3, depth=2, nodes=5)
    pair = random_pair(1, vocab_size=8, order=1, zeros=False, ties=False)
    tables = PairTensors.of(pair, torch.float32).to(DEVICE[0])
    start = torch.zeros(B, dtype=torch.long, device=DEVICE[0])
    for walk in (False, True):

        def cycle(walk=walk):
            noise = draw_noise(shape, B, 8, device=DEVICE[0])
            return toy_cycle(tables, start, shape, noise, BUILDERS["rheo"], VERIFIERS["rheo"], walk=walk)

        seconds = timed({"cycle": cycle}, repetitions)["cycle"]
        print(
            f"toy V=8 K=3 D=2 N=5 B={B} {'walk' if walk else 'all '}: {B / median(seconds) / 1e3:.0f}k cycles/s, "
            f"best {B / min(seconds) / 1e3:.0f}k"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="V = 128256 and batches of 64: minutes, 12 GiB")
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--device", default="cpu", help="cuda: not tried yet")
    args = parser.parse_args()
    torch.set_num_threads(1)
    DEVICE[0] = torch.device(args.device)
    wall, cpu = time.perf_counter(), time.process_time()
    for V in (2048, 32000, 128256) if args.full else (2048, 32000):
        against_the_twin(V, args.repetitions)
    batches(32000, (1, 8, 32, 64) if args.full else (1, 8), max(3, args.repetitions // 6))
    toy()
    share = (time.process_time() - cpu) / (time.perf_counter() - wall)
    print(f"torch {torch.__version__}, 1 thread; the process got {share:.0%} of a CPU while it ran")


if __name__ == "__main__":
    main()
