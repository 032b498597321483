"""`invoke archive`, `sets`, `fetch` and `verify`: what is told of sets and archives."""

from __future__ import annotations

from pathlib import Path

from suite import plain_files, units
from suite.archive import fetch, history_page, listing
from suite.archive.history import history as of_sets
from suite.archive.listing import Listed
from suite.archive.place import Place
from suite.archive.publish import publish
from suite.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX, signer
from suite.cli.console import print_table
from suite.environments import say
from suite.errors import UserError
from suite.machine.description import processor
from suite.report.render import render
from suite.results import manifest
from suite.results.manifest import SET_NAME, SHORT_DIGITS, Manifest
from suite.results.outcomes import FAILED
from suite.results.store import ResultSet

SIGNED = "It bears a signature: --signed-by=FILE says whether it is that of somebody you trust."
UNSIGNED = "Unsigned: nothing says who published it."
HEADS = ["name", "date (UTC)", "target", "machine", "preset", "stacks", "outcomes", "where"]
HISTORY = ["date (UTC)", "set", "versions", "a step", "interval", "change"]
STACKS_SHOWN = 3
EXAMPLES = {"times": "results/SET, of invoke run --preset=primer", "set": "2026-11-21.cpu.3f2a91c", "workload": "gpt2"}


def archive(folder: Path, to: str | None, key: str | None, *, with_changes: bool) -> None:
    """Publish a set."""
    place = Place.of(needed("to", to))
    made = publish(folder, place, say, key=Path(key) if key else None, with_changes=with_changes)
    signed = f"signed by {key}" if key else "unsigned: --sign=KEY says whose it is"
    print(f"{made.name}  {len(made.files)} files, {units.quantity(made.nbytes)}, in {place.uri}; {signed}")


def sets(results: Path, origin: str | None) -> None:
    """List them."""
    found = listing.of_place(Place.of(origin)) if origin else listing.here(results)
    where = Place.of(origin).uri if origin else str(results)
    if not found:
        print(f"There is no set in {where}.")
        return
    shown = len(HEADS) - bool(origin)  # all archives of a place lie there: names need the room, to be copied whole
    print_table(f"Sets in {where}", HEADS[:shown], [cells(each)[:shown] for each in found])
    for each in found:
        if each.trouble:
            say(f"{each.name or each.where}: {each.trouble}")


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
    """An archive comes here; its page is made here."""
    folder = fetch.fetch(Place.of(needed("from", origin)), needed("set", name), results)
    tell_short(folder.name)
    print(f"{folder}  {render(folder)}")


def verify(name: str, origin: str | None, trusted: str | None) -> int:
    """0 if a set is as its manifest says, and signed by one of those who are asked for; else 3 after what isn't."""
    problems = fetch.verify(Place.of(origin), name) if origin else ResultSet.open(Path(name)).problems()
    for problem in problems:
        print(problem)
    if problems:
        print(f"{name}: not as its manifest says, in {len(problems)} ways.")
        return FAILED
    tell_short(Path(name).name)
    known, signature = fetch.signed(Place.of(origin), name) if origin else signed_here(Path(name))
    if trusted is None:
        print(f"{name}: intact. {SIGNED if signature else UNSIGNED}")
        return 0
    whose = signature and signer(known, signature, Path(trusted))
    if not whose:
        print(f"{name}: intact, but {f'signed by nobody in {trusted}' if signature else 'unsigned'}.")
        return FAILED
    print(f"{name}: intact, signed by {whose}.")
    return 0


def tell_short(name: str) -> None:
    """Says it of a name whose digest is too short to stand for one content."""
    if len(name.rpartition(".")[2]) == SHORT_DIGITS and SET_NAME.fullmatch(name):
        say(f"{name} is an older name with 28 bits of a digest: another set of that name can be made in a minute. It "
            "is as good as the place that it comes from.")  # fmt: skip


def signed_here(folder: Path) -> tuple[Manifest, bytes | None]:
    """A set's manifest, and its signature if it has one."""
    path = folder / SIGNATURE
    return manifest.read(folder), plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None


def history(results: Path, origin: str | None, workload: str | None, stack: str, out: str | None) -> None:
    """One case over all sets: told, and written to a page or a table if asked for."""
    writers = {".html": history_page.write_page, ".parquet": history_page.write_parquet}
    if out and Path(out).suffix not in writers:
        raise UserError(f"--out={out}: a history is written to a file that ends in {' or '.join(writers)}.")
    place = Place.of(origin) if origin else None
    points = of_sets(results, place, needed("workload", workload), stack, say)
    for series in history_page.series_of(points):
        print_table(f"{series.name}, {series.machine}", HISTORY, [list(line) for line in series.lines],
                    numbers=("a step",))  # fmt: skip
        print()
    if out:
        writers[Path(out).suffix](points, Path(out))
        print(out)


def needed(option: str, value: str | None) -> str:
    """An option that a command can't do without. Raises UserError."""
    if not value:
        example = EXAMPLES.get(option, "s3://bucket/stack-wars, or a folder")
        raise UserError(f"--{option} is needed, like --{option}={example}.")
    return value
