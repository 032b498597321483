"""Lists and checks the sets from which a site is made: those in a folder of results, or those in an archive. The
content of a set is used only after the check."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suite.errors import COMMAND, Damaged, UserError
from suite.extras.archive import fetch, listing
from suite.extras.archive.storage import Storage
from suite.sets.listing import Listed, here
from suite.sets.manifest import SET_NAME
from suite.sets.result_set import ResultSet

PROBLEMS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class SetSource:
    """Where the sets of a site come from: `storage` if it is given, else the folder `results`."""

    results: Path
    storage: Storage | None = None

    def listed(self) -> list[Listed]:
        """Returns every set once, oldest first. A set that can't be shown has `trouble`.

        Raises UserError if the folder or storage doesn't exist, and if a folder of results was given as a storage.
        """
        if self.storage is None:
            if not self.results.is_dir():
                raise UserError(f"There is no folder {self.results}. --results names a folder of result sets.")
            entries = [named(entry) for entry in here(self.results)]
        else:
            entries = listing.of_storage(self.storage)
            if not entries and self.storage.is_local and here(Path(self.storage.root)):
                raise UserError(
                    f"{self.storage.uri} has result sets, but no published ones: --results={self.storage.uri} reads "
                    f"them, `{COMMAND} archive` publishes one."
                )
        return [*{entry.name or entry.where: entry for entry in reversed(entries)}.values()][::-1]

    @contextmanager
    def verified(self, entry: Listed) -> Iterator[Path]:
        """Yields the folder of a set: the set's own, or that of a download. Raises UserError if the set isn't what its
        manifest says."""
        if self.storage is not None:
            with tempfile.TemporaryDirectory(prefix="stack-wars-") as scratch:
                yield fetch.fetch(self.storage, entry.name, Path(scratch))
            return
        problems = ResultSet.open(Path(entry.where)).problems()
        if problems:
            raise Damaged("; ".join(problems[:PROBLEMS_SHOWN]))
        yield Path(entry.where)


def named(entry: Listed) -> Listed:
    """Returns the entry of a set in a folder unchanged. If the name in its manifest isn't valid, returns an entry with
    `trouble` instead, because such a name could be any path."""
    if entry.trouble or SET_NAME.fullmatch(entry.name):
        return entry
    return Listed("", entry.where, entry.facts, "the date or target in its manifest makes no name")
