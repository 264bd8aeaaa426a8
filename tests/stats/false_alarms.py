"""False alarms of whole audits: `python -m tests.stats.false_alarms [--runs N]` writes FALSE_ALARMS.md next to it.

Null: the subject is a perfect sampler, of the target (by law) or of the baseline's law (by baseline). Whole audits at
alpha 1e-2, every bet of the battery included: looks from 1000 draws on, x1.25, until decided or at SAMPLES. At most 1
in 100 may say "biased". Draws come in batches, and one by one through the subject's other door. Seeded.
"""

import argparse
import platform
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import scipy

from rheocheck.audit import audit
from tests.stats import chain_toy
from tests.stats.calibration import rate, table

PAGE = Path(__file__).with_name("FALSE_ALARMS.md")
ALPHA, V, TOKENS, SAMPLES = 1e-2, 4, 3, 1250
RUNS = 1000  # of each of two laws, by law and by baseline


class Sampler:
    """Draws from the rows of a matrix: row c is the law after token c, row V that of the first token."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]

    def sample(self, context, n_tokens, samples, seed):
        rng, words = np.random.default_rng(seed), np.zeros((samples, n_tokens), dtype=np.int64)
        before = np.full(samples, last(context))
        for t in range(n_tokens):
            words[:, t] = before = chain_toy.draw(self.rows[before], rng.random(samples)) % V
        return words


CHAIN = chain_toy.P[[0, 1, 2, 3, chain_toy.START], :V]
CHAIN = CHAIN / CHAIN.sum(axis=1, keepdims=True)
FLAT = np.tile([0.5, 0.3, 0.15, 0.05], (V + 1, 1))


def last(prefix):
    return prefix[-1] if prefix else V


QUESTIONS = [
    (by, name, rows)
    for by in ("law", "baseline")
    for name, rows in (("order-1 chain", CHAIN), ("independent tokens", FLAT))
]


def accused(by, rows, seeds):
    """How many of these audits of a perfect sampler say "biased"."""
    hits = 0
    for seed in seeds:
        against = {"target": lambda prefix: rows[last(prefix)]} if by == "law" else {"baseline": Sampler(rows)}
        verdict = audit(
            Sampler(rows), **against, tokens=TOKENS, samples=SAMPLES, alpha=ALPHA, seed=seed, confirm=False,
            progress=False,
        )  # fmt: skip
        hits += verdict.verdict == "biased"
    return hits


def measured(runs, processes):
    """[by, law, audits, biased, rate with its interval] of each question, and of both laws together."""
    with Pool(processes) as pool:
        hits = pool.starmap(accused, [(by, rows, range(runs)) for by, _, rows in QUESTIONS], chunksize=1)
    found = [[by, name, runs, hit] for (by, name, _), hit in zip(QUESTIONS, hits, strict=True)]
    for by in ("law", "baseline"):
        mine = [row for row in found if row[0] == by]
        found.append([by, "both", sum(row[2] for row in mine), sum(row[3] for row in mine)])
    return [[by, name, f"{n:,}", hit, rate(hit, n)] for by, name, n, hit in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="audits of each law, by law and by baseline")
    parser.add_argument("--processes", type=int, default=2)
    options, started = parser.parse_args(), time.time()
    PAGE.write_text(page(measured(options.runs, options.processes), options.runs, time.time() - started))


def page(rows, runs, seconds):
    return f"""# False alarms of whole audits

Written by `python -m tests.stats.false_alarms --runs {runs}` on {time.strftime("%Y-%m-%d")}
(seeded; {seconds / 60:.0f} minutes; Python {platform.python_version()}, numpy {np.__version__},
scipy {scipy.__version__}).
Perfect samplers, {TOKENS} tokens of {V}, at most {SAMPLES} draws, alpha = {ALPHA}, every bet of the battery and both
doors of the subject included. Rates with 99 % Clopper-Pearson intervals; allowed: {ALPHA}.

{table(["against", "law", "audits", "biased", "rate"], rows)}
"""


if __name__ == "__main__":
    main()
