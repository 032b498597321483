"""An archive comes here, or is checked where it lies. Nothing that it says of itself is believed."""

from __future__ import annotations

import shutil
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from suite.archive.place import AT_ONCE, Place
from suite.errors import COMMAND, Damaged, UserError
from suite.results import manifest
from suite.results.files import check_writable
from suite.results.manifest import BYTES_MAX, SET_NAME, Manifest

GROWTH_MAX = 200  # bytes of a file unpacked over those packed; samples and programs reach 20
GROWTH_FREE_BYTES = 64 * 2**20  # which no reader minds


def check_name(name: str) -> str:
    """A set's name as archives have them. Raises UserError for any other, which could be a path."""
    if not SET_NAME.fullmatch(name):
        raise UserError(f"{name[:80]!r} is no archive's name: they look like 2026-11-21.cpu.3f2a91c; `{COMMAND} sets` "
                        "lists them.")  # fmt: skip
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
    """Files missing, changed or added since an archive was published; empty for an intact one."""
    known = manifest_of(place, name)
    there = place.files(name)
    found = differences(known, there)
    sound = [file for file, each in known.files.items() if there.get(file) == each.nbytes]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        digests = dict(zip(sound, pool.map(lambda file: place.sha256(name, file), sound), strict=True))
    return found + [f"{file} was changed" for file, digest in digests.items() if digest != known.files[file].digest]


def differences(known: Manifest, there: dict[str, int]) -> list[str]:
    """Files missing, of another size, or added, as far as a listing tells."""
    listed = known.files
    return (
        [f"{file} is missing" for file in sorted(listed.keys() - there.keys())]
        + [f"{file} isn't in the manifest" for file in sorted(there.keys() - listed.keys() - {manifest.NAME})]
        + [f"{file} has {there[file]:,} bytes, {listed[file].nbytes:,} in the manifest"
           for file in sorted(listed.keys() & there.keys()) if there[file] != listed[file].nbytes]
    )  # fmt: skip


def fetch(place: Place, name: str, results: Path) -> Path:
    """An archive into a folder of its name. Raises UserError for one that is suspicious in any way, before anything of
    it is written, and for one that isn't what its manifest says: then nothing of it stays."""
    known = manifest_of(place, name)
    folder = results / name
    if folder.exists():
        raise UserError(f"{folder} is there already; `{COMMAND} verify --set={folder}` checks it.")
    problems = differences(known, place.files(name))
    if problems:
        raise UserError(f"{name} isn't what its manifest says: {'; '.join(problems[:3])}. Nothing was written.")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda file: check_growth(place, name, file), known.files))
    check_writable(results)
    draft = results / f".{name}.fetching"
    shutil.rmtree(draft, ignore_errors=True)  # of a fetch that was cut short
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            came = dict(zip(known.files, pool.map(lambda file: place.download(name, file, draft / file), known.files),
                            strict=True))  # fmt: skip
        changed = [file for file, digest in came.items() if digest != known.files[file].digest]
        if changed:
            raise UserError(f"{name} isn't what its manifest says: {changed[0]} was changed. Nothing of it was kept.")
        place.download(name, manifest.NAME, draft / manifest.NAME)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def check_growth(place: Place, name: str, file: str) -> None:
    """Raises UserError for a file that is far larger unpacked than it is packed: it was made to fill a disk."""
    if file.endswith(".parquet"):
        unpacked, packed = parquet_sizes(place, name, file)
    elif file.endswith(".gz"):
        unpacked, packed = gzip_sizes(place, name, file)
    else:
        return
    if unpacked > max(GROWTH_FREE_BYTES, GROWTH_MAX * packed) or unpacked > BYTES_MAX:
        raise UserError(f"{file} of {name} unpacks from {packed:,} to {unpacked:,} bytes and more: nothing that was "
                        "measured is like that. Nothing was written.")  # fmt: skip


def parquet_sizes(place: Place, name: str, file: str) -> tuple[int, int]:
    """(unpacked, packed) bytes, by a Parquet file's own account. A dictionary page may hold one value for many rows, so
    each row counts a byte of each column at least."""
    with place.opened(name, file) as source:
        size = source.size()
        try:
            told = pq.ParquetFile(source).metadata
        except (pa.ArrowException, OSError) as broken:
            raise UserError(f"{file} of {name} is no Parquet file: {str(broken).splitlines()[0][:120]}. Nothing was "
                            "written.") from None  # fmt: skip
        groups = (told.row_group(number) for number in range(told.num_row_groups))
        return max(sum(group.total_byte_size for group in groups), told.num_rows * told.num_columns), size


def gzip_sizes(place: Place, name: str, file: str) -> tuple[int, int]:
    """(unpacked, packed) bytes, by unpacking into nothing, no further than what is refused."""
    unpacked = packed = 0
    with place.opened(name, file) as source:
        stream = zlib.decompressobj(31)
        while chunk := source.read(2**16):
            packed += len(chunk)
            while chunk and unpacked <= max(GROWTH_FREE_BYTES, GROWTH_MAX * packed):
                try:
                    unpacked += len(stream.decompress(chunk, 2**20))
                except zlib.error as broken:
                    raise UserError(f"{file} of {name} is no gzip file: {broken}. Nothing was written.") from None
                chunk = stream.unconsumed_tail
            if unpacked > max(GROWTH_FREE_BYTES, GROWTH_MAX * packed):
                break
    return unpacked, packed
