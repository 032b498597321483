"""What runs when, and with what; in CI a skipped test is a failure: what wasn't tried there was not shown to work."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from suite.environments import locks
from suite.machine import noise
from suite.stacks.catalog import STACKS
from tests import needed
from tests.browser import browser, tabs
from tests.runs import OLDER, Asked, Lanes

__all__ = ["browser", "tabs"]  # fixtures

hypothesis.settings.register_profile("busy", deadline=None)  # an example's time says how busy the machine is
hypothesis.settings.register_profile("brief", deadline=None, max_examples=5)  # does it run at all?
hypothesis.settings.load_profile("busy")

HERE = Path(__file__).parent
IN_CI = "skipped in CI, which is a failure: "
REPOSITORY = dict(STACKS)
# Most of the time of what takes no framework: these start whole runs on the fake stack, install environments, wait for
# deadlines, render pages and open a browser. `make quick` leaves them out.
SLOW = [HERE / name for name in ("cli", "environments", "launch", "page", "run", "test_docs.py")]

# Whole runs on real stacks, and images.
LONG = [
    *HERE.glob("test_*end_to_end.py"),
    *(HERE / name for name in ("environments/test_images.py", "launch/test_container.py", "run/start/test_engines.py")),
]
# Names of files, also of an extra's, with many tests that take seconds each and share no fixture.
APART = ("test_attacks.py", "test_walls.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, by place: it is the rooms at both ends that start everything between them.

    First comes what is long, which begins the runs at once; of that first what waits for none of them. Then what takes
    environments of its own, like Ray's cluster, which mostly waits, and real stacks: what is short is left for the end.
    """
    assert all(place.exists() for place in (*SLOW, *LONG)), "moved? name the new place"
    known = known_runs(items)
    for item in items:
        mark_by_runs(item, known)
        if builds_images(item) or {"browser", "memory_cgroup"} & set(item.fixturenames):  # type: ignore[attr-defined]
            item.add_marker(pytest.mark.machine)
        # `make test` makes only the stacks' environments, and no test makes those that are made on request.
        if taken_by(item) - needed.REQUESTED:
            item.add_marker(pytest.mark.release)
        # What takes an environment of its own is slow as well, since `make quick` makes none.
        if any(item.path.is_relative_to(place) for place in SLOW) or item.get_closest_marker("environments"):
            item.add_marker(pytest.mark.slow)
        if item.path in LONG:
            item.fixturenames.insert(0, "runs")  # type: ignore[attr-defined]  # before images are built
        elif builds_images(item) or "runs" in item.fixturenames:  # type: ignore[attr-defined]
            raise AssertionError(f"{item.path} is long, too: name it")
    items.sort(key=place_in_line)


def known_runs(items: list[pytest.Item]) -> dict[str, Asked]:
    """The runs of all modules."""
    known: dict[str, Asked] = {}
    for item in items:
        for name, asked in getattr(getattr(item, "module", None), "RUNS", {}).items():
            assert known.setdefault(name, asked) is asked, f"two modules' runs are called {name!r}"
    return known


def mark_by_runs(item: pytest.Item, known: dict[str, Asked]) -> None:
    """Mark a test with the run that its parameter `run` names, and as what its runs are for."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters.get("run") in known:
        item.add_marker(pytest.mark.runs(parameters["run"]))
    asked = [known[name] for name in named_runs(item)]
    if any(run.release for run in asked):
        item.add_marker(pytest.mark.release)
    if any(run.module == OLDER for run in asked):
        item.add_marker(pytest.mark.newest)
        item.add_marker(pytest.mark.environments(*(lock.path.stem for lock in needed.OLDEST.values())))


def named_runs(item: pytest.Item) -> set[str]:
    """The runs that a test waits for."""
    return {name for mark in item.iter_markers("runs") for name in mark.args}


def place_in_line(item: pytest.Item) -> tuple[bool, ...]:
    """What sorts a test among the others."""
    has = {name: item.get_closest_marker(name) is not None for name in ("runs", "environments", "stacks", "slow")}
    waits, rest = has.pop("runs"), [not marked for marked in has.values()]
    return item.path not in LONG, waits, not builds_images(item), *rest


def builds_images(item: pytest.Item) -> bool:
    """Whether a test's whole module waits for images."""
    return hasattr(getattr(item, "module", None), "images_or_skip")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """File by file, but all that is long in one process: no run is begun twice, and no image built twice. Files whose
    tests share nothing and take a while each are divided."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            if Path(file).name in APART:
                return nodeid
            return "long" if HERE.parent / file in LONG else file

    return Scheduling(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what takes an environment that this machine can't make."""
    for name, why in lacking(item).items():
        pytest.skip(f"environment {name} isn't made: {why}")


def lacking(item: pytest.Item) -> dict[str, str]:
    """The environments that a test takes and that couldn't be made, each with the reason: any of a stack for a test of
    real stacks, and those that it is marked with."""
    not_made: dict[str, str] = json.loads(os.environ.get("STACKWARS_LACKING", "{}"))
    taken = taken_by(item)
    if item.path in LONG or item.get_closest_marker("stacks"):
        taken |= set(locks.names("cpu")) - needed.REQUESTED
    return {name: why for name, why in not_made.items() if name in taken}


def taken_by(item: pytest.Item) -> set[str]:
    """The environments that a test is marked with."""
    return {name for mark in item.iter_markers("environments") for name in mark.args}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last lines say what wasn't tested, and why."""
    reports = [report for kind in ("skipped", "failed", "error") for report in terminalreporter.stats.get(kind, ())]
    for why, count in Counter(filter(None, map(why_skipped, reports))).items():
        terminalreporter.write_line(f"Not tested: {count} tests. {why}")


def why_skipped(report: pytest.TestReport) -> str:
    """The reason of a test that was skipped, in CI too; empty of others."""
    if report.skipped:
        return str(report.longrepr[2]).removeprefix("Skipped: ")  # type: ignore[index]
    return str(report.longrepr).partition(IN_CI)[2]


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lanes]:
    """The runs that the chosen tests name by `@pytest.mark.runs(...)` or by their parameter `run`: `runs[name]` waits
    for one."""
    known = known_runs(request.session.items)
    named = set[str]().union(*map(named_runs, request.session.items))
    lanes = Lanes()
    # What takes longest first, or it would be alone at the end.
    for name in sorted(named, key=lambda name: -known[name].minutes):
        lanes.start(name, known[name], tmp_path_factory.mktemp)
    yield lanes
    lanes.close()


@pytest.fixture(scope="session", autouse=True)
def temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of this session alone, for all that it starts or runs itself; and a name of its own for the lock of runs."""
    folder = tmp_path_factory.mktemp("temporary")
    os.environ["TMPDIR"] = str(folder)
    os.environ["STACKWARS_LOCK"] = noise.LOCK = str(folder)


@pytest.fixture(autouse=True)
def stacks_of_the_repository() -> Iterator[None]:
    """Takes out of the catalogue what a test has added to it."""
    yield
    STACKS.clear()
    STACKS.update(REPOSITORY)


def pytest_sessionfinish() -> None:
    """Measuring in this process froze the collector's view of it; native modules want it whole at exit."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Turn a skip into a failure where CI is set."""
    report = yield
    if os.environ.get("CI") and report.skipped:
        report.longrepr = f"{IN_CI}{why_skipped(report)}"
        report.outcome = "failed"
    return report
