"""Lists the sets of an archive, and finds one by the beginning of its name."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite.cli.sets.naming import LONGEST, only
from suite.errors import COMMAND, UserError
from suite.extras.archive import fetch
from suite.extras.archive.storage import AT_ONCE, Storage
from suite.extras.archive.web import archive_at
from suite.sets import manifest
from suite.sets.listing import Listed, here
from suite.sets.manifest import SET_NAME
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row


def listed(address: str) -> tuple[str, list[Listed]]:
    """Returns the address and the sets of an archive. A point of the core's command `sets`."""
    storage = archive_at(address)
    return storage.uri, of_storage(storage)


def fetched(name: str, address: str, results: Path) -> Path:
    """Returns the folder in `results` of a published set, which is fetched if it isn't there. A point of all commands
    that take a set."""
    storage = archive_at(address)
    folder = results / archived(name, storage)
    return folder if folder.exists() else fetch.fetch(storage, folder.name, results)


def sets_of(storage: Storage | None, results: Path) -> list[Listed]:
    """Returns the sets of an archive, or without one those in the folder `results`; oldest first."""
    return of_storage(storage) if storage else here(results)


def of_storage(storage: Storage) -> list[Listed]:
    """Returns the sets of an archive, oldest first, without unfinished uploads."""
    names = [name for name in storage.folders() if SET_NAME.fullmatch(name)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        listed = pool.map(lambda name: of_published(storage, name), names)
        return sorted(filter(None, listed), key=lambda entry: (entry.created_at, entry.name))


def of_published(storage: Storage, name: str) -> Listed | None:
    """Returns the entry of a published set; None if its upload was never finished."""
    try:
        if not storage.has(name, manifest.NAME):
            return None
        return Listed(name, storage.uri, fetch.manifest_of(storage, name).facts)
    except UserError as broken:
        return Listed(name, storage.uri, {}, str(broken))


def archived(text: str, storage: Storage) -> str:
    """Returns the name of the published set whose name or set id begins with `text`. A complete name is returned
    without looking whether there is such a set.

    Raises UserError if no published set has such a name, or if several have.
    """
    if SET_NAME.fullmatch(text):
        return text
    chosen = only(
        text, {listed.name: (str(listed.facts.get("set_id", "")), listed.name) for listed in of_storage(storage)}
    )
    if chosen is None:
        raise UserError(
            f"{storage.uri} has no set with a name that begins with {text[:LONGEST]!r}. Names look like "
            f"2026-11-21.cpu.3f2a91c; `{COMMAND} sets --from={storage.uri}` lists them."
        )
    return chosen


def rows_of(listed: Listed, storage: Storage | None, wanted: Collection[str]) -> list[Row]:
    """Returns the columns `wanted` of a whole set's rows, as `read_rows` does. Without `storage` the set is in a folder
    here. Raises UserError if the rows can't be read or, in a storage, aren't what the manifest says."""
    if storage:
        return fetch.rows_of(storage, listed.name, wanted)
    store = ResultSet.open(Path(listed.where))
    return read_rows(store.results_path, wanted, trusted=store.begun_here)
