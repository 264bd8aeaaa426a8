"""The terminal summary, and the two verdicts that only the whole suite can give.

Sees reports alone, so it works the same under xdist. The run fails when the suite holds more assertions than its
capacity (the thresholds would no longer add up to alpha), or when the mixed product of all evidence crosses 10 / alpha:
twenty weak biases that no single test sees.
"""

import math
from typing import Any

import pytest

from rheocheck.pytest_plugin.settings import CAPACITY, PROPERTY, Record, SuiteSettings
from rheocheck.report.suite_text import assertion_text


class SuiteSummary:
    """Collects the records of all assertions of a run."""

    def __init__(self, settings: SuiteSettings) -> None:
        self.settings = settings
        self.records: list[Record] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":  # the last report of a test carries all of its properties
            return
        records: list[Any] = [value for name, value in report.user_properties if name == PROPERTY]
        for record in records:
            known = {(r["nodeid"], r["number"]) for r in self.records}
            if (record["nodeid"], record["number"]) not in known:  # the same draws twice are no new evidence
                self.records.append(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self._broken() and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.records:
            return
        terminalreporter.section("rheocheck: emitted laws")
        for record in sorted(self.records, key=lambda r: (r["nodeid"], r["number"])):
            terminalreporter.write_line(assertion_text(record, self.settings.reproduce(record["nodeid"])))
        terminalreporter.write_line(self._suite_line())
        for line in self._broken():
            terminalreporter.write_line(f"FAIL  {line}", red=True)

    def _log10_product(self) -> float:
        """log10 of the suite-wide e-value, of E at the time each run stopped (the largest E of a run is no e-value).

        An assertion that failed counts as E = 0: it has had its say, and a planted control must not speak for others.
        """
        logs = [
            -math.inf if record["verdict"] == "biased" else record["log10_e"] * math.log(10)
            for record in self.records
            if record["method"] == "sampled" and (record["log10_e"] is not None or record["verdict"] == "biased")
        ]
        if not logs:
            return 0.0
        from rheocheck.stats.suite import mixed_product

        return float(mixed_product(logs)) / math.log(10)

    def _suite_line(self) -> str:
        spent = len(self.records) * self.settings.alpha
        bounds = sum(record["verdict"] == "no_bias_found" for record in self.records)
        return (
            f"suite: {len(self.records)} assertions, alpha spent {spent:.2g} of {self.settings.suite_alpha:g}; "
            f"mixed product of those that passed E = 10^{self._log10_product():.1f}; "
            f"all {bounds} PASS bounds jointly >= {max(0.0, 1 - bounds * 1e-3):.1%}"
        )

    def _broken(self) -> list[str]:
        lines = []
        if len(self.records) > CAPACITY:
            lines.append(
                f"a suite must hold at most {CAPACITY} assertions, got {len(self.records)}: split it into two runs"
            )
        limit = math.log10(10 / self.settings.suite_alpha)
        if self.records and self._log10_product() >= limit:
            quiet = [r for r in self.records if r["verdict"] != "biased" and r["log10_e"] is not None]
            most = max(quiet, key=lambda record: record["log10_e"])
            lines.append(
                f"the assertions that passed, together: mixed product E = 10^{self._log10_product():.1f} is above "
                f"10^{limit:.1f}; the most of it from {most['nodeid']} (E = 10^{most['log10_e']:.1f})"
            )
        return lines
