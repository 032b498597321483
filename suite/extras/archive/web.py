"""Reads an archive from a web server: a site (`./stackwars site`), or any folder of published sets. Nothing is written.

A server may be slow, cut an answer short or never end one: each answer has a deadline and a size. What a manifest
doesn't vouch for is refused by whoever reads it.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPMessage
from time import monotonic
from typing import IO, Annotated
from urllib.parse import quote, urlsplit

from msgspec import Meta, Struct

from suite.errors import COMMAND, UserError
from suite.extras.archive.signature import SIGNATURE
from suite.extras.archive.storage import AT_ONCE, Readable, Storage, check_secrets
from suite.sets import json_file, manifest
from suite.sets.manifest import SET_NAME, Manifest

SCHEMES = ("https", "http")
SITE = "site.json"  # lists a site's sets
ABSENT = (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.GONE)
SILENT_SECONDS = 20.0  # without a byte
GRACE_SECONDS, SLOWEST = 60.0, 20_000  # an answer's deadline: these seconds, and one for each 20 KB


class Named(Struct, frozen=True):
    """A set of a site."""

    name: Annotated[str, Meta(pattern=SET_NAME.pattern)]


class Site(Struct, frozen=True):
    """What is read of site.json."""

    sets: list[Named]


def archive_at(uri: str) -> Storage:
    """Returns the archive at a folder's path or an address, to read it. Raises UserError for an address that isn't
    understood, or that has a secret in it."""
    if urlsplit(uri).scheme not in SCHEMES:
        return Storage.of(uri, SCHEMES)
    check_secrets(uri)
    return Web.at(uri)


def storage_of(origin: str | None) -> Storage | None:
    return archive_at(origin) if origin else None


@dataclass(frozen=True)
class Web(Storage):
    """An archive on a web server; `listed` has the site's sets, None where it isn't a site."""

    listed: tuple[str, ...] | None = None

    @classmethod
    def at(cls, uri: str) -> Web:
        """Raises UserError if the server can't be reached."""
        plain = cls(uri, None, uri.rstrip("/"))
        try:
            site = json_file.decoded(Site, plain.read("", SITE), plain.path(SITE))
        except FileNotFoundError:
            return plain
        return cls(uri, None, plain.path("sets"), tuple(sorted(entry.name for entry in site.sets)))

    def folders(self) -> list[str]:
        if self.listed is None:
            raise UserError(
                f"{self.uri} doesn't list its sets, since it isn't a site that `{COMMAND} site` made. `fetch` and "
                "`verify` take a set's whole name."
            )
        return [*self.listed]

    def files(self, name: str) -> dict[str, int]:
        """As of `Storage`, but a server lists no files: those of the manifest that it has."""
        known = Manifest.parsed(self.read(name, manifest.NAME), name).files
        wanted = [*known, manifest.NAME, SIGNATURE]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            sizes = dict(zip(wanted, pool.map(partial(self.size, name), wanted), strict=True))
        # A server needn't say how long a file is; its digest is checked later.
        return {file: known[file].bytes if size < 0 else size for file, size in sizes.items() if size is not None}

    def has(self, name: str, file: str) -> bool:
        return self.size(name, file) is not None

    def size(self, name: str, file: str) -> int | None:
        """Returns a file's bytes, -1 if the server doesn't say; None if there is no such file."""
        try:
            with self.answer(self.path(quote(name), quote(file)), "HEAD") as answer:
                length = answer.headers.get("Content-Length", "")
                return int(length) if length.isdecimal() else -1
        except FileNotFoundError:
            return None

    @contextmanager
    def streamed(self, name: str, file: str) -> Iterator[Readable]:
        with self.answer(self.path(*map(quote, filter(None, (name, file))))) as answer:
            yield Stream(answer, self.path(name, file))

    @contextmanager
    def answer(self, path: str, method: str = "GET") -> Iterator[http.client.HTTPResponse]:
        asked = urllib.request.Request(path, method=method)
        try:
            with OPENER.open(asked, timeout=SILENT_SECONDS) as answer:
                yield answer
        except urllib.error.HTTPError as refused:
            # A bucket that lists nothing says "forbidden" of what it hasn't; these two files needn't be there.
            is_optional = path.endswith((f"/{SITE}", f"/{SIGNATURE}"))
            if refused.code in ABSENT or (is_optional and refused.code == http.HTTPStatus.FORBIDDEN):
                raise FileNotFoundError(path) from None
            raise UserError(f"{path} can't be read: the server says {refused.code} {refused.reason}.") from None
        except (OSError, http.client.HTTPException, ValueError) as failed:  # ValueError: no address
            why = getattr(failed, "reason", "") or str(failed) or type(failed).__name__
            raise UserError(f"{path} can't be read: {why}.") from None


class Stream:
    """An answer's bytes, as they come. Raises UserError if they come too slowly, or end too early."""

    def __init__(self, answer: http.client.HTTPResponse, path: str) -> None:
        self.answer, self.path = answer, path
        self.began, self.received = monotonic(), 0

    def read(self, most: int) -> bytes:
        parts = []
        while most and (part := self.answer.read1(most)):
            parts.append(part)
            most -= len(part)
            self.received += len(part)
            if monotonic() - self.began > GRACE_SECONDS + self.received / SLOWEST:
                raise UserError(f"{self.path} comes too slowly: {self.received:,} bytes so far. Try again later.")
        if most and self.answer.length:
            raise UserError(f"{self.path} was cut short: {self.answer.length:,} bytes are missing. Try again.")
        return b"".join(parts)


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a server only to another web address, and never from an encrypted one to a plain one."""

    max_redirections = 3

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in SCHEMES[: SCHEMES.index(req.type) + 1]:
            raise UserError(f"{req.full_url} leads to {newurl[:200]}, which isn't followed.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


OPENER = urllib.request.build_opener(Redirects)
