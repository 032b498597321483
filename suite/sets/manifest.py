"""manifest.json: the name and facts of a whole set, and the digest and size of each of its files. It is written last.
Its content is checked before it is used, because a set may come from anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from suite.errors import COMMAND, Damaged, UserError
from suite.ir import files
from suite.sets import json_file
from suite.sets.files import sha256, write_json
from suite.sets.plan import PlanFile
from suite.sets.rows import Row, accepted
from suite.sets.schema import SCHEMA_VERSION

NAME = "manifest.json"
RESULTS, REPORT = "results.parquet", "report.html"
FILES = ("plan.json", "machine.json", "roofline.json", "ceilings.json", RESULTS, REPORT)
FOLDERS = ("inputs", "blocks", files.FOLDER)
# A set's name has 32 digits of the sha256, which are 128 bits. The signature covers all 64 digits.
DIGITS, ALL_DIGITS = 32, 64
SET_NAME = re.compile(r"\d{4}-\d\d-\d\d\.[a-z]{2,8}\.[0-9a-f]{32}")
DERIVED = (REPORT,)  # made from the other files, and made anew by whoever fetches the set
FILES_MAX, BYTES_MAX = 100_000, 64 * 2**30  # of a set
MANIFEST_BYTES_MAX = 64 * 2**20  # a manifest of 100,000 files has a fifth of this


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file's sha256 and size in bytes."""

    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    bytes: Annotated[int, Meta(ge=0)]


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a manifest says of its set, derived from the set's files. `locks` are digests by environment, `outcomes`
    counts of rows, `images` the digests of the images that ran by environment, `machine` is machine.json, and `code`
    the digests of what was asked and run by workload."""

    schema_version: int
    set_id: str
    created_at: str
    target: str
    command: str
    revision: str | None = None
    preset: str | None = None
    locks: dict[str, str | None] = {}
    stacks: list[str] = []
    outcomes: dict[str, int] = {}
    images: dict[str, list[str]] = {}
    machine: dict[str, Any] = {}
    code: dict[str, dict[str, str]] = {}


class Manifest(Facts, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A set's manifest: its facts and files. `stated` is the name that it gives, which has to be `name`."""

    files: dict[str, File]
    stated: str | None = msgspec.field(default=None, name="name")

    @property
    def name(self) -> str:
        """The set's name, `2026-11-21.cpu.3f2a91c0…`: date, target, and the digest of its content."""
        return self.called(DIGITS)

    def called(self, digits: int) -> str:
        """Returns the set's name with this many digits of the set's digest. That digest is computed from the digests of
        all files but the derived ones."""
        content = json.dumps(sorted((name, file.sha256) for name, file in self.files.items() if name not in DERIVED))
        return f"{self.created_at[:10]}.{self.target}.{hashlib.sha256(content.encode()).hexdigest()[:digits]}"

    @property
    def facts(self) -> dict[str, Any]:
        return {fact: getattr(self, fact) for fact in Facts.__struct_fields__}

    @property
    def published(self) -> Manifest:
        """The manifest as it is published: without derived files, which whoever fetches the set makes anew."""
        return replace(self, files={name: file for name, file in self.files.items() if name not in DERIVED})

    @property
    def nbytes(self) -> int:
        return sum(file.bytes for file in self.files.values())

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(replace(self, stated=self.name))
        return fields

    @classmethod
    def parsed(cls, data: bytes, where: str) -> Manifest:
        """Returns the manifest in a file's bytes. Raises UserError for another schema version, Damaged for an
        unreadable manifest, a fact, digest or size of the wrong type, a listed file that no set has or that lies
        outside of it, a set larger than any, and a name that doesn't follow from the files."""
        where = f"The manifest of {where}"
        version = json_file.decoded(Versioned, data, where).schema_version
        if version != SCHEMA_VERSION:
            raise UserError(f"{where} has schema version {str(version)[:20]}; this program reads {SCHEMA_VERSION}.")
        manifest: Manifest = json_file.decoded(cls, data, where)
        for path in manifest.files:
            check_part(where, path)
        count, nbytes = len(manifest.files), manifest.nbytes
        if count > FILES_MAX or nbytes > BYTES_MAX:
            raise Damaged(f"{where} lists more than any set has: {count:,} files, {nbytes:,} bytes.")
        if manifest.stated not in (None, manifest.name):
            raise Damaged(f"{where} has the name {str(manifest.stated)[:60]!r}, but its files make {manifest.name!r}.")
        return manifest


