"""`./stackwars archive`, `sets`, `fetch` and `verify`: what is told of sets and archives."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite import units
from suite.archive import fetch, history_page, listing
from suite.archive.history import history as of_sets
from suite.archive.listing import Listed
from suite.archive.naming import archived, named
from suite.archive.place import Place
from suite.archive.publish import publish
from suite.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX, signer
from suite.cli.console import print_table
from suite.cli.output import print_json
from suite.environments import say
from suite.errors import COMMAND, Damaged, UserError
from suite.guard import plain_files
from suite.machine.description import processor
from suite.report.formats.render import render
from suite.results.outcomes import FAILED
from suite.results.store import manifest
from suite.results.store.manifest import Manifest
from suite.results.store.result_set import ResultSet

SIGNED = "It bears a signature: --signed-by=FILE says whether it is that of somebody you trust."
UNSIGNED = "Unsigned: nothing says who published it."
HEADS = ["name", "date (UTC)", "target", "machine", "preset", "stacks", "outcomes", "where"]
HISTORY = ["date (UTC)", "set", "versions", "a step", "interval", "change"]
STACKS_SHOWN = 3
EXAMPLES = {
    "times": f"results/SET, of {COMMAND} run --preset=primer",
    "set": "2026-11-21.cpu.3f2a91c",
    "workload": "gpt2",
}


def archive(name: str, to: str | None, key: str | None, *, with_changes: bool) -> None:
    """Publish a set."""
    place = Place.of(needed("to", to))
    made = publish(named(name), place, say, key=Path(key) if key else None, with_changes=with_changes)
    signed = f"signed by {key}" if key else "unsigned: --sign=KEY says whose it is"
    print(f"{made.name}  {len(made.files)} files, {units.quantity(made.nbytes)}, in {place.uri}; {signed}")


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
    shown = len(HEADS) - bool(origin)  # all archives of a place lie there: names need the room, to be copied whole
    print_table(f"Sets in {where}", HEADS[:shown], [cells(each)[:shown] for each in found])
    for each in found:
        if each.trouble:
            say(f"{each.name or each.where}: {each.trouble}")


def listed_json(each: Listed) -> dict[str, Any]:
    """One set; `name` is the one that archives have it by, null of a set that isn't whole."""
    facts = each.facts
    return {
        "name": each.name or None,
        "where": each.where,
        "whole": not each.trouble,
        "trouble": each.trouble or None,
        **{fact: facts.get(fact) for fact in ("set_id", "created_at", "target", "preset", "stacks", "outcomes")},
        "machine": processor(facts.get("machine") or {}),
    }


def cells(each: Listed) -> list[str]:
    """One line of the table."""
    facts = each.facts
    stacks, outcomes = facts.get("stacks") or [], facts.get("outcomes") or {}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return [
        each.name or "-",
        each.created_at[:16].replace("T", " "),
        str(facts.get("target") or ""),
        processor(facts.get("machine") or {}),
        str(facts.get("preset") or ""),
        ", ".join(stacks) if len(stacks) <= STACKS_SHOWN else f"{len(stacks)} stacks",
        "; ".join(filter(None, [counted, "not whole" if each.trouble else ""])),
        each.where,
    ]


def fetched(name: str | None, origin: str | None, results: Path) -> None:
    """An archive comes here; its page is made here."""
    place = Place.of(needed("from", origin))
    folder = fetch.fetch(place, archived(needed("set", name), place), results)
    print(f"{folder}  {render(folder)}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a set: what isn't as its manifest says; whether it bears a signature, and by which of those that
    were asked for (None: by none of them, or nobody was asked for)."""

    name: str
    place: Place | None
    problems: Sequence[str]
    is_signed: bool = False
    signer: str | None = None


def verify(name: str, origin: str | None, trusted: str | None, *, as_json: bool = False) -> int:
    """0 if a set is as its manifest says, and signed by one of those who are asked for; else 3 after what isn't."""
    verdict = verified(name, Place.of(origin) if origin else None, trusted)
    fine = not verdict.problems and (trusted is None or verdict.signer is not None)
    if as_json:
        print_json(
            {
                "set": verdict.name,
                "from": verdict.place.uri if verdict.place else None,
                "intact": not verdict.problems,
                "problems": [*verdict.problems],
                "signed": verdict.is_signed,
                "signer": verdict.signer,
            }
        )
    else:
        for line in verdict_lines(verdict, trusted):
            print(line)
    return 0 if fine else FAILED


def verified(name: str, place: Place | None, trusted: str | None) -> Verdict:
    """Looks at a set here or in a place. Raises UserError where there is none of that name."""
    found = archived(name, place) if place else str(named(name))
    if place is None and not any((Path(found) / file).is_file() for file in ("plan.json", manifest.NAME)):
        raise UserError(f"{found} is no result set: it has no plan.json.")
    try:
        problems = fetch.verify(place, found) if place else problems_here(Path(found))
    except Damaged as broken:
        problems = [str(broken)]
    if problems:
        return Verdict(found, place, problems)
    known, signature = fetch.signed(place, found) if place else signed_here(Path(found))
    whose = signer(known, signature, Path(trusted)) if signature and trusted else None
    return Verdict(found, place, (), signature is not None, whose)


def problems_here(folder: Path) -> list[str]:
    """What isn't as the manifest says. A changed plan is one of its findings: only an intact one is opened."""
    return manifest.problems(folder) or ResultSet.open(folder).misstated(manifest.read(folder))


def verdict_lines(verdict: Verdict, trusted: str | None) -> list[str]:
    """What is wrong, line by line, and last what the set is."""
    name = verdict.name
    if verdict.problems:
        return [*verdict.problems, f"{name}: not as its manifest says, in {len(verdict.problems)} ways."]
    if trusted is None:
        return [f"{name}: intact. {SIGNED if verdict.is_signed else UNSIGNED}"]
    if verdict.signer:
        return [f"{name}: intact, signed by {verdict.signer}."]
    return [f"{name}: intact, but {f'signed by nobody in {trusted}' if verdict.is_signed else 'unsigned'}."]


def signed_here(folder: Path) -> tuple[Manifest, bytes | None]:
    """A set's manifest, and its signature if it has one."""
    path = folder / SIGNATURE
    return manifest.read(folder), plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None


def history(
    results: Path,
    origin: str | None,
    workload: str | None,
    stack: str,
    passes: Collection[str],
    out: str | None,
    *,
    as_json: bool,
) -> None:
    """One case over all sets: told, and written to a page or a table if asked for."""
    writers = {".html": history_page.write_page, ".parquet": history_page.write_parquet}
    if out and Path(out).suffix not in writers:
        raise UserError(f"--out={out}: a history is written to a file that ends in {' or '.join(writers)}.")
    place = Place.of(origin) if origin else None
    points = of_sets(results, place, needed("workload", workload), stack, say, passes)
    if out:
        writers[Path(out).suffix](points, Path(out))
    if as_json:
        print_json({"points": [*map(history_page.point_json, points)]})
        return
    for series in history_page.series_of(points):
        print_table(
            f"{series.name}, {series.machine}", HISTORY, [list(line) for line in series.lines], numbers=("a step",)
        )
        print()
    if out:
        print(out)


def needed(option: str, value: str | None) -> str:
    """An option that a command can't do without. Raises UserError."""
    if not value:
        example = EXAMPLES.get(option, "s3://bucket/stack-wars, or a folder")
        raise UserError(f"--{option} is needed, like --{option}={example}.")
    return value
