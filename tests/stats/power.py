"""Power: `python -m tests.stats.power [--quick]` writes POWER.md beside this file.

Alternative: five seeded soft3 targets, four biases of exactly known total variation. EMix stops at E >= 1e6 with looks
x1.05 from 100 on, without knowing the bias; the chi-square test is told the bias beforehand and gets the fixed n at
which its power is 99.9 % at alpha = 1e-6. PASS: correct samplers, against n = (s + w sqrt(n) + 0.96)^2 / eps^2.
--quick (a tenth of the runs) prints and writes nothing.
"""

import argparse
import itertools
import platform
import time
from pathlib import Path

import numpy as np
import scipy
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2
from tqdm import tqdm

from rheocheck.stats import anytime_width, pass_samples
from rheocheck.stats.chi_square import pool
from rheocheck.stats.plan import stopping_times
from tests.stats.calibration import table
from tests.stats.laws import BIASES, soft3

PAGE = Path(__file__).with_name("POWER.md")
ALPHA, POWER = 1e-6, 0.999
TVS = (0.05, 0.01)
RUNS = {8: 500, 64: 200}
ALLOWED = {8: 0.65, 64: 0.40}


def noncentrality(df):
    cut = chi2.isf(ALPHA, df)
    return brentq(lambda ncp: ncx2.sf(cut, df, ncp) - POWER, 1e-6, 1e6)


def fixed_n(p, biased):
    """The sample of Pearson's chi-square, all k cells apart: noncentrality / chi2(P, p)."""
    return noncentrality(len(p) - 1) / ((biased - p) ** 2 / p).sum()


def fixed_n_pooled(p, biased):
    """The same for cells pooled to 20 expected hits, as the shipped test pools them: on a grid of x1.02."""
    n = 100.0
    while True:
        cells = pool(n * p)
        expected, shift = np.bincount(cells, weights=p), np.bincount(cells, weights=biased - p)
        df = len(expected) - 1
        if df and ncx2.sf(chi2.isf(ALPHA, df), df, n * (shift**2 / expected).sum() + 1e-12) >= POWER:
            return n
        n *= 1.02


def detection(k, quick):
    """Rows: one per TV and bias, over the five targets."""
    rows, ratios = [], []
    for tv in TVS:
        for name, bias in BIASES.items():
            each = []
            for seed in tqdm(targets(k), desc=f"k={k} TV={tv} {name}", leave=False):
                p = soft3(k, seed)
                biased = bias(p, tv, np.random.default_rng(seed))
                runs = RUNS[k] // (10 if quick else 1)
                stops = stopping_times(p, biased, runs=runs, alpha=ALPHA, seed=seed, first=100, grow=1.05)
                each.append((stops.mean(), np.quantile(stops, 0.99), fixed_n(p, biased), fixed_n_pooled(p, biased)))
            mean, q99, fixed, pooled = np.array(each).T
            ratios += list(mean / fixed)
            per_target = " ".join(f"{x:.2f}" for x in mean / fixed)
            rows.append(
                [k, tv, name, *(f"{np.mean(x):.2g}" for x in (fixed, pooled, mean, q99))]
                + [per_target, f"{np.max(mean / fixed):.2f}", f"{np.mean(mean / pooled):.2f}"]
            )
    return rows, ratios


def targets(k):
    """The first five seeds whose soft3 law has room for every bias at the largest TV (no cell holds nearly all)."""
    found = []
    for seed in itertools.count():
        p = soft3(k, seed)
        if len(found) == 5:
            return found
        if np.sort(p)[:-1].sum() >= 2 * max(TVS):
            found.append(seed)


def pass_size(p, eps, runs, seed):
    """The smallest n, in steps of 1 %, at which 99.9 % of correct samplers have TV <= eps; n_opt = n."""
    rng, formula = np.random.default_rng(seed), formula_n(p, eps)
    for percent in range(70, 131):
        n = int(np.ceil(formula * percent / 100))
        tv = np.abs(rng.multinomial(n, p, size=runs) / n - p).sum(axis=1) / 2
        if np.mean(tv + anytime_width(n, 1e-3, n) <= eps) >= 0.999:
            return n
    raise AssertionError("no size within 1.3 of the formula passes")