class Versioned(Struct):
    """The one field that a manifest of any version has."""

    schema_version: Any


def facts_of(file: PlanFile, rows: Sequence[Row], preset: str | None, machine: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "set_id": file.plan.set_id,
        "created_at": file.created_at,
        "target": file.target,
        "command": file.command,
        "revision": file.revision,
        "locks": dict(file.locks),
        "preset": preset,
        "stacks": sorted({row.stack_name for row in rows}),  # manifests are compared as they were written
        "outcomes": dict(Counter(row["outcome"] for row in accepted(rows))),
        "images": images(rows),
        "machine": dict(machine),
        "code": {workload: dict(digests) for workload, digests in file.code.items()},
    }


def images(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Returns {environment: digests of the images that ran}; there are several if an image was built again."""
    images_by_environment: dict[str, list[str]] = {}
    for name, image in sorted({(row["environment"], row["image_digest"]) for row in rows if row["image_digest"]}):
        images_by_environment.setdefault(name, []).append(image)
    return images_by_environment


def misstated(known: Manifest, derived: Mapping[str, Any]) -> list[str]:
    by_files = json.loads(json.dumps(derived))
    return [
        f"the manifest has another {fact} than the files"
        for fact, value in sorted(known.facts.items())
        if value != by_files[fact]
    ]


def check_part(where: str, file: str) -> None:
    """Raises Damaged for a name that no file of a set can have, or that leads out of the set."""
    path = PurePosixPath(file)
    plain = file == str(path) and not path.is_absolute() and ".." not in path.parts
    known = file in FILES or (len(path.parts) > 1 and path.parts[0] in FOLDERS)
    if not plain or not known or any(letter < " " or letter in "\\:" for letter in file):
        raise Damaged(f"{where} names {file[:120]!r}, which isn't a file of a set.")


def file_at(path: Path) -> File:
    return File(sha256(path), path.stat().st_size)


def write(folder: Path, facts: Mapping[str, Any], kept: Mapping[str, File]) -> None:
    """Writes the manifest, which marks a set as whole. It lists the files in `kept` as they are there, whatever the
    folder has now, and all other files as they are now."""
    anew = {name: file_at(path) for name, path in parts(folder).items() if name not in kept}
    write_json(folder / NAME, Manifest(**facts, files={**anew, **kept}).to_json())


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
    return Manifest.parsed(json_file.content(folder / NAME, MANIFEST_BYTES_MAX), str(folder))


def problems(folder: Path) -> list[str]:
    """Returns a line for each file that is missing, changed, added or not a plain file; none for an intact set."""
    if not (folder / NAME).is_file():
        return [f"{folder / NAME} is missing: the run didn't finish; `{COMMAND} run --resume={folder}` completes it"]
    listed = read(folder).files
    present = parts(folder)
    sound = {name: path for name, path in present.items() if stat.S_ISREG(path.lstat().st_mode)}
    changed = (name for name in sorted(listed.keys() & sound.keys()) if sha256(sound[name]) != listed[name].sha256)
    return (
        differences({*listed}, {*present})
        + [f"{name} is neither a file nor a folder" for name in sorted(present.keys() - sound.keys())]
        + [f"{name} was changed" for name in changed]
    )


def differences(listed: Set[str], present: Set[str]) -> list[str]:
    return [f"{name} is missing" for name in sorted(listed - present)] + [
        f"{name} isn't in the manifest" for name in sorted(present - listed)
    ]


def parts(folder: Path) -> dict[str, Path]:
    """Returns {name: path} of the files that a set's manifest covers. Attempts aren't among them, since results.parquet
    has all their rows, nor are logs."""
    paths = [path for name in FILES if os.path.lexists(path := folder / name)]
    for part in FOLDERS:
        paths += [path for path in sorted((folder / part).rglob("*")) if path.is_symlink() or not path.is_dir()]
    return {str(path.relative_to(folder)): path for path in paths if path.suffix != ".draft"}
