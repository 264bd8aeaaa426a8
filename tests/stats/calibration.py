"""False alarms on perfect samplers: `python -m tests.stats.calibration [--quick]` writes CALIBRATION.md next to it.

Null: the sampler is exact. EMix is looked at every x1.25 draws and its running maximum compared with 10, 100 and 1000:
by Ville's inequality at most 1 run in 10, 100, 1000 may get there. The classical tests are used once, at a fixed n,
at alpha 1e-3. Everything is seeded; --quick (a twentieth of the runs) prints and writes nothing.
"""

import argparse
import platform
import sys
import time
from itertools import takewhile
from pathlib import Path

import numpy as np
import scipy
from scipy.stats import beta
from tqdm import tqdm

from rheocheck.stats import EMix, chi_square, g_test, looks, max_cell, octave_chi_square
from tests.stats.laws import LAWS

TABLE = Path(__file__).with_name("CALIBRATION.md")
LEVELS = (10, 100, 1000)
ALPHA = 1e-3
# k: (runs of EMix, its last look, runs of the classical tests, their n)
SIZES = {
    8: (20_000, 200_000, 100_000, 10_000),
    64: (20_000, 200_000, 100_000, 10_000),
    1024: (1000, 200_000, 5000, 100_000),
    32768: (100, 100_000, 500, 100_000),
}
CLASSICAL = {"chi-square": chi_square, "G": g_test, "octaves": octave_chi_square, "max cell": max_cell}


def peaks(law, runs, last, seed):
    """The running maximum of ln E of each run."""
    rng, mix = np.random.default_rng(seed), EMix(law)
    counts, peak, before = np.zeros((runs, len(law))), np.full(runs, -np.inf), 0
    for n in tqdm(list(takewhile(lambda n: n <= last, looks())), desc="EMix", leave=False):
        counts += rng.multinomial(n - before, law, size=runs)
        peak, before = np.maximum(peak, mix.log_e_many(counts)), n
    return peak


def alarms(law, runs, n, seed):
    """How many runs each classical test calls biased at ALPHA; min-p is three times the smallest of its three."""
    rng, found = np.random.default_rng(seed), dict.fromkeys([*CLASSICAL, "min-p of 3"], 0)
    for _ in tqdm(range(runs), desc="classical", leave=False):
        counts = rng.multinomial(n, law)
        p_values = {name: test(counts, law).p_value for name, test in CLASSICAL.items()}
        p_values["min-p of 3"] = 3 * min(p_values[name] for name in ("chi-square", "octaves", "max cell"))
        for name, p_value in p_values.items():
            found[name] += p_value < ALPHA
    return found


def interval(hits, runs, confidence=0.99):
    """Clopper-Pearson."""
    tail = (1 - confidence) / 2
    low = beta.ppf(tail, hits, runs - hits + 1) if hits else 0.0
    return low, beta.ppf(1 - tail, hits + 1, runs - hits) if hits < runs else 1.0


def rate(hits, runs):
    low, high = interval(hits, runs)
    return f"{hits / runs:.2g} [{low:.2g}, {high:.2g}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the runs; prints, writes nothing")
    quick = parser.parse_args().quick
    share = 20 if quick else 1
    started = time.time()
    emix_rows, classical_rows, worst = [], [], 0.0
    for k, (runs, last, classical_runs, n) in SIZES.items():
        runs, classical_runs = max(5, runs // share), max(20, classical_runs // share)
        for number, (name, law) in enumerate(LAWS.items()):
            print(f"{name} {k}", file=sys.stderr)
            peak = peaks(law(k), runs, last, [1, k, number])
            hits = [int((peak >= np.log(level)).sum()) for level in LEVELS]
            worst = max(worst, *(h / runs * level for h, level in zip(hits, LEVELS, strict=True)))
            emix_rows.append([name, k, f"{runs:,}", f"{last:,}", *(rate(h, runs) for h in hits)])
            found = alarms(law(k), classical_runs, n, [2, k, number])
            classical_rows.append(
                [name, k, f"{classical_runs:,}", f"{n:,}", *(rate(f, classical_runs) for f in found.values())]
            )
    text = page(emix_rows, classical_rows, list(found), worst, time.time() - started)
    print(text) if quick else TABLE.write_text(text)


def page(emix_rows, classical_rows, names, worst, seconds):
    return f"""# False alarms on perfect samplers

Written by `python -m tests.stats.calibration` (seeded; {seconds / 60:.0f} minutes on one core; Python
{platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}).
Rates with 99 % Clopper-Pearson intervals. Laws: uniform, Zipf, and soft3 = softmax of N(0, 3^2) logits.

## EMix, looked at every x1.25 draws from 1000 on

How many runs *ever* reach E = 10, 100, 1000. Allowed by Ville's inequality: 0.1, 0.01, 0.001. The largest ratio of a
measured rate to the allowed one is {worst:.2f}.

{table(["law", "k", "runs", "last look", *(f"sup E >= {level}" for level in LEVELS)], emix_rows)}

## Classical tests, once, at alpha = {ALPHA}

All pooled to 20 expected hits; min-p is chi-square, octaves and max cell, each at alpha / 3.

{table(["law", "k", "runs", "n", *names], classical_rows)}

The max cell test is exact and conservative; the others are asymptotic.
"""


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(x) for x in line) + " |" for line in lines)


if __name__ == "__main__":
    main()
