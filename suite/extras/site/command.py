"""`./stackwars history` and `site`: what the sets of a folder or an archive say together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from suite.cli.terminal.output import print_json, print_tables
from suite.cli.values import Json, Names, Origin, ResultsFolder, needed
from suite.environments import say
from suite.errors import UserError
from suite.extras.archive.web import storage_of
from suite.extras.site import history_page
from suite.extras.site.build import INDEX, build
from suite.extras.site.history import Point
from suite.extras.site.history import history as points_of
from suite.extras.site.sources import SetSource
from suite.guard.out import is_standard, is_stream, write_out


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
        ".html": partial(history_page.page, "History", ""),
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
