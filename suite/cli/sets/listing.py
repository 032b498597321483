"""`./stackwars sets`: lists result sets. It needs neither a page nor Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite.cli.extras import of_archives
from suite.cli.terminal.output import Columns, print_columns, print_json
from suite.cli.values import Json, Origin, ResultsFolder
from suite.environments import say
from suite.machine.description import processor
from suite.sets import listing
from suite.sets.listing import Listed

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


def sets(*, from_: Origin = None, results: ResultsFolder = "results", json: Json = False) -> None:
    """Lists the sets here, or those of an archive."""
    where, found = of_archives("listed")(from_) if from_ else (results, listing.here(Path(results)))
    listed = [*map(listed_json, found)]
    if json or not listed:
        print_json({"where": where, "sets": listed}) if json else print(f"There is no set in {where}.")
        return
    # All sets of an archive are in one place, so the column `where` is left out and long names fit whole.
    shown = {head: cell for head, cell in SET_COLUMNS.items() if head != "where" or not from_}
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
