"""`pytest -m distribution`: assertions about the law that a decoder emits, with one error budget for the suite.

    @pytest.mark.distribution
    def test_decoder(rheocheck):
        rheocheck.lossless(my_decoder, target=my_law)

Loaded by every pytest run where rheocheck is installed, so it imports the standard library and pytest alone; what an
assertion needs is imported when it is made.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from rheocheck.pytest_plugin.settings import PROPERTY, SuiteSettings
from rheocheck.pytest_plugin.summary import SuiteSummary


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rheocheck", "the law that a decoder emits")
    group.addoption("--rheo-seed", type=_integer, default=0x5EED, help="Root of all seeds.  [default: 0x5eed]")
    group.addoption("--rheo-attempt", type=_integer, default=0, help="Fresh draws under the same root.  [default: 0]")
    group.addoption("--rheo-alpha", type=float, default=1e-6, help="False alarms of the whole suite.  [default: 1e-6]")
    group.addoption(
        "--rheo-eps", type=float, help="Bias worth finding, for assertions that name none.  [default: 0.02]"
    )
    group.addoption("--rheo-samples", type=int, help="Draws per assertion at most.  [default: what eps needs]")


def _integer(text: str) -> int:
    return int(text, 0)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "distribution: tests of an emitted law, exact or statistical")
    arguments = [str(argument).partition("=")[0] for argument in config.invocation_params.args]
    if config.getoption("reruns", None) or "--reruns" in arguments:
        raise pytest.UsageError(f"--reruns must not be given with rheocheck: {RERUNS} (or -p no:rheocheck without it)")
    settings = SuiteSettings.of(config)
    config.stash[SETTINGS] = settings
    if not hasattr(config, "workerinput"):  # under xdist the controller alone sees all reports
        config.pluginmanager.register(SuiteSummary(settings), "rheocheck-summary")


SETTINGS = pytest.StashKey[SuiteSettings]()
RERUNS = (
    "rerunning until green turns a detection probability p into p^r; use --rheo-attempt=1 for a fresh, reported draw"
)


@pytest.fixture
def rheocheck(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Assertions about an emitted law: `lossless`, `same_law`, `exactly_lossless`."""
    from rheocheck.pytest_plugin.assertions import Assertions

    node = request.node
    try:
        rerun = bool(request.config.getini("reruns"))
    except ValueError:  # nobody knows of such an option
        rerun = False
    if rerun or node.get_closest_marker("flaky") or getattr(node, "execution_count", 1) > 1:
        raise pytest.UsageError(f"a test with the rheocheck fixture must not be rerun: {RERUNS}")
    assertions = Assertions(node.nodeid, request.config.stash[SETTINGS])
    yield assertions
    node.user_properties[:] = [item for item in node.user_properties if item[0] != PROPERTY]
    node.user_properties += [(PROPERTY, record) for record in assertions.records]
