"""Archives on web servers: real ones on loopback, some of which misbehave."""

from __future__ import annotations

import json
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from suite.cli.sets.naming import named
from suite.errors import Damaged, UserError
from suite.extras.archive import fetch, listing, web
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.archive.web import archive_at
from suite.results import load
from suite.sets.manifest import RESULTS, Manifest
from suite.sets.result_set import ResultSet


class Quiet(SimpleHTTPRequestHandler):
    """A static server."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@contextmanager
def serving(folder: Path, handler: type[Quiet] = Quiet, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Yields the address of a server of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' * bool(context)}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def published(stored: ResultSet, tmp_path: Path) -> Manifest:
    made = publish(stored.folder, Storage.of(str(tmp_path / "site" / "sets")), lambda text: None)
    (tmp_path / "site" / web.SITE).write_text(json.dumps({"version": 1, "sets": [{"name": made.name, "page": "x"}]}))
    return made


def test_a_set_comes_from_a_site_as_it_was(published: Manifest, stored: ResultSet, tmp_path: Path) -> None:
    with serving(tmp_path / "site") as address:
        site = archive_at(f"{address}/")
        assert [entry.name for entry in listing.of_storage(site)] == [published.name]
        assert fetch.verify(site, published.name) == []
        assert fetch.rows_of(site, published.name, ["case_id", "stack"])
        folder = named(f"{address}/{published.name[:20]}", tmp_path / "here")
        assert named(f"{address}/{published.name}", tmp_path / "here") == folder  # not fetched again
    assert load(folder).rows == load(stored.folder).rows


def test_a_folder_that_is_no_site_gives_the_sets_that_are_named(published: Manifest, tmp_path: Path) -> None:
    with serving(tmp_path / "site" / "sets") as address:
        place = archive_at(address)
        assert fetch.fetch(place, published.name, tmp_path / "here").is_dir()
        with pytest.raises(UserError, match="doesn't list its sets"):
            listing.of_storage(place)
        with pytest.raises(UserError, match="has no set"):
            fetch.verify(place, f"{published.name[:-1]}{int(published.name[-1] == '0')}")


def test_what_was_changed_on_the_server_is_named(published: Manifest, tmp_path: Path) -> None:
    page = tmp_path / "site" / "sets" / published.name / "inputs" / "quick.toml"
    page.write_bytes(page.read_bytes()[:-1] + b"!")
    with serving(tmp_path / "site") as address:
        assert fetch.verify(archive_at(address), published.name) == ["inputs/quick.toml was changed"]
        page.unlink()
        assert fetch.verify(archive_at(address), published.name) == ["inputs/quick.toml is missing"]


def test_an_encrypted_address(published: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    asked = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", "req", *asked, *files], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(tmp_path / "site", context=context) as address:
        with pytest.raises(UserError, match="CERTIFICATE_VERIFY_FAILED"):
            archive_at(address)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert fetch.verify(archive_at(address), published.name) == []


# --- servers that misbehave ---


def bad(answer: Callable[[Quiet], None]) -> type[Quiet]:
    """A server whose answers about rows are these."""

    class Bad(Quiet):
        def do_GET(self) -> None:
            answer(self) if self.path.endswith(RESULTS) else super().do_GET()

    return Bad


def head(server: Quiet, **headers: object) -> None:
    server.send_response(200)
    for name, value in headers.items():
        server.send_header(name.replace("_", "-"), str(value))
    server.end_headers()


def cut_short(server: Quiet) -> None:
    head(server, Content_Length=1_000)
    server.wfile.write(b"x" * 10)


def endless(server: Quiet) -> None:
    head(server)
    with pytest.raises(OSError):  # the reader has hung up
        while True:
            server.wfile.write(b"x" * 2**16)


def slow(server: Quiet) -> None:
    head(server, Content_Length=1_000)
    with pytest.raises(OSError):
        while True:
            server.wfile.write(b"x")
            time.sleep(0.05)


def silent(server: Quiet) -> None:
    head(server, Content_Length=1_000)
    time.sleep(1)


def leading(to: str) -> Callable[[Quiet], None]:
    def answer(server: Quiet) -> None:
        server.send_response(302)
        server.send_header("Location", to)
        server.end_headers()

    return answer


@pytest.mark.parametrize(
    ("answer", "limit", "said"),
    [
        (cut_short, None, "was cut short: 990 bytes are missing"),
        (endless, None, "results.parquet was changed|isn't what its manifest says"),
        (slow, "GRACE_SECONDS", "comes too slowly"),
        (silent, "SILENT_SECONDS", "timed out"),
        (leading("file:///etc/passwd"), None, "not allowed"),
        (leading("/results.parquet"), None, "redirect"),
        (lambda server: server.send_error(503), None, "the server says 503"),
    ],
)
def test_a_server_that_misbehaves(
    answer: Callable[[Quiet], None],
    limit: str | None,
    said: str,
    published: Manifest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ends with words, and nothing is kept."""
    if limit:
        monkeypatch.setattr(web, limit, 0.5)
    with serving(tmp_path / "site", bad(answer)) as address, pytest.raises(UserError, match=said):
        fetch.fetch(archive_at(address), published.name, tmp_path / "here")
    assert not [*(tmp_path / "here").glob("*")]  # on a busy machine it times out before the folder is made


def test_a_list_with_paths_for_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / web.SITE).write_text(json.dumps({"sets": [{"name": "../../etc"}]}))
    with serving(tmp_path) as address, pytest.raises(Damaged, match=r"site\.json"):
        archive_at(address)


def test_from_an_encrypted_address_nothing_leads_to_a_plain_one() -> None:
    request = web.urllib.request.Request("https://127.0.0.1/a")
    with pytest.raises(UserError, match="isn't followed"):
        web.Redirects().redirect_request(request, None, 302, "", None, "http://127.0.0.1/a")  # type: ignore[arg-type]


def test_an_address_with_a_secret_or_of_another_kind() -> None:
    with pytest.raises(UserError, match="has a secret in it"):
        archive_at("https://me:word@127.0.0.1/")
    with pytest.raises(UserError, match="https"):
        archive_at("ftp://127.0.0.1/")
    with pytest.raises(UserError, match="can't be read"):
        archive_at("http://127.0.0.1:9/")


def test_a_server_that_says_forbidden_of_what_it_has_not(published: Manifest, tmp_path: Path) -> None:
    """As buckets do that list nothing: what needn't be there isn't, what must be is named."""

    class Bucket(Quiet):
        def send_head(self) -> Any:
            there = Path(self.translate_path(self.path))
            return super().send_head() if there.is_file() else self.send_error(403)

    with serving(tmp_path / "site" / "sets", Bucket) as address:
        assert fetch.verify(archive_at(address), published.name) == []
        (tmp_path / "site" / "sets" / published.name / RESULTS).unlink()
        with pytest.raises(UserError, match="the server says 403"):
            fetch.verify(archive_at(address), published.name)
