"""`./stackwars history`, `site` and `collect`: commands on many sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from suite.cli.measure.carry_out import say_latest
from suite.cli.terminal.output import print_json, print_tables
from suite.cli.values import Json, Names, Origin, ResultsFolder, Several, needed
from suite.cluster import collect as shares
from suite.environments import say
from suite.errors import UserError
from suite.guard.out import is_standard, is_stream, write_out
from suite.page.formats.render import render
from suite.page.site import history_page
from suite.page.site.build import INDEX, build
from suite.page.site.history import Point
from suite.page.site.history import history as points_of
from suite.page.site.sources import SetSource
from suite.results import load
from suite.results.outcomes import exit_code
from suite.sets.archive.naming import named
from suite.sets.archive.web import storage_of
from suite.stacks.catalog import add as add_stacks


def history(
    workload: str | None = None,
    *,
    stack: str = "*",
    pass_: Names = (),
    out: str | None = None,
    from_: Origin = None,
    results: ResultsFolder = "results",
    json: Json = False,
) -> None:
    """Prints the times of one workload in all sets, and with --out also writes them to a page or a table.

    :param workload: the workload; globs
    :param stack: only these stacks; globs
    :param pass_: only forward or train (default: both)
    :param out: also write the history to this file: a page (.html) or a table (.parquet); `-` is standard output
    """
    forms: dict[str, Callable[[Sequence[Point]], str | bytes]] = {
        ".html": partial(history_page.page, "History"),
        ".parquet": history_page.parquet,
    }
    suffix = ".html" if out and is_stream(out) else Path(out or "").suffix
    if out and suffix not in forms:
        raise UserError(f"--out={out}: a history is written to a file that ends in {' or '.join(forms)}.")
    points = points_of(Path(results), storage_of(from_), needed("workload", workload), stack, say, pass_)
    if out:
        write_out(out, forms[suffix](points))
    if is_standard(out):
        return
    if json:
        print_json({"points": history_page.table(points).to_dicts()})
        return
    print_tables(history_page.tables(points))
    if out:
        print(out)


def site(
    *, out: str = "site", exclude: tuple[str, ...] = (), from_: Origin = None, results: ResultsFolder = "results"
) -> None:
    """Makes or updates a site of all sets, and prints how many sets it has.

    :param out: the folder of the site; files that this command didn't write stay as they are
    :param exclude: leave out the sets of these names, such as trials; globs
    """
    built = build(SetSource(Path(results), storage_of(from_)), Path(out), say, exclude)
    shown = len(built.shown)
    parts = ["no set" if not shown else "1 set" if shown == 1 else f"{shown:,} sets"]
    if built.refused:
        parts.append(f"{len(built.refused):,} not shown")
    print(f"{built.out / INDEX}  {', '.join(parts)}")


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
    say_latest(store)
    print(f"{store.folder}  {len(store.plan_file.collected)} shares, {len(store.plan.cases)} cases\nReport: {page}")
    return exit_code(load(store.folder).rows)
