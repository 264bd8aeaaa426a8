"""Words of independent tokens in which token j repeats token i: a subject, its target, and the table of what is found.

`python -m tests.audit.copying` writes COPYING.md next to it: for all i < j in words of 2 to 8 tokens, how many of RUNS
audits said "biased", and after how many draws. Alternative: token j copies token i with probability 0.3; V = 8. alpha
1e-6, tv 0.05.
"""

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from rheocheck.audit import audit
from rheocheck.core.pair import Pair
from tests.stats.calibration import rate, table

PAGE = Path(__file__).with_name("COPYING.md")
SHARES = ["0.3", "0.2", "0.15", "0.1", "0.1", "0.08", "0.05", "0.02"]
P = np.array([float(share) for share in SHARES])
TARGET = Pair(len(P), draft={(): SHARES}, target={(): SHARES})  # without a memory: its laws are asked for once
LENGTHS = range(2, 9)
MOST = 50_000
RUNS = 2


def independent(shape, seed):
    return np.random.default_rng(seed).choice(len(P), shape, p=P)


class Copying:
    """Token j (from 0) repeats token i with probability `share`; every single token has the right law."""

    def __init__(self, i, j, share=0.3):
        self.i, self.j, self.share = i, j, share

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        words = independent((samples, n_tokens), seed)
        copied = np.random.default_rng([seed, 1]).random(samples) < self.share
        words[copied, self.j] = words[copied, self.i]
        return words


class Honest:
    """Independent tokens."""

    def __call__(self, context, n_tokens, seed):
        return independent(n_tokens, seed)

    def sample(self, context, n_tokens, samples, seed):
        return independent((samples, n_tokens), seed)


def audited(tokens, i, j, seed, share=0.3, **against):
    """The verdict on a copying subject; against the law unless a baseline is given."""
    return audit(
        Copying(i, j, share), **(against or {"target": TARGET}), tokens=tokens, tv=0.05, samples=MOST, seed=seed,
        confirm=False, progress=False,
    )  # fmt: skip


def rows(runs):
    """[tokens, copy, biased, passed, most draws] of every pair of positions."""
    found = []
    for tokens in LENGTHS:
        for i, j in combinations(range(tokens), 2):
            verdicts = [audited(tokens, i, j, seed) for seed in range(runs)]
            words = [verdict.verdict for verdict in verdicts]
            most = max(verdict.samples for verdict in verdicts)
            found.append([tokens, f"{j + 1} copies {i + 1}", words.count("biased"), words.count("no_bias_found"), most])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="audits of every pair")
    runs, started = parser.parse_args().runs, time.time()
    PAGE.write_text(page(rows(runs), runs, time.time() - started))


def page(found, runs, seconds):
    audits, biased = runs * len(found), sum(row[2] for row in found)
    return f"""# Token j copies token i

Written by `python -m tests.audit.copying --runs {runs}` on {time.strftime("%Y-%m-%d")} (seeded;
{seconds / 60:.0f} minutes). Words of independent tokens, V = {len(P)}, in which a later token copies an earlier one
with probability 0.3, so that every token has the right law. Whole audits against the target: alpha 1e-6, tv 0.05, at
most {MOST:,} draws; {runs} of each of the {len(found)} pairs of positions. "passed" counts the false passes.

Of all {audits} audits, the share that said "biased", with its 99 % Clopper-Pearson interval: {rate(biased, audits)}.

{table(["tokens", "copy", "biased", "passed", "most draws"], found)}
"""


if __name__ == "__main__":
    main()
