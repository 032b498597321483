"""What runs when, and with what; in CI a skipped test is a failure: what wasn't tried there was not shown to work."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs import Lanes

HERE = Path(__file__).parent
# Most of the time of what takes no framework: these start whole runs on the fake stack, install environments, wait for
# deadlines, render pages and open a browser. `make quick` leaves them out.
SLOW = [HERE / name for name in ("cli", "environments", "launch", "report", "run", "test_docs.py")]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, by place: it is the rooms at both ends that start everything between them.

    Several processes share the tests, file by file. The long runs and the images belong to one of them, which has
    nothing else to do: the runs begin at once, on a core each, and go on beside all other tests. Then come those that
    take real stacks, so that what is short is left for the end.
    """
    assert all(place.exists() for place in SLOW), "moved? name the new place"
    for item in items:
        if any(item.path.is_relative_to(place) for place in SLOW):
            item.add_marker(pytest.mark.slow)
        if takes_runs(item):
            item.fixturenames.append("runs")  # type: ignore[attr-defined]
        item.add_marker(pytest.mark.xdist_group("runs" if takes_runs(item) else str(item.path)))
    items.sort(key=lambda item: (not takes_runs(item), item.get_closest_marker("stacks") is None, not is_slow(item)))


def takes_runs(item: pytest.Item) -> bool:
    """Whether a test looks at whole runs, or takes images (which its whole module waits for)."""
    return "runs" in item.fixturenames or hasattr(getattr(item, "module", None), "images_or_skip")  # type: ignore[attr-defined]


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is among the slow ones."""
    return item.get_closest_marker("slow") is not None


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lanes]:
    """The runs that the chosen tests name by `@pytest.mark.runs(...)`: `runs[name]` waits for one."""
    items = request.session.items
    named = {name for item in items for mark in item.iter_markers("runs") for name in mark.args}
    known: dict[str, Any] = {}
    for item in items:
        for name, asked in getattr(getattr(item, "module", None), "RUNS", {}).items():
            assert known.setdefault(name, asked) is asked, f"two modules' runs are called {name!r}"
    lanes = Lanes()
    # What takes longest first, or it would be alone at the end.
    for name in sorted(named, key=lambda name: -known[name].minutes):
        lanes.start(name, known[name], tmp_path_factory.mktemp)
    yield lanes
    lanes.close()


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of this session alone, for all that it starts: there a run marks the machine as taken."""
    os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("temporary"))


def pytest_sessionfinish() -> None:
    """Measuring in this process froze the collector's view of it; native modules want it whole at exit."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Turn a skip into a failure where CI is set."""
    report = yield
    if os.environ.get("CI") and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, which is a failure: {report.longrepr}"
    return report
