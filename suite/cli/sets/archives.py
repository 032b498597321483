"""`./stackwars archive`, `sets` and `fetch`: commands on archives. Each imports what it needs: `sets` needs neither a
page nor Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite import units
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.values import LATEST, Json, Origin, ResultsFolder, needed
from suite.environments import say
from suite.machine.description import processor
from suite.sets.archive import listing
from suite.sets.archive.listing import Listed
from suite.sets.archive.naming import archived, named

SET_COLUMNS: Columns[dict[str, Any]] = {
    "name": lambda entry: entry["name"] or "-",
    "date (UTC)": lambda entry: (entry["created_at"] or "")[:16].replace("T", " "),
    "target": lambda entry: entry["target"] or "",
    "machine": lambda entry: entry["machine"],
    "preset": lambda entry: entry["preset"] or "",
    "stacks": lambda entry: stacks_text(entry["stacks"] or []),
    "outcomes": lambda entry: outcomes_text(entry["outcomes"] or {}, entry["whole"]),
    "where": lambda entry: entry["where"],
}
STACKS_SHOWN = 3  # a set with more stacks has only their number


def archive(set: str = LATEST, to: str | None = None, *, sign: str | None = None, with_changes: bool = False) -> None:
    """Publishes a set and prints its name in the archive.

    :param set: the result set to publish; its run must have finished
    :param to: the archive: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the environment
    :param sign: an OpenSSH private key to sign with, or a public key whose private key is in an SSH agent
    :param with_changes: publish also the changes to the source that weren't committed
    """
    from suite.sets.archive.publish import publish
    from suite.sets.archive.storage import Storage

    storage = Storage.of(needed("to", to))
    published = publish(named(set), storage, say, key=Path(sign) if sign else None, with_changes=with_changes)
    signed = f"signed by {sign}" if sign else "unsigned: with --sign=KEY readers can check who published it"
    size = f"{len(published.files)} files, {units.quantity(published.nbytes)}"
    print(f"{published.name}  {size}, in {storage.uri}; {signed}")


def sets(*, from_: Origin = None, results: ResultsFolder = "results", json: Json = False) -> None:
    """Lists the sets here, or those of an archive."""
    storage = None
    if from_:
        from suite.sets.archive.web import storage_of

        storage = storage_of(from_)
    listed = [*map(listed_json, listing.sets_of(storage, Path(results)))]
    where = storage.uri if storage else results
    if json or not listed:
        print_json({"where": where, "sets": listed}) if json else print(f"There is no set in {where}.")
        return
    # All sets of an archive are in one place, so the column `where` is left out and long names fit whole.
    shown = {head: cell for head, cell in SET_COLUMNS.items() if head != "where" or not storage}
    print_columns(f"Sets in {where}", shown, listed)
    for entry in listed:
        if entry["trouble"]:
            say(f"{entry['name'] or entry['where']}: {entry['trouble']}")


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


def stacks_text(stacks: list[str]) -> str:
    return ", ".join(stacks) if len(stacks) <= STACKS_SHOWN else f"{len(stacks)} stacks"


def outcomes_text(outcomes: dict[str, int], whole: bool) -> str:
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return "; ".join(filter(None, [counted, "" if whole else "not whole"]))


def fetch(set: str | None = None, *, from_: Origin = None, results: ResultsFolder = "results") -> None:
    """Downloads a set from an archive and renders its page.

    :param set: the result set's name in the archive; `./stackwars sets --from=ARCHIVE` lists the names
    """
    from suite.page.formats.render import render
    from suite.sets.archive.fetch import fetch as download
    from suite.sets.archive.web import archive_at

    storage = archive_at(needed("from", from_))
    folder = download(storage, archived(needed("set", set), storage), Path(results))
    print(f"{folder}  {render(folder)}")
