"""Shared settings of the tests.

RHEOCHECK_NO_SKIPS=1 (set by .ci/run) turns every skip into a failure unless the test is marked `gpu` or `slow`: a
dependency that failed to install must not turn into silence.
"""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("rheocheck", derandomize=True, deadline=None)
settings.load_profile("rheocheck")

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore Ctrl-C

NO_SKIPS = os.environ.get("RHEOCHECK_NO_SKIPS") == "1"


def _refuse(report):
    report.longrepr = f"skipped, which RHEOCHECK_NO_SKIPS forbids: {report.longrepr}"
    report.outcome = "failed"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    excused = item.get_closest_marker("gpu") or item.get_closest_marker("slow") or hasattr(report, "wasxfail")
    if NO_SKIPS and report.skipped and not excused:
        _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if NO_SKIPS and report.skipped:
        _refuse(report)
    return report
