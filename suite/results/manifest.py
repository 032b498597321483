"""manifest.json: the sha256 of every archived file of a set, written last. Its one reader and writer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suite.ir import files
from suite.results.files import sha256, write_json

NAME = "manifest.json"
ARCHIVED = ("plan.json", "machine.json", "roofline.json", "ceilings.json", "ceiling.json", "results.parquet",
            "report.html")  # fmt: skip
ARCHIVED_FOLDERS = ("inputs", "attempts", "blocks", files.FOLDER)


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """The mark that a set is whole; `facts` are what it says beside its files."""
    listed = {str(path.relative_to(folder)): sha256(path) for path in archived(folder)}
    write_json(folder / NAME, {**facts, "files": listed})


def problems(folder: Path) -> list[str]:
    """Files missing, changed or added since. Empty for an intact set."""
    path = folder / NAME
    if not path.is_file():
        return [f"{path} is missing: the run didn't finish; --resume={folder} completes it"]
    listed = json.loads(path.read_text(encoding="utf-8"))["files"]
    present = {str(found.relative_to(folder)): found for found in archived(folder)}
    return (
        [f"{name} is missing" for name in sorted(listed.keys() - present.keys())]
        + [f"{name} isn't in the manifest" for name in sorted(present.keys() - listed.keys())]
        + [f"{n} was changed" for n in sorted(listed.keys() & present.keys()) if sha256(present[n]) != listed[n]]
    )


def archived(folder: Path) -> list[Path]:
    """The files that a manifest covers; logs are kept but not part of the result."""
    found = [folder / name for name in ARCHIVED]
    found += [p for part in ARCHIVED_FOLDERS for p in sorted((folder / part).rglob("*")) if p.suffix != ".draft"]
    return [path for path in found if path.is_file()]
