"""Lists the sets in a folder, each with its name, date, machine, preset, stacks and outcomes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.errors import COMMAND, UserError
from suite.sets import manifest
from suite.sets.result_set import LATEST, ResultSet

OWN = Path(__file__).resolve().parents[2] / "sets"  # this project's own sets, in its checkout


@dataclass(frozen=True, slots=True)
class Listed:
    """One set in a list. `name` is its name in archives, `where` its folder or its archive's address, `facts` are those
    of its manifest. `trouble` says what is wrong with the set; it is empty if nothing is."""

    name: str
    where: str
    facts: Mapping[str, Any]
    trouble: str = ""

    @property
    def created_at(self) -> str:
        return str(self.facts.get("created_at") or "")


def here(results: Path) -> list[Listed]:
    """Returns the sets in a folder, oldest first. Unfinished and damaged sets are included."""
    return sorted(map(of_folder, folders(results)), key=lambda listed: (listed.created_at, listed.where))


def folders(results: Path) -> list[Path]:
    """Returns the folders of sets in a folder, and those that can't be read, without `latest`, be it the link or a copy
    of what it led to. Raises PermissionError if `results` itself can't be read."""
    inside = results.glob("[!.]*/") if results.is_dir() and [*results.iterdir()] else ()
    closed = [path for path in inside if not os.access(path, os.X_OK, effective_ids=True)]
    found = {path.parent for name in ("plan.json", manifest.NAME) for path in results.glob(f"[!.]*/{name}")}
    return sorted(path for path in {*closed, *found} if path.name != LATEST and not path.is_symlink())


def newest(results: Path) -> Path | None:
    """Returns the newest set in a folder that has rows; it may be a copy that is called `latest`."""
    known = map(of_folder, (*folders(results), results / LATEST))
    with_rows = [listed for listed in known if listed.facts.get("outcomes")]
    return Path(max(with_rows, key=lambda listed: listed.created_at).where) if with_rows else None


def of_folder(folder: Path) -> Listed:
    try:
        store = ResultSet.open(folder)
        if not store.is_whole:
            rest = f"not finished; `{COMMAND} run --resume={folder}` completes it"
            return Listed("", str(folder), store.facts(), rest)
        known = manifest.read(folder)
        if not store.results_path.is_file():
            return Listed(known.name, str(folder), {**known.facts, "outcomes": None}, store.lacks_rows)
    except (UserError, OSError) as broken:
        return Listed("", str(folder), {}, str(broken))
    return Listed(known.name, str(folder), known.facts)
