"""Fetches a published set, or verifies it in its archive. Everything that a set says about itself is checked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from suite.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX
from suite.archive.storage import AT_ONCE, Storage
from suite.errors import COMMAND, Damaged, UserError
from suite.results.store import manifest
from suite.results.store.files import check_gzip, check_writable
from suite.results.store.manifest import DERIVED, RESULTS, SET_NAME, Manifest
from suite.results.store.one_command import sole
from suite.results.store.parquet.reader import read_rows, understood
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row

FACT_FILES = ("plan.json", "machine.json", RESULTS)  # from these and the presets come the facts of a manifest


def check_name(name: str) -> str:
    """Returns a published set's name unchanged. Raises UserError for any other text, which could be a path."""
    if not SET_NAME.fullmatch(name):
        raise UserError(
            f"{name[:80]!r} is no published set's name: such names look like 2026-11-21.cpu.3f2a91c0… with 32 digits; "
            f"`{COMMAND} sets` lists them."
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
    """Returns what is wrong with a published set: files that are missing, changed or added; if there are none, facts of
    the manifest that the files contradict. Empty for an intact set."""
    known = manifest_of(storage, name)
    there = storage.files(name)
    problems = differences(known, there)
    sound = [file for file, listed in known.files.items() if there.get(file, listed.nbytes) == listed.nbytes]
    sound = [file for file in sound if file in there and file not in DERIVED]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            digests = dict(zip(sound, pool.map(lambda file: digest(storage, known, file, folder), sound), strict=True))
        problems += [f"{file} was changed" for file, sha256 in digests.items() if sha256 != known.files[file].digest]
        return problems or ResultSet.open(folder).misstated(known)


def digest(storage: Storage, known: Manifest, file: str, folder: Path) -> str:
    """Returns the sha256 of a file. Files from which the manifest's facts come are kept in `folder`."""
    if file in FACT_FILES or file.endswith(".toml"):
        return storage.download(known.name, file, folder / file, known.files[file].nbytes)
    return storage.sha256(known.name, file)


def differences(known: Manifest, there: dict[str, int]) -> list[str]:
    """Returns which files are missing, have another size or were added, from a listing of the storage, `there`. Pages
    are ignored."""
    listed = {file: entry for file, entry in known.files.items() if file not in DERIVED}
    added = there.keys() - known.files.keys() - {manifest.NAME, SIGNATURE}
    return (
        [f"{file} is missing" for file in sorted(listed.keys() - there.keys())]
        + [f"{file} isn't in the manifest" for file in sorted(added)]
        + [
            f"{file} has {there[file]:,} bytes, {listed[file].nbytes:,} in the manifest"
            for file in sorted(listed.keys() & there.keys())
            if there[file] != listed[file].nbytes
        ]
    )


def fetch(storage: Storage, name: str, results: Path) -> Path:
    """Downloads a published set, without its page, into a folder of its name, and returns the folder. Writes a new
    manifest from the files. Raises UserError, and keeps nothing, if the set isn't as its manifest says or is unsafe."""
    known = manifest_of(storage, name)
    folder = results / name
    there = storage.files(name)
    problems = differences(known, there)
    if problems:
        raise UserError(f"{name} isn't what its manifest says: {'; '.join(problems[:3])}. Nothing was written.")
    check_writable(results)
    draft = results / f".{name}.fetching"
    with sole(folder):
        if folder.exists():
            raise UserError(f"{folder} exists already; `{COMMAND} verify --set={folder}` checks it.")
        shutil.rmtree(draft, ignore_errors=True)  # left by a fetch that was cut short
        try:
            download(storage, known, draft)
            if SIGNATURE in there:
                storage.download(name, SIGNATURE, draft / SIGNATURE, SIGNATURE_BYTES_MAX)
            store = ResultSet.open(draft)
            if misstated := store.misstated(known):
                raise UserError(f"{name}: {'; '.join(misstated[:3])}. Nothing was kept.")
            store.seal()
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def download(storage: Storage, known: Manifest, draft: Path) -> None:
    """Downloads every file of a published set except its page. Raises UserError if a file was changed, or is too large
    when it is unpacked."""
    wanted = [file for file in known.files if file not in DERIVED]

    def checked(file: str) -> str:
        sha256 = storage.download(known.name, file, draft / file, known.files[file].nbytes)
        if file.endswith(".gz"):
            check_gzip(draft / file)
        return sha256

    with ThreadPoolExecutor(AT_ONCE) as pool:
        digests = dict(zip(wanted, pool.map(checked, wanted), strict=True))
    changed = [file for file, sha256 in digests.items() if sha256 != known.files[file].digest]
    if changed:
        raise UserError(f"{known.name} isn't what its manifest says: {changed[0]} was changed. Nothing was kept.")


def signed(storage: Storage, name: str) -> tuple[Manifest, bytes | None]:
    """Returns a published set's manifest, and its signature if it has one."""
    signature = storage.read(name, SIGNATURE, SIGNATURE_BYTES_MAX) if storage.has(name, SIGNATURE) else None
    return manifest_of(storage, name), signature


def rows_of(storage: Storage, name: str, wanted: Collection[str], having: Any = None) -> list[Row]:
    """Returns the columns `wanted` of a published set's rows, as `read_rows` does. Raises UserError if the file of rows
    isn't as the manifest says."""
    known = manifest_of(storage, name).files.get(RESULTS)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / RESULTS
        if known is None or storage.download(name, RESULTS, path, known.nbytes) != known.digest:
            raise UserError(f"{RESULTS} of {name} isn't what its manifest says.")
        with understood(path):
            return read_rows(path, wanted, having)
