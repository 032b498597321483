"""`./stackwars archive`, `sets`, `fetch`, `history` and `site`: commands on archives and on many sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite import units
from suite.archive import fetch, history_page, listing
from suite.archive.history import history as of_sets
from suite.archive.listing import Listed
from suite.archive.naming import archived, named
from suite.archive.publish import publish
from suite.archive.site.build import INDEX, build
from suite.archive.site.sources import SetSource
from suite.archive.storage import Storage
from suite.cli.options.sets import FetchOptions, HistoryOptions, PublishOptions, SetsOptions, SiteOptions
from suite.cli.options.values import needed
from suite.cli.terminal.console import print_table
from suite.cli.terminal.output import print_json
from suite.environments import say
from suite.errors import UserError
from suite.machine.description import processor
from suite.report.formats.render import render

HEADS = ["name", "date (UTC)", "target", "machine", "preset", "stacks", "outcomes", "where"]
HISTORY = ["date (UTC)", "set", "versions", "a step", "interval", "change"]
STACKS_SHOWN = 3  # a set with more stacks has only their number


def archive(options: PublishOptions) -> None:
    """Publishes a set and prints its name in the archive."""
    storage = Storage.of(needed("to", options.to))
    key = options.sign
    published = publish(
        named(options.set), storage, say, key=Path(key) if key else None, with_changes=options.with_changes
    )
    signed = f"signed by {key}" if key else "unsigned: with --sign=KEY readers can check who published it"
    size = f"{len(published.files)} files, {units.quantity(published.nbytes)}"
    print(f"{published.name}  {size}, in {storage.uri}; {signed}")


def sets(options: SetsOptions) -> None:
    """Lists the sets here, or those of an archive."""
    storage = Storage.of(options.from_) if options.from_ else None
    listed = listing.of_storage(storage) if storage else listing.here(Path(options.results))
    where = storage.uri if storage else options.results
    if options.json:
        print_json({"where": where, "sets": [*map(listed_json, listed)]})
        return
    if not listed:
        print(f"There is no set in {where}.")
        return
    # All sets of an archive are in one place, so the column `where` is left out and long names fit whole.
    shown = len(HEADS) - bool(storage)
    print_table(f"Sets in {where}", HEADS[:shown], [cells(entry)[:shown] for entry in listed])
    for entry in listed:
        if entry.trouble:
            say(f"{entry.name or entry.where}: {entry.trouble}")


def listed_json(entry: Listed) -> dict[str, Any]:
    """Returns one set as JSON. `name` is its name in archives, null if the set isn't whole."""
    facts = entry.facts
    return {
        "name": entry.name or None,
        "where": entry.where,
        "whole": not entry.trouble,
        "trouble": entry.trouble or None,
        **{fact: facts.get(fact) for fact in ("set_id", "created_at", "target", "preset", "stacks", "outcomes")},
        "machine": processor(facts.get("machine") or {}),
    }


def cells(entry: Listed) -> list[str]:
    """Returns the table's line for one set."""
    facts = entry.facts
    stacks, outcomes = facts.get("stacks") or [], facts.get("outcomes") or {}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return [
        entry.name or "-",
        entry.created_at[:16].replace("T", " "),
        str(facts.get("target") or ""),
        processor(facts.get("machine") or {}),
        str(facts.get("preset") or ""),
        ", ".join(stacks) if len(stacks) <= STACKS_SHOWN else f"{len(stacks)} stacks",
        "; ".join(filter(None, [counted, "not whole" if entry.trouble else ""])),
        entry.where,
    ]


def fetched(options: FetchOptions) -> None:
    """Downloads a set from an archive and renders its page."""
    storage = Storage.of(needed("from", options.from_))
    folder = fetch.fetch(storage, archived(needed("set", options.set), storage), Path(options.results))
    print(f"{folder}  {render(folder)}")


def history(options: HistoryOptions) -> None:
    """Prints the times of one workload in all sets, and with --out also writes them to a page or a table."""
    writers = {".html": history_page.write_page, ".parquet": history_page.write_parquet}
    out = Path(options.out) if options.out else None
    if out and out.suffix not in writers:
        raise UserError(f"--out={out}: a history is written to a file that ends in {' or '.join(writers)}.")
    storage = Storage.of(options.from_) if options.from_ else None
    workload = needed("workload", options.workload)
    points = of_sets(Path(options.results), storage, workload, options.stack, say, options.pass_)
    if out:
        writers[out.suffix](points, out)
    if options.json:
        print_json({"points": [*map(history_page.point_json, points)]})
        return
    for series in history_page.series_of(points):
        print_table(
            f"{series.name}, {series.machine}", HISTORY, [list(line) for line in series.lines], numbers=("a step",)
        )
        print()
    if out:
        print(out)


def site(options: SiteOptions) -> None:
    """Makes or updates a site of all sets, and prints how many sets it has."""
    storage = Storage.of(options.from_) if options.from_ else None
    built = build(SetSource(Path(options.results), storage), Path(options.out), say, options.exclude)
    shown, unchanged = len(built.shown), len(built.shown) - len(built.rendered)
    parts = ["no set" if not shown else "1 set" if shown == 1 else f"{shown:,} sets"]
    if unchanged:
        parts.append("unchanged" if unchanged == shown else f"{unchanged:,} unchanged")
    if built.refused:
        parts.append(f"{len(built.refused):,} not shown")
    print(f"{built.out / INDEX}  {', '.join(parts)}")
