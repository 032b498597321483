"""Which tests are slow; and in CI a skipped test is a failure: what couldn't be tried there was not shown to work."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# Four fifths of the time of what takes no framework, and a quarter of its tests: they start whole runs on the fake
# stack, install environments, open a browser. `make quick` leaves them out.
SLOW = [HERE / name for name in ("cli", "environments", "run", "report/test_browser.py", "test_docs.py")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, by place: it is the rooms at both ends that start everything between them."""
    assert all(place.exists() for place in SLOW), "moved? name the new place"
    for item in items:
        if any(item.path.is_relative_to(place) for place in SLOW):
            item.add_marker(pytest.mark.slow)


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
