"""`./stackwars collect`: what is told of shares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suite.archive.naming import named
from suite.cluster.collect import collect as together
from suite.report.formats.render import render
from suite.results import load
from suite.results.outcomes import exit_code


def collect(sets: Sequence[str], results: Path) -> int:
    """Put shares together, and render the report. The exit code that a run with these rows has."""
    store = together([named(name, results) for name in sets], results)
    page = render(store.folder)
    store.make_latest()
    print(f"{store.folder}  {len(store.plan.collected)} shares, {len(store.plan.cases)} cases\nReport: {page}")
    return exit_code(load(store.folder).rows)
