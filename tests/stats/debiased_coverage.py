"""Wrong passes of the planned looks: `python -m tests.stats.debiased_coverage [--quick]` writes DEBIASED.md next to it.

Null of a pass: TV(P, p) <= tv is false. Laws of four tokens at V = 8, 4,096 words. A run of the truth P looks at the
planned sizes and may pass at any of them; with the true TV just above tv at most delta of the runs may. Just below, a
pass is right, and rare, and a correct sampler must pass: in 95 % of runs by 100,000 draws at tv 0.05 and by 550,000 at
0.02. The biases are chosen to be quiet: the bound is about the noise that P adds, so the less P has of it, the nearer
the bound comes to the truth.

At a fixed size the debiased bound is an increasing function of TV(Phat, p) alone, so a run passes where that is below a
limit found once by bisection: thousands of runs cost a multinomial draw each. Everything is seeded.
"""

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import beta
from tqdm import tqdm

from rheocheck.stats.bounds import anytime_width
from rheocheck.stats.debiased import _upper, mean_radius
from rheocheck.stats.plan import hardest_bias, pass_samples, plan
from rheocheck.stats.planned_looks import planned_looks

TABLE = Path(__file__).with_name("DEBIASED.md")
SKEWED = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.08, 0.05, 0.02])
RUNS = 5000
DELTA = 1e-3
LOOSE = 0.1  # at which a bound that is wrong would show in so many runs


def four_tokens(law):
    """The joint law [4096] of four independent tokens."""
    pairs = np.outer(law, law).ravel()
    joint = np.outer(pairs, pairs).ravel()
    return joint / joint.sum()


LAWS = {"uniform": four_tokens(np.full(8, 1 / 8)), "skewed": four_tokens(SKEWED)}
TASKS = ((0.05, 100_000), (0.02, 550_000))


def biases(p, tv):
    """Laws at this total variation from p: relative shifts of all cells, of one large cell, onto the rare cells only,
    and with the rare cells emptied."""
    order = np.argsort(-p, kind="stable")
    one = p.copy()
    one[order[0]] += tv
    one[order[1:]] *= 1 - tv / p[order[1:]].sum()
    rare = order[len(p) // 2 :]
    fuller = p * (1 - tv / (1 - p[rare].sum()))
    fuller[rare] = p[rare] * (1 + tv / p[rare].sum())
    found = {"all cells": hardest_bias(p, tv), "one cell": one, "rare cells fuller": fuller}
    gone = np.cumsum(p[order[::-1]]) <= tv
    emptied = p.copy()
    emptied[order[::-1][gone]] = 0
    found["rare cells emptied"] = emptied / emptied.sum()  # of a TV close to tv: by whole cells
    return found


def limit(p, n, tv, delta):
    """The largest TV(Phat, p) at which the debiased bound is at most tv."""

    def passes(empirical):
        return _upper(n, p, empirical + mean_radius(n, delta)) <= tv

    low, high = 0.0, 0.5
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return high


def passes(p, truth, looks, limits, tv, n_opt, anytime, runs, seed):
    """Runs that pass at one of the looks, and how many draws they took (inf: none of them)."""
    rng = np.random.default_rng(seed)
    stops = np.full(runs, np.inf)
    for start in tqdm(range(0, runs, 500), desc="runs", leave=False):
        block = slice(start, min(start + 500, runs))
        counts, before = np.zeros((block.stop - start, len(p))), 0
        for n, most in zip(looks, limits, strict=True):
            counts += rng.multinomial(n - before, truth, size=len(counts))
            before = n
            empirical = np.abs(counts / n - p).sum(axis=1) / 2
            passed = (empirical <= most) | (empirical + anytime_width(n, anytime, n_opt) <= tv)
            stops[block] = np.where(passed & np.isinf(stops[block]), n, stops[block])
    return stops


def interval(hits, runs, confidence=0.99):
    """Clopper-Pearson."""
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, runs - hits + 1))
    high = 1.0 if hits == runs else float(beta.ppf(1 - tail, hits + 1, runs - hits))
    return low, high


def measured(name, tv, allowed, delta, runs, looks_taken=2):
    """One row per truth: (law, tv, delta, truth, true TV, looks, runs that passed, by `allowed` draws)."""
    p = LAWS[name]
    looks = planned_looks(p, tv, delta, simple=pass_samples(p, tv, delta))
    sizes, deltas = looks.sizes[:looks_taken], looks.deltas[:looks_taken]
    limits = [limit(p, n, tv, share) for n, share in zip(sizes, deltas, strict=True)]
    n_opt = plan(p, tv=tv, delta=delta, simulate=0).budget
    truths = {"correct": p}
    truths |= {f"{bias}, just above": truth for bias, truth in biases(p, 1.02 * tv).items()}
    truths |= {"all cells, just below": hardest_bias(p, 0.98 * tv)}
    for seed, (truth_name, truth) in enumerate(truths.items()):
        stops = passes(p, truth, sizes, limits, tv, n_opt, looks.anytime, runs, seed)
        true_tv = float(np.abs(truth - p).sum() / 2)
        yield name, tv, delta, truth_name, true_tv, sizes, int(np.isfinite(stops).sum()), int((stops <= allowed).sum())


def main():
    """Measure, and write the table unless --quick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs, printed only")
    quick = parser.parse_args().quick
    runs, start = RUNS // 10 if quick else RUNS, time.monotonic()
    lines = []
    for delta, tasks in ((DELTA, TASKS), (LOOSE, TASKS[:1])):
        for name, (tv, allowed) in product(LAWS, tasks):
            for row in measured(name, tv, allowed, delta, runs):
                lines.append(_line(*row, allowed, runs))
                print(lines[-1], flush=True)
    if not quick:
        TABLE.write_text(_table(lines, runs, time.monotonic() - start), encoding="utf-8")


def _line(name, tv, delta, truth, true_tv, sizes, passed, in_time, allowed, runs):
    low, high = interval(passed, runs)
    word = "wrong passes" if true_tv > tv else "right passes"
    looks = ", ".join(f"{n:,}" for n in sizes)
    return (
        f"| {name} | {tv:g} | {delta:g} | {truth} | {true_tv:.4f} | {looks} | {word} {passed} of {runs:,} "
        f"[{low:.2g}, {high:.2g}] | {in_time / runs:.1%} by {allowed:,} |"
    )


def _table(lines, runs, seconds):
    head = (
        "# Passes of the debiased bound at planned looks\n\n"
        f"Written by `python -m tests.stats.debiased_coverage` (seeded; {seconds / 60:.0f} minutes on one core). "
        f"{runs:,} runs a row,\n99 % Clopper-Pearson intervals. Four tokens at V = 8: 4,096 words. A wrong pass may "
        "come in at most delta of the runs.\n\n"
        "| law | tv | delta | truth | true TV | looks | passes | in time |\n| --- | --- | --- | --- | --- | --- | --- "
        "| --- |\n"
    )
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
