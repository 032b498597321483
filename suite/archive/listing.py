"""Which sets there are, here and in a place: each with its name, date, machine, preset, stacks and outcomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.archive import fetch
from suite.archive.fetch import manifest_of
from suite.archive.place import AT_ONCE, Place
from suite.errors import COMMAND, UserError
from suite.results.store import manifest
from suite.results.store.manifest import SET_NAME
from suite.results.store.parquet.reader import read_rows, understood
from suite.results.store.result_set import LATEST, ResultSet
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class Listed:
    """One set: its name as an archive has it, `facts` of its manifest, and what is wrong with it, if anything."""

    name: str
    where: str
    facts: Mapping[str, Any]
    trouble: str = ""

    @property
    def created_at(self) -> str:
        """The date and time; empty where nobody knows."""
        return str(self.facts.get("created_at") or "")


def here(results: Path) -> list[Listed]:
    """The sets of a folder, oldest first; those that aren't whole, too."""
    folders = (path.parent for path in results.glob("[!.]*/plan.json") if path.parent.name != LATEST)
    return sorted(map(of_folder, folders), key=lambda each: (each.created_at, each.where))


def of_folder(folder: Path) -> Listed:
    """A set that lies here."""
    try:
        store = ResultSet.open(folder)
        if not store.is_whole:
            rest = f"not finished; `{COMMAND} run --resume={folder}` completes it"
            return Listed("", str(folder), store.facts(), rest)
        known = manifest.read(folder)
    except (UserError, OSError) as broken:
        return Listed("", str(folder), {}, str(broken))
    return Listed(known.name, str(folder), known.facts)


def of_place(place: Place) -> list[Listed]:
    """The archives of a place, oldest first. What was never finished there isn't one."""
    names = [name for name in place.folders() if SET_NAME.fullmatch(name)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = pool.map(lambda name: of_archive(place, name), names)
        return sorted((each for each in found if each), key=lambda each: (each.created_at, each.name))


def of_archive(place: Place, name: str) -> Listed | None:
    """One archive; None where an upload hasn't come to its end."""
    try:
        if not place.has(name, manifest.NAME):
            return None
        return Listed(name, place.uri, manifest_of(place, name).facts)
    except UserError as broken:
        return Listed(name, place.uri, {}, str(broken))


def rows_of(listed: Listed, place: Place | None, wanted: Collection[str], having: Any = None) -> list[Row]:
    """Columns of a whole set's rows, here or in a place, as `read_rows` gives them. Raises UserError for a set whose
    rows can't be read, or aren't those of its manifest."""
    if place:
        return fetch.rows_of(place, listed.name, wanted, having)
    path = Path(listed.where) / manifest.RESULTS
    with understood(path):
        return read_rows(path, wanted, having)
