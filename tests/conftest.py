"""In CI a skipped test is a failure: what couldn't be tried there was not shown to work."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest


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
