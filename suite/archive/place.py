"""Where archives lie: a folder, s3:// or gs://, by one code path. Credentials come from the environment's own chain."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
from pyarrow import fs

from suite.errors import COMMAND, Damaged, UserError, unknown
from suite.guard import plain_files
from suite.results.store.manifest import BYTES_MAX

SCHEMES = ("s3", "gs", "file")
CHUNK_BYTES = 2**20
READ_MAX = 64 * 2**20  # a manifest of a hundred thousand files has a fifth of it
AT_ONCE = 8  # files on their way
UPLOADING = ".uploading"  # in a folder for archives: files on their way
SECRETS = ("access_key", "secret_key", "session_token")  # that an address could carry, and mustn't


@dataclass(frozen=True, slots=True)
class Place:
    """One place for archives: `uri` as it is shown, and where it is for its file system."""

    uri: str
    filesystem: fs.FileSystem
    root: str

    @classmethod
    def of(cls, uri: str) -> Place:
        """A folder's path, or an address. Raises UserError for one that can't be understood."""
        if "://" not in uri:
            return cls(uri, fs.LocalFileSystem(), str(Path(uri).absolute()))
        check_address(uri)
        parts = urlsplit(uri)
        with told(uri):
            filesystem, root = fs.FileSystem.from_uri(uri)
        return cls(f"{parts.scheme}://{parts.netloc}{parts.path}", filesystem, root)

    def path(self, *parts: str) -> str:
        """Inside the place."""
        return "/".join((self.root.rstrip("/"), *parts))

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def folders(self) -> list[str]:
        """The names of what may be archives. Raises UserError for a folder or a bucket that doesn't exist."""
        with told(self.uri):
            found = self.filesystem.get_file_info(fs.FileSelector(self.root, allow_not_found=True))
        if not found:
            self.check_exists()
        names = (each.base_name for each in found if each.type == fs.FileType.Directory)
        return sorted(name for name in names if name != UPLOADING)

    def check_exists(self) -> None:
        """Raises UserError for a folder or a bucket that isn't there; a prefix in a bucket is one once it has sets."""
        root = self.root if self.is_local else self.root.partition("/")[0]
        with told(self.uri):
            found = self.filesystem.get_file_info(root).type
        if found == fs.FileType.NotFound and self.is_local:
            raise UserError(
                f"There is no folder {self.uri}. Is it another one? `{COMMAND} archive --to={self.uri}` "
                "makes it, with its first set."
            )
        if found == fs.FileType.NotFound:
            raise UserError(
                f"There is no bucket {root}, of {self.uri}. Is it another one? Buckets are made by the "
                "tools of the service that has them."
            )

    def files(self, name: str) -> dict[str, int]:
        """{path in an archive: bytes}. Raises UserError for what is no plain file, such as a link to somewhere else."""
        base = self.path(name)
        with told(self.uri):
            found = self.filesystem.get_file_info(fs.FileSelector(base, recursive=True, allow_not_found=True))
        for path in (base, *(each.path for each in found)) if self.is_local and found else ():
            mode = os.lstat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise Damaged(f"{path} is neither a file nor a folder: such an archive isn't touched.")
        return {each.path[len(base) + 1 :]: each.size for each in found if each.type == fs.FileType.File}

    def has(self, name: str, file: str) -> bool:
        """Whether a file is there."""
        with told(self.uri):
            return bool(self.filesystem.get_file_info(self.path(name, file)).type == fs.FileType.File)

    def read(self, name: str, file: str, most: int = READ_MAX) -> bytes:
        """A small file. Raises FileNotFoundError where there is none, UserError where the place can't be reached or the
        file isn't small."""
        with self.streamed(name, file) as source:
            data = bytes(source.read(most + 1))
        if len(data) > most:
            raise UserError(f"{file} of {name} is larger than any {file.partition('.')[0]}: over {most:,} bytes.")
        return data

    def download(self, name: str, file: str, to: Path, nbytes: int | None) -> str:
        """A file to this machine; the sha256 of what came, which is cut where it is longer than it may be."""
        digest, left = hashlib.sha256(), BYTES_MAX if nbytes is None else nbytes + 1
        to.parent.mkdir(parents=True, exist_ok=True)
        with self.streamed(name, file) as source, to.open("wb") as kept:
            while left and (chunk := source.read(min(CHUNK_BYTES, left))):
                left -= len(chunk)
                digest.update(chunk)
                kept.write(chunk)
        return digest.hexdigest()

    @contextmanager
    def streamed(self, name: str, file: str) -> Iterator[pa.NativeFile]:
        """A file's bytes as they lie there: pyarrow would unpack those of `.gz` unasked."""
        with told(self.uri), self.filesystem.open_input_stream(self.path(name, file), compression=None) as source:
            yield source

    def sha256(self, name: str, file: str) -> str:
        """Of a file as it lies there."""
        digest = hashlib.sha256()
        with self.streamed(name, file) as source:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()

    def upload(self, source: Path | bytes, name: str, file: str) -> str:
        """A file, there whole or not at all: a bucket's object appears when its stream is closed; in a folder it is
        written beside the archives and renamed. The sha256 of what was sent; what isn't a plain file isn't."""
        digest = hashlib.sha256()
        target = self.path(name, file)
        written = self.path(UPLOADING, secrets.token_hex(8)) if self.is_local else target
        with told(self.uri):
            if self.is_local:
                for path in (target, written):
                    self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
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
        """A file that mustn't stay."""
        with told(self.uri):
            self.filesystem.delete_file(self.path(name, file))

    @contextmanager
    def publishing(self) -> Iterator[None]:
        """While something is uploaded. In a folder, what uploads that were killed have left beside the archives goes,
        unless somebody else is publishing just now; a bucket keeps nothing of an upload that didn't end."""
        if not self.is_local:
            yield
            return
        beside = Path(self.path(UPLOADING))
        try:
            beside.mkdir(parents=True, exist_ok=True)
            lock = os.open(beside / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except OSError as refused:
            raise UserError(f"{self.uri} can't be used: {refused.strerror}.") from None
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for left in beside.iterdir():
                    if left.name != "lock":
                        left.unlink()
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield
        finally:
            os.close(lock)


def check_address(uri: str) -> None:
    """Raises UserError for an address of an unknown kind, or with a secret in it; asks nobody."""
    parts = urlsplit(uri)
    if parts.scheme not in SCHEMES:
        raise unknown("kind of place", parts.scheme, SCHEMES)
    if parts.username or parts.password or any(secret in parts.query for secret in SECRETS):
        raise UserError(
            "An address with a secret in it would be kept in logs and pages: leave credentials to the "
            "environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, "
            "or a machine's own role)."
        )


@contextmanager
def told(uri: str) -> Iterator[None]:
    """A file system's refusal in one sentence, without what a signature or a header might hold."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as refused:
        first = str(refused).strip().splitlines()[0][:300]
        raise UserError(f"{uri.partition('?')[0]} can't be used: {first}") from None
