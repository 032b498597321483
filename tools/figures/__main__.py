"""`python -m tools.figures`: lists the published tables, measures their result sets, or writes them again."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

from suite import results
from suite.cli.app import run_tool
from suite.cli.sets.naming import named
from suite.cli.terminal.output import print_table
from suite.environments import say
from suite.errors import UserError
from suite.machine import facts
from suite.results import Results
from suite.results.outcomes import FAILED
from suite.sets import manifest
from tools.figures import definitions, markers, rules, tables
from tools.figures.definitions import Definition, Definitions

ALL = "all"
LATEST = Path("results/latest")


def figures(*, measure: tuple[str, ...] = (), set: tuple[str, ...] = (), write: bool = False) -> int:
    """Measures sets, reads others, and writes or lists the published tables.

    Returns the exit code: 3 if a table was refused though all its sets are given, or if a given set filled no table.
    Raises UserError for a set that docs/figures.toml doesn't name, and if a run measured nothing.

    :param measure: measure the set of this name by its command in docs/figures.toml; all: every set for this processor
    :param set: a name in docs/figures.toml and a result set measured before, like quick=results/latest
    :param write: write the tables of the measured and given sets; without one, all tables again from their kept sets
    """
    known = definitions.load(definitions.FILE)
    folders = dict(parse_set(text, known) for text in set)
    for name in chosen_sets(measure, known):
        folders[name] = measured(name, known.command(name))
    if not write:
        print_tables(known)
        return 0
    given = {*folders}
    chosen = [table for table in known.tables.values() if not given or given & {*table.sets}]
    folders |= kept(known, {name for table in chosen for name in table.sets} - given)
    loaded = {name: results.load(folder) for name, folder in folders.items()}
    is_filled = {table: is_written(table, loaded) for table in chosen if is_ready(table, loaded)}
    used = {name for table, filled in is_filled.items() if filled for name in table.sets}
    return 0 if all(is_filled.values()) and given <= used else FAILED


def kept(known: Definitions, names: Collection[str]) -> dict[str, Path]:
    """Returns {name: folder} of the sets of these names that are in sets/, as the tables' markers name them. Raises
    UserError if two tables show different sets of one name."""
    found: dict[str, Path] = {}
    for table in known.tables.values():
        text = (definitions.ROOT / table.page).read_text(encoding="utf-8")
        standing = markers.published_tables(text).get(table.name)
        for name, short in zip(table.sets, standing.origin.sets if standing else (), strict=False):
            for folder in (definitions.ROOT / definitions.KEPT).glob(f"{short}*") if name in names else ():
                if found.setdefault(name, folder) != folder:
                    raise UserError(f"Two tables show different sets '{name}': {found[name].name} and {folder.name}.")
    return found


def chosen_sets(names: Collection[str], known: Definitions) -> list[str]:
    """Returns the names of the sets to measure. Raises UserError for a set that docs/figures.toml doesn't have, or has
    only for other processors."""
    machine = facts.machine()
    possible = known.sets_for(machine)
    for name in names:
        if name != ALL and known.command(name) and name not in possible:
            raise UserError(
                f"No table takes the set '{name}' from this machine's processor, {machine.get('cpu_model')}: "
                "docs/figures.toml names the processors of each table."
            )
    return possible if ALL in names else list(names)


def parse_set(text: str, known: Definitions) -> tuple[str, Path]:
    """Returns the name and folder in `--set=NAME=SET`. Raises UserError for a name that isn't in docs/figures.toml."""
    name, separator, folder = text.partition("=")
    if not separator:
        raise UserError(f"--set={text} isn't understood. Write it like --set=quick=results/latest.")
    known.command(name)
    return name, named(folder)


def measured(name: str, command: str) -> Path:
    """Runs the command of a set. Returns the set's folder; raises UserError if the run made none."""
    before = LATEST.resolve()
    say(f"Measuring the set '{name}': ./stackwars {command}")
    ended = subprocess.run([definitions.ROOT / "stackwars", *shlex.split(command)], check=False)
    folder = LATEST.resolve()
    if ended.returncode not in (0, FAILED) or folder == before:
        raise UserError(f"The set '{name}' wasn't measured: its command ended with exit code {ended.returncode}.")
    say(f"Measured: --set={name}={folder}")
    return folder


def is_ready(table: Definition, loaded: Mapping[str, Results]) -> bool:
    """Whether all sets of a table are given and ran on a processor that the table is for; the table of locks needs
    none. Prints why not, if some of the table's sets are given."""
    missing = [name for name in table.sets if name not in loaded]
    given = [name for name in table.sets if name in loaded]
    if any(not table.is_for(loaded[name].machine) for name in given):
        say(f"Not written: {table.name} is for {table.processors}; the set ran on another processor.")
        return False
    if missing and given:
        say(f"Not written: {table.name} needs the set '{missing[0]}' too.")
    return not missing


def is_written(table: Definition, loaded: Mapping[str, Results]) -> bool:
    """Writes a table into its page. Returns False, and prints why, if the table is refused."""
    page = definitions.ROOT / table.page
    try:
        text = markers.replaced(page.read_text(encoding="utf-8"), tables.published(table, loaded))
        for name in table.sets:  # only what isn't refused is kept
            keep(loaded[name].path)
    except UserError as refused:
        say(str(refused))
        return False
    page.write_text(text, encoding="utf-8")
    say(f"Wrote {table.name} into {table.page}.")
    return True


def keep(folder: Path) -> None:
    """Puts a set into this project's own, if it isn't there."""
    from suite.extras.archive.publish import publish
    from suite.extras.archive.storage import Storage

    kept = definitions.ROOT / definitions.KEPT
    if not (kept / manifest.read(folder).name).exists():
        publish(folder, Storage.of(str(kept)), say)


def print_tables(known: Definitions) -> None:
    """Prints a line for each published table: its page, its sets, and what is wrong with it."""
    lines = []
    for page in known.pages:
        standing = markers.published_tables((definitions.ROOT / page).read_text(encoding="utf-8"))
        for table in (table for table in known.tables.values() if table.page == page):
            printed = standing.get(table.name)
            comes_from = ", ".join(printed.origin.sets) if printed else ""
            problems = "; ".join(rules.broken_rules(table, printed)) if printed else "the page has no place for it"
            lines.append([table.name, page, ", ".join(table.sets), comes_from, problems])
    print_table("Published tables", ["table", "page", "sets", "comes from", "problems"], lines)


if __name__ == "__main__":
    run_tool("tools.figures", figures)
