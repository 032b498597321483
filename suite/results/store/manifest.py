"""Reads and writes manifest.json: the name and facts of a whole set, and the digest and size of each of its files. It
is written last. Its content is checked before it is used, because a set may come from anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from suite.errors import COMMAND, Damaged, UserError
from suite.ir import files
from suite.results.store.files import sha256, write_json
from suite.results.store.plan_file import PlanFile
from suite.results.store.rows import CASE, Row, accepted
from suite.results.store.schema import SCHEMA_VERSION

NAME = "manifest.json"
RESULTS, REPORT = "results.parquet", "report.html"
FILES = ("plan.json", "machine.json", "roofline.json", "ceilings.json", RESULTS, REPORT)
FOLDERS = ("inputs", "blocks", files.FOLDER)
ATTEMPTS = "attempts"  # results.parquet has all its rows, and only a resumed run needs it
# A set's name has 32 digits of the sha256, which are 128 bits. The signature covers all 64 digits.
DIGITS, ALL_DIGITS = 32, 64
SET_NAME = re.compile(r"\d{4}-\d\d-\d\d\.[a-z]{2,8}\.[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")
DERIVED = (REPORT,)  # made from the other files, and made anew by whoever fetches the set
FILES_MAX, BYTES_MAX = 100_000, 64 * 2**30
# The facts that a manifest has beside its list of files, each with its type. All are derived from the files.
FACTS = (
    dict.fromkeys(("set_id", "created_at", "target", "command", "revision", "preset"), str)
    | dict.fromkeys(("locks", "outcomes", "images", "machine"), dict)
    | {"stacks": list}
)

# The columns that the facts are derived from.
FACT_COLUMNS = frozenset(
    {
        *CASE,
        "schema_version",
        "case_id",
        "case_name",
        "comparison_id",
        "inferred_from",
        "block",
        "replicate",
        "purpose",
        "retry",
        "outcome",
        "flags",
        "environment",
        "image_digest",
    }
)


@dataclass(frozen=True, slots=True)
class File:
    """A file's sha256 and size in bytes, as the manifest lists them."""

    digest: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """A set's manifest. `facts` has its schema version, id, date, target, machine, images, locks and revision."""

    facts: Mapping[str, Any]
    files: Mapping[str, File]

    @property
    def name(self) -> str:
        """Returns the set's name, `2026-11-21.cpu.3f2a91c0…`: date, target, and the digest of its content."""
        return self.called(DIGITS)

    def called(self, digits: int) -> str:
        """Returns the set's name with this many digits of the set's digest. That digest is computed from the digests of
        all files but the derived ones."""
        content = json.dumps(sorted((name, file.digest) for name, file in self.files.items() if name not in DERIVED))
        date, target = self.facts.get("created_at", "")[:10], self.facts.get("target", "")
        return f"{date}.{target}.{hashlib.sha256(content.encode()).hexdigest()[:digits]}"

    @property
    def published(self) -> Manifest:
        """Returns the manifest as it is published: without derived files, which whoever fetches the set makes anew."""
        return replace(self, files={name: file for name, file in self.files.items() if name not in DERIVED})

    @property
    def nbytes(self) -> int:
        """Returns the bytes of all files."""
        return sum(file.nbytes for file in self.files.values())

    def to_json(self) -> dict[str, Any]:
        """Returns the manifest as a plain dict."""
        listed = {name: {"sha256": file.digest, "bytes": file.nbytes} for name, file in self.files.items()}
        return {**self.facts, "name": self.name, "files": listed}

    @classmethod
    def parsed(cls, data: bytes, where: str) -> Manifest:
        """Returns the manifest in a file's bytes. Raises UserError for an unreadable manifest, another schema version,
        a fact of the wrong type, a listed file that no set has or that lies outside of it, a malformed digest or size,
        a set larger than any, and a name that doesn't follow from the files."""
        try:
            facts = json.loads(data)
            version, listed = facts["schema_version"], facts.pop("files")
            stated = facts.pop("name", None)
            manifest = cls(facts, {name: file_of(entry) for name, entry in listed.items()})
            name = manifest.name
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
            raise Damaged(f"The manifest of {where} can't be read: {type(broken).__name__}.") from None
        if version != SCHEMA_VERSION:
            raise UserError(f"{where} has schema version {str(version)[:20]}; this program reads {SCHEMA_VERSION}.")
        check_facts(where, facts)
        for path, file in manifest.files.items():
            check_part(where, path)
            sized = type(file.nbytes) is int and file.nbytes >= 0
            if not (isinstance(file.digest, str) and DIGEST.fullmatch(file.digest) and sized):
                raise Damaged(f"The manifest of {where} has no valid digest and size for {path}.")
        count, nbytes = len(manifest.files), manifest.nbytes
        if count > FILES_MAX or nbytes > BYTES_MAX:
            raise Damaged(f"The manifest of {where} lists more than any set has: {count:,} files, {nbytes:,} bytes.")
        if stated is not None and stated != name:
            raise Damaged(f"The manifest of {where} has the name {str(stated)[:60]!r}, but its files make {name!r}.")
        return manifest


def facts_of(file: PlanFile, rows: Sequence[Row], preset: str | None, machine: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the facts of a set's manifest. `rows` need the columns of `FACT_COLUMNS`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "set_id": file.plan.set_id,
        "created_at": file.created_at,
        "target": file.target,
        "command": file.command,
        "revision": file.revision,
        "locks": dict(file.locks),
        "preset": preset,
        "stacks": sorted({row.stack_name for row in rows}),
        "outcomes": dict(Counter(row["outcome"] for row in accepted(rows))),
        "images": images(rows),
        "machine": machine,
    }


