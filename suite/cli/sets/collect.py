"""`./stackwars collect`: puts the shares of one plan together into one set."""

from __future__ import annotations

from pathlib import Path

from suite.cli.values import ResultsFolder, Several
from suite.cluster import collect as shares
from suite.report.formats.render import render
from suite.results import load
from suite.results.outcomes import exit_code
from suite.sets.archive.naming import named
from suite.stacks.catalog import add as add_stacks


def collect(set: Several = (), *, stack_path: tuple[str, ...] = (), results: ResultsFolder = "results") -> int:
    """Puts shares together and renders the report. Returns the exit code that a single run with the same rows would
    return.

    :param set: the result sets of the shares: `collect A B`
    :param stack_path: your copy of the shares' own stacks, a file or folder; their code is never taken from the shares
    """
    add_stacks(map(Path, stack_path))
    folder = Path(results)
    store = shares.collect([named(name, folder) for name in set], folder)
    page = render(store.folder)
    store.make_latest()
    print(f"{store.folder}  {len(store.plan_file.collected)} shares, {len(store.plan.cases)} cases\nReport: {page}")
    return exit_code(load(store.folder).rows)
