"""How often the plugin cries wolf: many runs of the null suite with fresh seeds, and E against Ville's bound.

    python -m tests.pytest_plugin.calibrate --runs 300 --samples 4000

For a perfect decoder P(E ever reaches x) <= 1/x. Pooled over all assertions of all runs, the share with a largest E of
at least 10, 100, 1000 is printed beside that bound, with a 99 % Clopper-Pearson interval. Any failed run is an alarm.
"""

import argparse
import contextlib
import io
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta
from tqdm import tqdm

from rheocheck.pytest_plugin.settings import PROPERTY

SUITE = Path(__file__).with_name("null_suite.py")


class Collected:
    """Keeps the records of one run."""

    def __init__(self):
        self.records = []

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            self.records += [record for name, record in report.user_properties if name == PROPERTY]


def one_run(arguments):
    """(exit code, seconds, [largest E of every assertion]) of the suite under one root seed."""
    seed, samples = arguments
    collected, started = Collected(), time.perf_counter()
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rheo-seed={seed}", f"--rheo-samples={samples}"]
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main([str(SUITE), *options], plugins=[collected])
    return int(code), time.perf_counter() - started, [1 / record["p_value"] for record in collected.records]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--samples", type=int, default=4000, help="--rheo-samples of every run")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    jobs = [(options.first_seed + i, options.samples) for i in range(options.runs)]
    with Pool(options.processes) as pool:
        results = list(tqdm(pool.imap_unordered(one_run, jobs), total=len(jobs)))
    largest = np.array([e for *_, run in results for e in run])
    alarms = sum(code != 0 for code, *_ in results)
    print(f"{options.runs} runs, {len(largest)} assertions, {options.samples} draws at most: {alarms} alarms")
    print(f"one run takes {np.mean([seconds for _, seconds, _ in results]):.1f} s on average")
    print("| E reaches | share of assertions | 99 % interval | allowed |\n| --- | --- | --- | --- |")
    for level in (10, 100, 1000):
        hits = int((largest >= level).sum())
        low = beta.ppf(0.005, hits, len(largest) - hits + 1) if hits else 0.0
        high = beta.ppf(0.995, hits + 1, len(largest) - hits)
        print(f"| {level} | {hits / len(largest):.5f} ({hits}) | {low:.5f} .. {high:.5f} | {1 / level} |")


if __name__ == "__main__":
    main()