def images(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Returns {environment: digests of the images that ran}; there are several if an image was built again."""
    images_by_environment: dict[str, list[str]] = {}
    for name, image in sorted({(row["environment"], row["image_digest"]) for row in rows if row["image_digest"]}):
        images_by_environment.setdefault(name, []).append(image)
    return images_by_environment


def check_facts(where: str, facts: Mapping[str, Any]) -> None:
    """Raises UserError if a fact doesn't have the type that it has in every set."""
    wrong = [fact for fact, kind in FACTS.items() if not isinstance(facts.get(fact), kind | None)]
    if not wrong:
        stacks, counts = facts.get("stacks") or [], (facts.get("outcomes") or {}).values()
        wrong += ["stacks"] * any(not isinstance(stack, str) for stack in stacks)
        wrong += ["outcomes"] * any(type(count) is not int for count in counts)
    if wrong:
        raise UserError(f"The manifest of {where} has {wrong[0]!r} of the wrong type.")


def misstated(known: Manifest, derived: Mapping[str, Any]) -> list[str]:
    """Returns a sentence for each fact of a manifest that differs from the fact derived from the files."""
    by_files = json.loads(json.dumps(derived))
    facts = sorted(known.facts.keys() | by_files.keys())
    wrong = (fact for fact in facts if known.facts.get(fact) != by_files.get(fact))
    return [f"the manifest has another {fact} than the files" for fact in wrong]


def file_of(listed: Any) -> File:
    """Returns the file in one entry of a manifest's JSON."""
    return File(listed["sha256"], listed["bytes"])


def check_part(where: str, file: str) -> None:
    """Raises UserError for a name that no file of a set can have, or that leads out of the set."""
    path = PurePosixPath(file)
    plain = file == str(path) and not path.is_absolute() and ".." not in path.parts
    known = file in FILES or (len(path.parts) > 1 and path.parts[0] in (*FOLDERS, ATTEMPTS))
    if not plain or not known or any(ord(letter) < 32 or letter in "\\:" for letter in file):
        raise Damaged(f"The manifest of {where} names {file[:120]!r}, which isn't a file of a set.")


def described(folder: Path, facts: Mapping[str, Any]) -> Manifest:
    """Returns the manifest of the files that a set's folder has now."""
    return Manifest(facts, {name: file_at(path) for name, path in parts(folder).items()})


def file_at(path: Path) -> File:
    """Returns the digest and size that a file has now."""
    return File(sha256(path), path.stat().st_size)


def write(folder: Path, facts: Mapping[str, Any], kept: Mapping[str, File]) -> None:
    """Writes the manifest, which marks a set as whole. It lists the files in `kept` as they are there, whatever the
    folder has now, and all other files as they are now."""
    anew = {name: file_at(path) for name, path in parts(folder).items() if name not in kept}
    write_json(folder / NAME, Manifest(facts, {**anew, **kept}).to_json())


def written_once(folder: Path) -> dict[str, File]:
    """Returns what the manifest lists of the folders, whose files are written once and never change. A later manifest
    of the set keeps these entries, so that `problems` still finds a file that was changed or deleted meanwhile. Empty
    for a set that isn't whole. Raises UserError as `read` does."""
    listed = read(folder).files if (folder / NAME).exists() else {}
    return {name: file for name, file in listed.items() if name.partition("/")[0] in FOLDERS}


def list_again(folder: Path, name: str) -> None:
    """Writes the manifest of a whole set again with the digest that the file `name` has now; everything else in it
    stays. Raises UserError as `read` does."""
    known = read(folder)
    write_json(folder / NAME, replace(known, files={**known.files, name: file_at(folder / name)}).to_json())


def read(folder: Path) -> Manifest:
    """Returns the manifest of a whole set. Raises UserError as `Manifest.parsed` does."""
    return Manifest.parsed((folder / NAME).read_bytes(), str(folder))


def problems(folder: Path) -> list[str]:
    """Returns a line for each file that is missing, changed, added or not a plain file; none for an intact set."""
    if not (folder / NAME).is_file():
        return [f"{folder / NAME} is missing: the run didn't finish; `{COMMAND} run --resume={folder}` completes it"]
    listed = read(folder).files
    present = parts(folder, attempts=any(name.startswith(f"{ATTEMPTS}/") for name in listed))
    sound = {name: path for name, path in present.items() if is_plain(path)}
    changed = (name for name in sorted(listed.keys() & sound.keys()) if sha256(sound[name]) != listed[name].digest)
    return (
        [f"{name} is missing" for name in sorted(listed.keys() - present.keys())]
        + [f"{name} isn't in the manifest" for name in sorted(sound.keys() - listed.keys())]
        + [f"{name} is neither a file nor a folder" for name in sorted(present.keys() - sound.keys())]
        + [f"{name} was changed" for name in changed]
    )


def parts(folder: Path, *, attempts: bool = False) -> dict[str, Path]:
    """Returns {name: path} of the files that a set's manifest covers; logs are kept, but aren't part of the result."""
    paths = [path for name in FILES if os.path.lexists(path := folder / name)]
    for part in (*FOLDERS, ATTEMPTS) if attempts else FOLDERS:
        paths += [path for path in sorted((folder / part).rglob("*")) if path.is_symlink() or not path.is_dir()]
    return {str(path.relative_to(folder)): path for path in paths if path.suffix != ".draft"}


def is_plain(path: Path) -> bool:
    """Whether a path is a regular file: a link may lead anywhere."""
    return stat.S_ISREG(path.lstat().st_mode)
