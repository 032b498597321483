"""An archive comes here, or is checked where it lies. Nothing that it says of itself is believed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from suite.archive.place import AT_ONCE, Place
from suite.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX
from suite.errors import COMMAND, Damaged, UserError
from suite.results.store import manifest
from suite.results.store.files import check_gzip, check_writable
from suite.results.store.manifest import DERIVED, RESULTS, SET_NAME, Manifest
from suite.results.store.one_command import sole
from suite.results.store.parquet.reader import read_rows, understood
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row

TELLING = ("plan.json", "machine.json", RESULTS)  # and presets: what a manifest's facts are derived from


def check_name(name: str) -> str:
    """A set's name as archives have them. Raises UserError for any other, which could be a path."""
    if not SET_NAME.fullmatch(name):
        raise UserError(
            f"{name[:80]!r} is no archive's name: they look like 2026-11-21.cpu.3f2a91c0… with 32 digits; "
            f"`{COMMAND} sets` lists them."
        )
    return name


def manifest_of(place: Place, name: str) -> Manifest:
    """What an archive says that it has. Raises UserError where there is none, or none that can be believed."""
    try:
        data = place.read(check_name(name), manifest.NAME)
    except FileNotFoundError:
        raise UserError(f"{place.uri} has no archive {name}.") from None
    found = Manifest.parsed(data, name)
    if found.name != name:
        raise Damaged(f"The manifest of {name} is that of {found.name}.")
    return found


def verify(place: Place, name: str) -> list[str]:
    """Files missing, changed or added since an archive was published, and facts of its manifest that its files don't
    say; empty for an intact one."""
    known = manifest_of(place, name)
    there = place.files(name)
    problems = differences(known, there)
    sound = [file for file, listed in known.files.items() if there.get(file, listed.nbytes) == listed.nbytes]
    sound = [file for file in sound if file in there and file not in DERIVED]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            digests = dict(zip(sound, pool.map(lambda file: digest(place, known, file, folder), sound), strict=True))
        problems += [f"{file} was changed" for file, found in digests.items() if found != known.files[file].digest]
        return problems or ResultSet.open(folder).misstated(known)


def digest(place: Place, known: Manifest, file: str, folder: Path) -> str:
    """The sha256 of a file; what says something of the whole set is kept in a folder."""
    if file in TELLING or file.endswith(".toml"):
        return place.download(known.name, file, folder / file, known.files[file].nbytes)
    return place.sha256(known.name, file)


def differences(known: Manifest, there: dict[str, int]) -> list[str]:
    """Files missing, of another size, or added, as far as a listing tells. Nobody asks for pages: until version 8 they
    were archived."""
    listed = {file: each for file, each in known.files.items() if file not in DERIVED}
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


def fetch(place: Place, name: str, results: Path) -> Path:
    """An archive into a folder of its name, but for its page. Raises UserError for one that is suspicious in any way,
    and for one that isn't what its manifest says: then nothing of it stays. Its manifest is written anew, from its
    files."""
    known = manifest_of(place, name)
    folder = results / name
    there = place.files(name)
    problems = differences(known, there)
    if problems:
        raise UserError(f"{name} isn't what its manifest says: {'; '.join(problems[:3])}. Nothing was written.")
    check_writable(results)
    draft = results / f".{name}.fetching"
    with sole(folder):
        if folder.exists():
            raise UserError(f"{folder} is there already; `{COMMAND} verify --set={folder}` checks it.")
        shutil.rmtree(draft, ignore_errors=True)  # of a fetch that was cut short
        try:
            download(place, known, draft)
            if SIGNATURE in there:
                place.download(name, SIGNATURE, draft / SIGNATURE, SIGNATURE_BYTES_MAX)
            store = ResultSet.open(draft)
            if misstated := store.misstated(known):
                raise UserError(f"{name}: {'; '.join(misstated[:3])}. Nothing of it was kept.")
            store.seal()
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def download(place: Place, known: Manifest, draft: Path) -> None:
    """Every file of an archive but its page. Raises UserError for one that was changed, or was made to fill a disk."""
    wanted = [file for file in known.files if file not in DERIVED]

    def one(file: str) -> str:
        found = place.download(known.name, file, draft / file, known.files[file].nbytes)
        if file.endswith(".gz"):
            check_gzip(draft / file)
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        came = dict(zip(wanted, pool.map(one, wanted), strict=True))
    changed = [file for file, found in came.items() if found != known.files[file].digest]
    if changed:
        raise UserError(f"{known.name} isn't what its manifest says: {changed[0]} was changed. Nothing of it was kept.")


def signed(place: Place, name: str) -> tuple[Manifest, bytes | None]:
    """An archive's manifest, and its signature if it has one."""
    found = place.read(name, SIGNATURE, SIGNATURE_BYTES_MAX) if place.has(name, SIGNATURE) else None
    return manifest_of(place, name), found


def rows_of(place: Place, name: str, wanted: Collection[str], having: Any = None) -> list[Row]:
    """Columns of an archive's rows, as `read_rows` gives them. Raises UserError where they aren't those of its
    manifest."""
    known = manifest_of(place, name).files.get(RESULTS)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / RESULTS
        if known is None or place.download(name, RESULTS, path, known.nbytes) != known.digest:
            raise UserError(f"{RESULTS} of {name} isn't what its manifest says.")
        with understood(path):
            return read_rows(path, wanted, having)
