"""The sets that a site is made from: those of a folder of results, or those of an archive. Each is checked before
anything of it is read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suite.archive import fetch, listing
from suite.archive.listing import Listed
from suite.archive.storage import Storage
from suite.errors import COMMAND, Damaged, UserError
from suite.results.store.manifest import SET_NAME
from suite.results.store.result_set import ResultSet

PROBLEMS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Refused:
    """A set that isn't shown: its name, or its folder's if it has none, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class SetSource:
    """A folder of results, or a storage of archives in place of it."""

    results: Path
    storage: Storage | None = None

    def listed(self) -> list[Listed]:
        """Returns every set once, oldest first; those that can't be shown have `trouble`.

        Raises UserError if the folder or archive doesn't exist, and for a folder of results that is given as an
        archive.
        """
        if self.storage is None:
            if not self.results.is_dir():
                raise UserError(f"There is no folder {self.results}. --results names a folder of result sets.")
            entries = [named(entry) for entry in listing.here(self.results)]
        else:
            entries = listing.of_storage(self.storage)
            if not entries and self.storage.is_local and listing.here(Path(self.storage.root)):
                raise UserError(
                    f"{self.storage.uri} has result sets and no archive: --results={self.storage.uri} reads them, "
                    f"`{COMMAND} archive` publishes one."
                )
        return [*{entry.name or entry.where: entry for entry in reversed(entries)}.values()][::-1]

    def unchanged(self, entry: Listed) -> bool:
        """Whether a set is as it was when a page was made of it, by its name. Of an archive, its manifest and the sizes
        of its files are compared, and nothing is downloaded; a set here is read as a whole."""
        try:
            if self.storage is None:
                return not ResultSet.open(Path(entry.where)).problems()
            return not fetch.differences(fetch.manifest_of(self.storage, entry.name), self.storage.files(entry.name))
        except UserError:
            return False

    @contextmanager
    def verified(self, entry: Listed) -> Iterator[Path]:
        """Yields the folder of a set, all of whose files are as its manifest says. Raises UserError for any other
        set."""
        if self.storage is not None:
            with tempfile.TemporaryDirectory(prefix="stack-wars-") as scratch:
                yield fetch.fetch(self.storage, entry.name, Path(scratch))
            return
        problems = ResultSet.open(Path(entry.where)).problems()
        if problems:
            raise Damaged("; ".join(problems[:PROBLEMS_SHOWN]))
        yield Path(entry.where)


def named(entry: Listed) -> Listed:
    """Returns an entry of a folder of results. It has `trouble` if the name by its manifest isn't an archive's name:
    such a name could be any path."""
    if entry.trouble or SET_NAME.fullmatch(entry.name):
        return entry
    return Listed("", entry.where, entry.facts, "the date or target in its manifest makes no name")
