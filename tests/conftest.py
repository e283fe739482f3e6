"""Rules for all tests: no influence of the machine, and no silent skips in CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

IN_CI = os.environ.get("CI") == "true"

# `python3` is this one: a version manager's shim in front takes a tenth of a second, at thousands of starts.
os.environ["PATH"] = f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(autouse=True)
def home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test has an empty home: no settings, keys, agent or sessions of the user's get in."""
    home = tmp_path_factory.mktemp("home")
    for name in (
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_STATE_HOME",
        "SSH_AUTH_SOCK",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SPECTTUI_HOME", str(home / "specttui"))
    return home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Deal the long tests out to the workers, each to begin with: at the end, all would wait for one of them.

    With `--dist=worksteal` xdist gives each worker an even share of the tests, in their order.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if item not in long]
    dealt: list[pytest.Item] = []
    for worker in range(workers):
        share = (len(items) - len(dealt)) // (workers - worker)
        first = long[worker::workers]
        dealt += first
        dealt += others[: share - len(first)]
        del others[: share - len(first)]
    items[:] = dealt


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many faults the fault tests tried: each of them was recovered from, or its test failed."""
    passed = terminalreporter.stats.get("passed", [])
    told = [value for report in passed for name, value in report.user_properties if name == "faults"]
    if told:
        terminalreporter.section("faults tried, all recovered")
        terminalreporter.write_line("\n".join(sorted(told)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """In CI a skipped test is a failed one: what must run there, runs."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if (
        IN_CI
        and report.skipped
        and not hasattr(report, "wasxfail")
        and item.get_closest_marker("may_skip") is None
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where it must run: {report.longrepr}"
