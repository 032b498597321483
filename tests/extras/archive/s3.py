"""A real S3 server on loopback, for archives: SeaweedFS, with one key that may write and nobody else."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyarrow import fs

from suite.extras.archive.storage import Storage

KEY, SECRET = "stackwars", "only-for-the-tests"
BUCKET = "archives"
PEERS = 10_000  # SeaweedFS's parts talk to each other on the port so far above the one that is given
PARTS = ("s3", "master", "volume", "filer")
START_SECONDS = 120.0  # a server that takes longer has hung


@dataclass
class Server:
    """One server and its data; it can be killed and started again."""

    folder: Path
    ports: list[int] = field(default_factory=lambda: free_ports(len(PARTS)))
    process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a client's own chain of credentials reads."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.ports[0]}",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        rights = self.folder / "identities.json"
        credentials = [{"accessKey": KEY, "secretKey": SECRET}]
        tests = {"name": "tests", "credentials": credentials, "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
        rights.write_text(json.dumps({"identities": [tests]}))
        told = {f"{part}.port": port for part, port in zip(PARTS, self.ports, strict=True)}
        told |= {"ip": "127.0.0.1", "ip.bind": "127.0.0.1", "s3.port.iceberg": 0, "s3.port.lance": 0}
        told |= {"dir": self.folder, "s3.config": rights, "master.volumeSizeLimitMB": 64, "volume.max": 50}
        told |= {"master.telemetry": "false"}
        weed = [Path(sys.executable).with_name("weed"), "server", "-s3", *(f"-{name}={told[name]}" for name in told)]
        plain = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}  # it would take AWS_* for its own
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(weed, stdout=log, stderr=log, env=plain)
        until = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text()[-3000:])
            time.sleep(0.2)

    def is_ready(self) -> bool:
        try:
            client = self.client()
            client.create_dir(BUCKET)
            with client.open_output_stream(f"{BUCKET}/.ready") as stream:
                stream.write(b"yes")
        except OSError:
            return False
        return True

    def client(self) -> fs.S3FileSystem:
        return fs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=f"127.0.0.1:{self.ports[0]}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
            connect_timeout=2,
            request_timeout=5,
        )

    def kill(self) -> None:
        """As a machine is lost: nothing is told or finished."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def free_ports(count: int) -> list[int]:
    """Ports that nobody has, with those so far above them."""
    found: list[int] = []
    while len(found) < count:
        port = random.randint(11_000, 21_000)  # both under those that the system gives to whoever asks for any
        if port not in found and all(map(is_free, (port, port + PEERS))):
            found.append(port)
    return found


def is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.fixture
def shelf(tmp_path: Path) -> Storage:
    return Storage.of(str(tmp_path / "shelf"))


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest) -> Storage:
    return request.getfixturevalue("shelf" if request.param == "folder" else "bucket")  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    one = Server(tmp_path_factory.mktemp("s3"))
    try:
        one.start()
        yield one
    finally:
        one.kill()


@pytest.fixture
def bucket(server: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Storage:
    """A prefix of a test's own on the server, with the key in the environment."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return Storage.of(f"s3://{BUCKET}/{request.node.name.replace('[', '-').replace(']', '')}")
