"""One synthetic result set for all tests of the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.page.formats.render import render
from suite.page.report import Report, report
from tests.page import synthetic


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete synthetic set."""
    return synthetic.write(tmp_path_factory.mktemp("results") / "synthetic")


@pytest.fixture(scope="session")
def loaded(folder: Path) -> results.Results:
    """The set, loaded."""
    return results.load(folder)


@pytest.fixture(scope="session")
def made(loaded: results.Results) -> Report:
    """Its report as plain data."""
    return report(loaded)


@pytest.fixture(scope="session")
def html_file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its report as a file."""
    return render(folder, tmp_path_factory.mktemp("report") / "report.html")
