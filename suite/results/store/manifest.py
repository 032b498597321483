"""manifest.json: what a whole set is called, and each of its files with digest and size. Written last; its one reader
and writer. What stands in it is believed only as far as it can be checked: a set may come from anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from suite.errors import COMMAND, Damaged, UserError
from suite.ir import files
from suite.results.store.files import sha256, write_json
from suite.results.store.schema import SCHEMA_VERSION

NAME = "manifest.json"
RESULTS = "results.parquet"
FILES = ("plan.json", "machine.json", "roofline.json", "ceilings.json", RESULTS, "report.html")
FOLDERS = ("inputs", "blocks", files.FOLDER)
ATTEMPTS = "attempts"  # its rows are all in results.parquet, and only a run that goes on needs them
# Of the sha256: 128 bits in a name, all of it signed.
DIGITS, ALL_DIGITS = 32, 64
SET_NAME = re.compile(r"\d{4}-\d\d-\d\d\.[a-z]{2,8}\.[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")
DERIVED = ("report.html",)  # from the rest, and made anew by whoever has another version
FILES_MAX, BYTES_MAX = 100_000, 64 * 2**30
# What a manifest says of the set beside its files, all of it derived from them, by kind.
FACTS = (
    dict.fromkeys(("set_id", "created_at", "target", "command", "revision", "preset"), str)
    | dict.fromkeys(("locks", "outcomes", "images", "machine"), dict)
    | {"stacks": list}
)


@dataclass(frozen=True, slots=True)
class File:
    """What a manifest says of a file."""

    digest: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """Of one set. `facts`: its schema version, id, date, target, machine, images, locks and revision."""

    facts: Mapping[str, Any]
    files: Mapping[str, File]

    @property
    def name(self) -> str:
        """`2026-11-21.cpu.3f2a91c0…`: by date, target, and what is in it, so that one name is one content."""
        return self.called(DIGITS)

    def called(self, digits: int) -> str:
        """The name with so many digits of the digest over the digests of all files that aren't derived from others."""
        content = json.dumps(sorted((name, each.digest) for name, each in self.files.items() if name not in DERIVED))
        date, target = self.facts.get("created_at", "")[:10], self.facts.get("target", "")
        return f"{date}.{target}.{hashlib.sha256(content.encode()).hexdigest()[:digits]}"

    @property
    def published(self) -> Manifest:
        """Without what is derived, which whoever fetches it makes anew."""
        return replace(self, files={name: each for name, each in self.files.items() if name not in DERIVED})

    @property
    def nbytes(self) -> int:
        """Of all files whose size is known."""
        return sum(each.nbytes for each in self.files.values())

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        listed = {name: {"sha256": each.digest, "bytes": each.nbytes} for name, each in self.files.items()}
        return {**self.facts, "name": self.name, "files": listed}

    @classmethod
    def parsed(cls, data: bytes, where: str) -> Manifest:
        """From a file's bytes. Raises UserError, naming what is wrong: a name of a file that is no part of a set or
        lies outside of it, a digest or size that is none, a set larger than any."""
        try:
            facts = json.loads(data)
            version, listed = facts["schema_version"], facts.pop("files")
            stated = facts.pop("name", None)
            found = {name: file_of(each) for name, each in listed.items()}
            made = cls(facts, found)
            name = made.name
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
            raise Damaged(f"The manifest of {where} can't be read: {type(broken).__name__}.") from None
        if version != SCHEMA_VERSION:
            raise UserError(f"{where} has schema version {str(version)[:20]}; this program reads {SCHEMA_VERSION}.")
        check_facts(where, facts)
        for file, each in found.items():
            check_part(where, file)
            sized = type(each.nbytes) is int and each.nbytes >= 0
            if not (isinstance(each.digest, str) and DIGEST.fullmatch(each.digest) and sized):
                raise Damaged(f"The manifest of {where} has no digest and size for {file}.")
        if len(found) > FILES_MAX or made.nbytes > BYTES_MAX:
            raise Damaged(f"{where} would be larger than any set: {len(found):,} files, {made.nbytes:,} bytes.")
        if stated is not None and stated != name:
            raise Damaged(f"The manifest of {where} says {str(stated)[:60]!r}, and lists the files of {name!r}.")
        return made


def check_facts(where: str, facts: Mapping[str, Any]) -> None:
    """Raises UserError for a fact of another kind than it has in every set."""
    wrong = [fact for fact, kind in FACTS.items() if not isinstance(facts.get(fact), kind | None)]
    if not wrong:
        stacks, counts = facts.get("stacks") or [], (facts.get("outcomes") or {}).values()
        wrong += ["stacks"] * any(not isinstance(stack, str) for stack in stacks)
        wrong += ["outcomes"] * any(type(count) is not int for count in counts)
    if wrong:
        raise UserError(f"The manifest of {where} has another kind of {wrong[0]} than any set.")


def misstated(known: Manifest, derived: Mapping[str, Any]) -> list[str]:
    """What a manifest says of a set that its files don't."""
    told = json.loads(json.dumps(derived))
    facts = sorted(known.facts.keys() | told.keys())
    other = (fact for fact in facts if known.facts.get(fact) != told.get(fact))
    return [f"the manifest says another {fact} than the files" for fact in other]


def file_of(listed: Any) -> File:
    """One entry of a manifest."""
    return File(listed["sha256"], listed["bytes"])


def check_part(where: str, file: str) -> None:
    """Raises UserError for a name that no file of a set has, or that leads out of it."""
    path = PurePosixPath(file)
    plain = file == str(path) and not path.is_absolute() and ".." not in path.parts
    known = file in FILES or (len(path.parts) > 1 and path.parts[0] in (*FOLDERS, ATTEMPTS))
    if not plain or not known or any(ord(letter) < 32 or letter in "\\:" for letter in file):
        raise Damaged(f"The manifest of {where} names {file[:120]!r}, which is no file of a set.")


def described(folder: Path, facts: Mapping[str, Any]) -> Manifest:
    """Of a set's folder as it is."""
    return Manifest(facts, {name: File(sha256(path), path.stat().st_size) for name, path in parts(folder).items()})


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """The mark that a set is whole."""
    write_json(folder / NAME, described(folder, facts).to_json())


def read(folder: Path) -> Manifest:
    """Of a whole set. Raises UserError for one that can't be believed."""
    return Manifest.parsed((folder / NAME).read_bytes(), str(folder))


def problems(folder: Path) -> list[str]:
    """Files missing, changed or added since, and what is no file. Empty for an intact set."""
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
    """What of a set's folder a manifest covers, by name; logs are kept but not part of the result."""
    found = [path for name in FILES if os.path.lexists(path := folder / name)]
    for part in (*FOLDERS, ATTEMPTS) if attempts else FOLDERS:
        found += [path for path in sorted((folder / part).rglob("*")) if path.is_symlink() or not path.is_dir()]
    return {str(path.relative_to(folder)): path for path in found if path.suffix != ".draft"}


def is_plain(path: Path) -> bool:
    """Whether it is a file and nothing else: a link may lead anywhere."""
    return stat.S_ISREG(path.lstat().st_mode)
