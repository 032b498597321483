"""Fetches a published set, or verifies it in its archive. Everything that a set says about itself is checked first."""

from __future__ import annotations

import shutil
import tempfile
from collections import deque
from collections.abc import Collection
from pathlib import Path

from suite.errors import COMMAND, Damaged, UserError
from suite.extras.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX
from suite.extras.archive.storage import Storage, changed
from suite.sets import manifest
from suite.sets.files import check_writable, gunzipped, sole
from suite.sets.manifest import DERIVED, RESULTS, SET_NAME, File, Manifest
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row

FACT_FILES = ("plan.json", "machine.json", RESULTS)  # the facts in a manifest come from these files and the presets


def check_name(name: str) -> str:
    """Returns the name of a published set unchanged. Raises UserError for any other text, because that could be a
    path."""
    if not SET_NAME.fullmatch(name):
        raise UserError(
            f"{name[:80]!r} isn't the name of a published set. Such names look like 2026-11-21.cpu.3f2a91c0… with 32 "
            f"digits; `{COMMAND} sets` lists them."
        )
    return name


def manifest_of(storage: Storage, name: str) -> Manifest:
    """Returns a published set's manifest. Raises UserError if there is no such set, Damaged if its manifest isn't valid
    or belongs to another set."""
    try:
        data = storage.read(check_name(name), manifest.NAME)
    except FileNotFoundError:
        raise UserError(f"{storage.uri} has no set {name}.") from None
    parsed = Manifest.parsed(data, name)
    if parsed.name != name:
        raise Damaged(f"The manifest of {name} is that of {parsed.name}.")
    return parsed


def verify(storage: Storage, name: str) -> list[str]:
    """Returns what is wrong with a published set; nothing for an intact one. Files may be missing, changed or added. If
    all files are right, facts in the manifest may contradict them."""
    known = manifest_of(storage, name)
    stored = storage.files(name)
    complete = [file for file, entry in wanted(known).items() if stored.get(file) == entry.bytes]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)

        def digest(file: str) -> str:
            if file in FACT_FILES or file.endswith(".toml"):
                return storage.download(name, file, folder / file, known.files[file].bytes)
            return storage.sha256(name, file)

        problems = unlike(known, stored)
        problems += [f"{file} was changed" for file in changed(known, complete, digest)]
        return problems or ResultSet.open(folder).misstated(known)


def wanted(known: Manifest) -> dict[str, File]:
    """Returns the files of a set that are read: pages aren't, because they are made anew."""
    return {file: entry for file, entry in known.files.items() if file not in DERIVED}


def unlike(known: Manifest, stored: dict[str, int]) -> list[str]:
    """Returns which files are missing, have another size or were added. `stored` is {file: bytes} in the storage."""
    listed = wanted(known)
    return manifest.differences({*listed}, stored.keys() - {manifest.NAME, SIGNATURE, *DERIVED}) + [
        f"{file} has {stored[file]:,} bytes, {listed[file].bytes:,} in the manifest"
        for file in sorted(listed.keys() & stored.keys())
        if stored[file] != listed[file].bytes
    ]


def fetch(storage: Storage, name: str, results: Path) -> Path:
    """Downloads a published set, without its page, into a folder of its name, and returns the folder. The manifest is
    written anew from the files. Raises UserError, and keeps nothing, if the set isn't what its manifest says, or isn't
    safe."""
    known = manifest_of(storage, name)
    folder = results / name
    stored = storage.files(name)
    if problems := unlike(known, stored):
        raise UserError(f"{name} isn't what its manifest says: {'; '.join(problems[:3])}. Nothing was written.")
    check_writable(results)
    draft = results / f".{name}.fetching"
    with sole(folder):
        if folder.exists():
            raise UserError(f"{folder} exists already; `{COMMAND} verify --set={folder}` checks it.")
        shutil.rmtree(draft, ignore_errors=True)  # left by a fetch that was cut short
        try:
            download(storage, known, draft)
            if SIGNATURE in stored:
                storage.download(name, SIGNATURE, draft / SIGNATURE, SIGNATURE_BYTES_MAX)
            store = ResultSet.open(draft)
            if misstated := store.misstated(known):
                raise UserError(f"{name}: {'; '.join(misstated[:3])}. Nothing was kept.")
            store.seal(known.facts)
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def download(storage: Storage, known: Manifest, draft: Path) -> None:
    """Downloads every file of a published set except its page. Raises UserError if a file was changed, or is too large
    when it is unpacked."""

    def checked(file: str) -> str:
        sha256 = storage.download(known.name, file, draft / file, known.files[file].bytes)
        if file.endswith(".gz"):
            deque(gunzipped(draft / file), maxlen=0)  # raises for one that is too large
        return sha256

    if others := changed(known, [*wanted(known)], checked):
        raise UserError(f"{known.name} isn't what its manifest says: {others[0]} was changed. Nothing was kept.")


def signature_of(storage: Storage, name: str) -> bytes | None:
    return storage.read(name, SIGNATURE, SIGNATURE_BYTES_MAX) if storage.has(name, SIGNATURE) else None


def rows_of(storage: Storage, name: str, columns: Collection[str]) -> list[Row]:
    """Returns these columns of a published set's rows, as `read_rows` does. Raises UserError if the file with
    the rows isn't what the manifest says."""
    known = manifest_of(storage, name).files.get(RESULTS)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / RESULTS
        if known is None or storage.download(name, RESULTS, path, known.bytes) != known.sha256:
            raise UserError(f"{RESULTS} of {name} isn't what its manifest says.")
        return read_rows(path, columns)
