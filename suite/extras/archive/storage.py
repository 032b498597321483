"""Reads and writes archives in a folder or a bucket (s3://, gs://). Credentials come from environment variables."""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from suite.errors import COMMAND, Damaged, UserError, check_known
from suite.guard import plain_files
from suite.sets.manifest import BYTES_MAX, Manifest

SCHEMES = ("s3", "gs", "file")
CHUNK_BYTES = 2**20
READ_MAX = 64 * 2**20  # a manifest of 100,000 files has a fifth of this
AT_ONCE = 8  # files that are transferred in parallel
DAY_SECONDS = 24 * 60 * 60
UPLOADING = ".uploading"  # the subfolder of files that are being uploaded
SECRETS = ("access_key", "secret_key", "session_token")  # parameters that an address must not have


class Readable(Protocol):
    """A file's bytes."""

    def read(self, most: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Storage:
    """An archive: a folder or bucket of published sets. `uri` is its address as a person gives it, `root` its path in
    `filesystem`."""

    uri: str
    filesystem: fs.FileSystem
    root: str

    @classmethod
    def of(cls, uri: str, others: Sequence[str] = ()) -> Storage:
        """Returns the storage at a folder's path or a bucket's address. Raises UserError for an address that isn't
        understood; `others` are further kinds that the caller understands."""
        if "://" not in uri:
            return cls(uri, fs.LocalFileSystem(), str(Path(uri).absolute()))
        check_address(uri, others)
        parts = urlsplit(uri)
        with refusals(uri):
            filesystem, root = fs.FileSystem.from_uri(uri)
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path}", filesystem, root)

    def path(self, *parts: str) -> str:
        return "/".join((self.root.rstrip("/"), *parts))

    @property
    def is_local(self) -> bool:
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def folders(self) -> list[str]:
        """Returns the names of the folders in the archive, which may be published sets. Raises UserError if the
        archive's own folder or bucket doesn't exist."""
        with refusals(self.uri):
            entries = self.filesystem.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        if not entries:
            self.check_exists()
        names = (entry.base_name for entry in entries if entry.type == fs.FileType.Directory)
        return sorted(name for name in names if name != UPLOADING)

    def check_exists(self) -> None:
        """Raises UserError if the storage's folder or bucket doesn't exist. A prefix in a bucket may be missing,
        because it exists only once it has sets."""
        root = self.root if self.is_local else self.root.partition("/")[0]
        with refusals(self.uri):
            kind = self.filesystem.get_file_info(root).type
        if kind == fs.FileType.NotFound and self.is_local:
            raise UserError(
                f"There is no folder {self.uri}. Check its name; `{COMMAND} archive --to={self.uri}` "
                "makes the folder when it publishes the first set."
            )
        if kind == fs.FileType.NotFound:
            raise UserError(
                f"There is no bucket {root}, which {self.uri} names. Check its name, or make the bucket with the tools "
                "of its service."
            )

    def files(self, name: str) -> dict[str, int]:
        """Returns {path: bytes} of a published set's files. Raises Damaged if one of them isn't a plain file but, for
        example, a link."""
        base = self.path(name)
        with refusals(self.uri):
            entries = self.filesystem.get_file_info(fs.FileSelector(base, recursive=True, allow_not_found=True))
        for path in (base, *(entry.path for entry in entries)) if self.is_local and entries else ():
            mode = os.lstat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise Damaged(f"{path} is neither a file nor a folder, so the set isn't read.")
        return {entry.path[len(base) + 1 :]: entry.size for entry in entries if entry.type == fs.FileType.File}

    def has(self, name: str, file: str) -> bool:
        with refusals(self.uri):
            return bool(self.filesystem.get_file_info(self.path(name, file)).type == fs.FileType.File)

    def read(self, name: str, file: str, most: int = READ_MAX) -> bytes:
        """Returns the bytes of a small file. Raises FileNotFoundError if there is none, UserError if the storage can't
        be reached or the file has more than `most` bytes."""
        with self.streamed(name, file) as source:
            data = bytes(source.read(most + 1))
        if len(data) > most:
            raise UserError(f"{file} of {name} is too large: over {most:,} bytes.")
        return data

    def download(self, name: str, file: str, to: Path, nbytes: int | None) -> str:
        """Downloads a file to `to`. Returns the sha256 of the downloaded bytes. With `nbytes`, the size that the file
        should have, it stops one byte after that size."""
        digest, remaining_bytes = hashlib.sha256(), BYTES_MAX if nbytes is None else nbytes + 1
        to.parent.mkdir(parents=True, exist_ok=True)
        with self.streamed(name, file) as source, to.open("wb") as target:
            while remaining_bytes and (chunk := source.read(min(CHUNK_BYTES, remaining_bytes))):
                remaining_bytes -= len(chunk)
                digest.update(chunk)
                target.write(chunk)
        return digest.hexdigest()

    @contextmanager
    def streamed(self, name: str, file: str) -> Iterator[Readable]:
        """Opens a file to read its bytes as they are stored. By default pyarrow would decompress a `.gz` file."""
        with refusals(self.uri), self.filesystem.open_input_stream(self.path(name, file), compression=None) as source:
            yield source

    def sha256(self, name: str, file: str) -> str:
        return self.download(name, file, Path(os.devnull), None)

    def upload(self, source: Path | bytes, name: str, file: str) -> str:
        """Uploads a plain file, or bytes, as a whole or not at all. Returns the sha256 of the uploaded bytes. In a
        bucket an object appears only when its stream is closed; in a folder the file is written elsewhere and moved."""
        digest = hashlib.sha256()
        target = self.path(name, file)
        written = self.path(UPLOADING, secrets.token_hex(8)) if self.is_local else target
        with refusals(self.uri):
            for path in (target, written) if self.is_local else ():
                try:
                    self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
                except FileNotFoundError as refused:  # of a file system like /proc
                    raise UserError(f"{self.uri} can't be written to: {refused}") from None
            with (
                io.BytesIO(source) if isinstance(source, bytes) else plain_files.opened(source) as read,
                self.filesystem.open_output_stream(written, compression=None) as stream,
            ):
                while chunk := read.read(CHUNK_BYTES):
                    digest.update(chunk)
                    stream.write(chunk)
            if self.is_local:
                self.filesystem.move(written, target)
        return digest.hexdigest()

    def remove(self, name: str, file: str) -> None:
        with refusals(self.uri):
            self.filesystem.delete_file(self.path(name, file))

    def tidy(self) -> None:
        """Deletes what killed uploads left in a folder: no upload of one file takes a day. A bucket keeps no halves."""
        for leftover in Path(self.path(UPLOADING)).glob("*") if self.is_local else ():
            with suppress(OSError):  # another command has moved or deleted it
                if time.time() - leftover.stat().st_mtime > DAY_SECONDS:
                    leftover.unlink()