def formula_n(p, eps):
    s = np.sqrt(p * (1 - p) / (2 * np.pi)).sum()
    return (s + anytime_width(1, 1e-3, 1) + 0.96) ** 2 / eps**2


def passing(quick):
    rows, all_ratios = [], []
    for k in (8, 64):
        for eps in (0.05, 0.02):
            sizes = []
            for seed in tqdm(targets(k), desc=f"PASS k={k} eps={eps}", leave=False):
                p = soft3(k, seed)
                measured = pass_size(p, eps, 2000 if quick else 20_000, seed)
                sizes.append((formula_n(p, eps), pass_samples(p, eps), measured))
            formula, planned, measured = np.array(sizes).T
            all_ratios += list(measured / formula)
            ratios = (" ".join(f"{x:.2f}" for x in r) for r in (planned / formula, measured / formula))
            rows.append([k, eps, *(f"{np.mean(x):.3g}" for x in (formula, planned, measured)), *ratios])
    return rows, all_ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs; prints, writes nothing")
    quick, started = parser.parse_args().quick, time.time()
    rows, sentences = [], []
    for k, allowed in ALLOWED.items():
        more, ratios = detection(k, quick)
        rows += more
        sentences.append(
            f"k = {k}: mean stop / fixed n is {np.mean(ratios):.2f} on average and {max(ratios):.2f} in the worst of "
            f"{len(ratios)} cases (wanted: at most {allowed:.2f}; {sum(r > allowed for r in ratios)} above)."
        )
    pass_rows, ratios = passing(quick)
    text = page(rows, sentences, pass_rows, ratios, time.time() - started)
    print(text) if quick else PAGE.write_text(text)


def page(rows, sentences, pass_rows, ratios, seconds):
    head = [
        "k",
        "TV",
        "bias",
        "fixed n",
        "pooled",
        "mean stop",
        "q99 stop",
        "stop / fixed n, per target",
        "worst",
        "stop / pooled",
    ]
    pass_head = ["k", "eps", "formula", "pass_samples", "measured", "pass_samples / formula", "measured / formula"]
    return f"""# Power

Written by `python -m tests.stats.power` (seeded; {seconds / 60:.0f} minutes on one core; Python
{platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}).

## Detection: EMix at E >= 1e6, looks x1.05, against a chi-square test that knows the bias

Targets: soft3 (softmax of N(0, 3^2) logits), the first five seeds that leave 0.1 or more outside the largest
cell, so that every bias fits: {targets(8)} at k = 8, {targets(64)} at k = 64.
`fixed n`: the sample at which Pearson's chi-square on k cells has power 99.9 % at alpha 1e-6 (noncentral chi-square,
n = ncp / chi2(P, p)); `pooled`: the same with cells pooled to 20 expected hits. Sizes are means over the targets;
{RUNS[8]} runs per target at k = 8, {RUNS[64]} at k = 64.

{chr(10).join(f"- {sentence}" for sentence in sentences)}

{table(head, rows)}

## PASS: correct samplers, delta = 1e-3

`formula`: n = (s + w sqrt(n) + 0.96)^2 / eps^2 with s = sum sqrt(p_i (1-p_i) / 2 pi); `pass_samples`: the same with the
exact mean; `measured`: the smallest n, in steps of 1 % of the formula, at which 99.9 % of 20,000 runs have earned
TV <= eps. Measured / formula is {np.mean(ratios):.2f} on average and {max(ratios):.2f} in the worst case (wanted: at
most 1.10): 0.96 is the fluctuation of laws of many cells; where one event holds half of the mass it is up to 1.25.

{table(pass_head, pass_rows)}
"""


if __name__ == "__main__":
    main()
