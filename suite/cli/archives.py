"""`./stackwars archive`, `sets`, `fetch` and `verify`: what is told of sets and archives."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from suite import units
from suite.archive import fetch, history_page, listing
from suite.archive.history import history as of_sets
from suite.archive.listing import Listed
from suite.archive.naming import archived, named
from suite.archive.place import Place
from suite.archive.publish import publish
from suite.cli.console import print_table
from suite.cli.written import print_json
from suite.environments import say
from suite.errors import COMMAND, Damaged, UserError
from suite.machine.description import processor
from suite.results import manifest
from suite.results.outcomes import FAILED

HEADS = ["name", "date (UTC)", "target", "machine", "preset", "stacks", "outcomes", "where"]
HISTORY = ["date (UTC)", "set", "versions", "a step", "interval", "change"]
STACKS_SHOWN = 3
EXAMPLES = {"times": f"results/SET, of {COMMAND} run --preset=primer", "set": "2026-11-21.cpu.3f2a91c",
            "workload": "gpt2"}  # fmt: skip


def archive(name: str, to: str | None) -> None:
    """Publish a set."""
    place = Place.of(needed("to", to))
    made = publish(named(name), place, say)
    print(f"{made.name}  {len(made.files)} files, {units.quantity(made.nbytes)}, in {place.uri}")


def sets(results: Path, origin: str | None, *, as_json: bool) -> None:
    """List them."""
    found = listing.of_place(Place.of(origin)) if origin else listing.here(results)
    where = Place.of(origin).uri if origin else str(results)
    if as_json:
        print_json({"where": where, "sets": [*map(listed_json, found)]})
        return
    if not found:
        print(f"There is no set in {where}.")
        return
    print_table(f"Sets in {where}", HEADS, [cells(each) for each in found])
    for each in found:
        if each.trouble:
            say(f"{each.name or each.where}: {each.trouble}")


def listed_json(each: Listed) -> dict[str, Any]:
    """One set; `name` is the one that archives have it by, null of a set that isn't whole."""
    facts = each.facts
    return {"name": each.name or None, "where": each.where, "whole": not each.trouble, "trouble": each.trouble or None,
            **{fact: facts.get(fact) for fact in ("set_id", "created_at", "target", "preset", "stacks", "outcomes")},
            "machine": processor(facts.get("machine") or {})}  # fmt: skip


def cells(each: Listed) -> list[str]:
    """One line of the table."""
    facts = each.facts
    stacks, outcomes = facts.get("stacks") or [], facts.get("outcomes") or {}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return [
        each.name or "-", each.created_at[:16].replace("T", " "), str(facts.get("target") or ""),
        processor(facts.get("machine") or {}), str(facts.get("preset") or ""),
        ", ".join(stacks) if len(stacks) <= STACKS_SHOWN else f"{len(stacks)} stacks",
        "; ".join(filter(None, [counted, "not whole" if each.trouble else ""])), each.where,
    ]  # fmt: skip


def fetched(name: str | None, origin: str | None, results: Path) -> None:
    """An archive comes here."""
    place = Place.of(needed("from", origin))
    folder = fetch.fetch(place, archived(needed("set", name), place), results)
    print(f"{folder}  {folder / 'report.html' if (folder / 'report.html').exists() else 'no page'}")


def verify(name: str, origin: str | None, *, as_json: bool = False) -> int:
    """0 if a set is as its manifest says, else 3 after what isn't."""
    place = Place.of(origin) if origin else None
    found = archived(name, place) if place else str(named(name))
    if place is None and not any((Path(found) / file).is_file() for file in ("plan.json", manifest.NAME)):
        raise UserError(f"{found} is no result set: it has no plan.json.")
    try:
        problems = fetch.verify(place, found) if place else manifest.problems(Path(found))
    except Damaged as broken:
        problems = [str(broken)]
    if as_json:
        print_json({"set": found, "from": place.uri if place else None, "intact": not problems, "problems": problems})
        return FAILED if problems else 0
    for problem in problems:
        print(problem)
    print(f"{found}: {'not as it was made' if problems else 'intact'}.")
    return FAILED if problems else 0


def history(
    results: Path, origin: str | None, workload: str | None, stack: str, passes: Collection[str], out: str | None, *,
    as_json: bool,
) -> None:  # fmt: skip
    """One case over all sets: told, and written to a page or a table if asked for."""
    writers = {".html": history_page.write_page, ".parquet": history_page.write_parquet}
    if out and Path(out).suffix not in writers:
        raise UserError(f"--out={out}: a history is written to a file that ends in {' or '.join(writers)}.")
    place = Place.of(origin) if origin else None
    points = of_sets(results, place, needed("workload", workload), stack, passes)
    if out:
        writers[Path(out).suffix](points, Path(out))
    if as_json:
        print_json({"points": [*map(history_page.point_json, points)]})
        return
    for series in history_page.series_of(points):
        print_table(f"{series.name}, {series.machine}", HISTORY, [list(line) for line in series.lines],
                    numbers=("a step",))  # fmt: skip
        print()
    if out:
        print(out)


def needed(option: str, value: str | None) -> str:
    """An option that a command can't do without. Raises UserError."""
    if not value:
        example = EXAMPLES.get(option, "s3://bucket/stack-wars, or a folder")
        raise UserError(f"--{option} is needed, like --{option}={example}.")
    return value