def changed(known: Manifest, files: Sequence[str], digest: Callable[[str], str]) -> list[str]:
    """Returns those of a set's files whose digest, which is taken of several at once, isn't the manifest's."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        digests = zip(files, pool.map(digest, files), strict=True)
        return [file for file, sha256 in digests if sha256 != known.files[file].sha256]


def check_address(uri: str, others: Sequence[str] = ()) -> None:
    """Raises UserError for an address of an unknown kind, or one that has a secret in it. It doesn't connect."""
    parts = urlsplit(uri)
    check_known("kind of address", parts.scheme, [*SCHEMES, *others])
    check_secrets(uri)


def check_secrets(uri: str) -> None:
    """Raises UserError for an address that has a secret in it."""
    parts = urlsplit(uri)
    if parts.username or parts.password or any(secret in parts.query for secret in SECRETS):
        raise UserError(
            "The address has a secret in it, which logs and pages would keep. Give credentials in environment "
            "variables (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or GOOGLE_APPLICATION_CREDENTIALS), or by the "
            "machine's own role."
        )


@contextmanager
def refusals(uri: str) -> Iterator[None]:
    """Turns an error of the file system into a UserError of one line, except FileNotFoundError. The message has the
    address without its query, which could hold a secret."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as refused:
        first = str(refused).strip().splitlines()[0][:300]
        raise UserError(f"{uri.partition('?')[0]} can't be used: {first}") from None
