"""Real frameworks in real containers: the same answers as locally, and nothing lost when something dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from docker import DockerClient
from docker.errors import APIError, DockerException

from suite import results
from suite.environments import images, locks
from suite.launch.container import SET
from suite.sets.rows import Row
from suite.stacks.catalog import STACKS as CATALOGUE
from tests.engine import images_or_skip
from tests.refusals import HUGE, WORDS
from tests.runs import STACKWARS, UNWARMED, invoke_run

pytestmark = pytest.mark.stacks
STACKS = ("numpy", "jax_jit")
# One image is enough while you write: each further one has a base image of its own, of another Python.
EACH = pytest.mark.parametrize("stack", [STACKS[0], pytest.param(STACKS[1], marks=pytest.mark.release)])
SLOW = ("--preset=tiny", "--workload=gemm", "--pass=forward", "--dims=n=1024", "--stack=numpy", "--engine=docker")
WAIT_SECONDS = 120


def command(place: Path, *options: str) -> list[str]:
    return [*STACKWARS, "run", "--json", f"--results={place}", *options]


def variables(place: Path, **more: str) -> dict[str, str]:
    """With a lock of its own a run isn't refused beside another."""
    return os.environ | {"TMPDIR": str(place), "STACKWARS_LOCK": str(place)} | more


def resume(folder: Path, **more: str) -> tuple[list[dict[str, Any]], str]:
    done = subprocess.run(
        [*STACKWARS, "run", f"--resume={folder}"],
        capture_output=True,
        text=True,
        check=False,
        env=variables(folder.parent, **more),
    )
    assert done.returncode == 0, done.stderr
    return results.load(folder).rows, done.stderr


def until(what: Callable[[], Any], running: subprocess.Popen[str] | None = None) -> Any:
    """The first true answer, which a process may bring about."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline and (running is None or running.poll() is None):
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it didn't happen" if running is None or running.poll() is None else running.communicate()[1])


@pytest.fixture(scope="module")
def client() -> DockerClient:
    return images_or_skip("numpy")


def image_of(stack: str) -> None:
    """Has it built."""
    images_or_skip(CATALOGUE[stack].environment)


@EACH
def test_containers_give_the_local_answers_row_by_row(client: DockerClient, tmp_path: Path, stack: str) -> None:
    image_of(stack)
    by_case: list[dict[str, Row]] = []
    for engine in ("docker", "local"):
        (place := tmp_path / engine).mkdir()
        ran = invoke_run(place, "--workload=ffn", f"--stack={stack}", engine=engine)
        assert ran.code == 0, ran.log
        assert engine == "local" or f"Engine: docker {client.version()['Version']}." in ran.log
        rows = results.load(ran.folder).rows
        by_case.append({row["case_id"]: row for row in rows})
        assert len(by_case[-1]) == len(rows) == 2
    assert by_case[0].keys() == by_case[1].keys()
    for inside, outside in ((by_case[0][case], by_case[1][case]) for case in by_case[0]):
        assert (inside["outcome"], outside["outcome"]) == ("ok", "ok"), (inside["reason"], outside["reason"])
        for column in ("weights_sha256", "lock_sha256", "flops", "compiles_first", "compiles_steady"):
            assert inside[column] == outside[column], column
        assert max(inside["relative_error"], outside["relative_error"]) < 5e-6
        assert bool(losses(inside)) == (inside["pass"] == "train")
        assert losses(inside) == pytest.approx(losses(outside), rel=1e-6)
        assert (inside["engine"], outside["engine"]) == ("docker", "local")
        assert inside["image_digest"] == images.find(client, locks.newest(inside["environment"], "cpu"))
        assert inside["engine_version"] == client.version()["Version"]
        assert (outside["image_digest"], outside["engine_version"]) == (None, None)


@pytest.mark.release
def test_programs_and_profiles_are_kept_and_read_in_containers(client: DockerClient, tmp_path: Path) -> None:
    """What reads them is a container of its own, of JAX's image."""
    image_of("jax_jit")
    asked = ("--purpose=ir", "--workload=ffn", "--pass=train", "--stack=jax_jit", "--profile=on")
    ran = invoke_run(tmp_path, *asked, engine="docker", module=UNWARMED)
    assert ran.code == 0, ran.log
    rows = {row["purpose"]: row for row in results.load(ran.folder).rows}
    assert {purpose: row["outcome"] for purpose, row in rows.items()} == {"ir": "ok", "profile": "ok"}
    (program,) = json.loads(rows["ir"]["programs"])
    assert program["compiled"]["kernels"] > 0 and list((ran.folder / "ir").glob("*/*.gz"))
    assert json.loads(rows["profile"]["profile"])["categories"]["matrix products"] > 0


def losses(row: Row) -> list[float]:
    return next((metric["values"] for metric in row.metrics if metric["name"] == "loss"), [])


@EACH
def test_a_limit_of_512_mib_is_an_oom_on_every_framework(client: DockerClient, tmp_path: Path, stack: str) -> None:
    image_of(stack)
    asked = ("--workload=gemm", "--pass=forward", "--dims=n=16384", "--limit-memory=512MiB")
    ran = invoke_run(tmp_path, *asked, f"--stack={stack}", engine="docker")
    assert ran.code == 0, ran.log
    (row,) = results.load(ran.folder).rows
    assert (row["stack"], row["outcome"]) == (stack, "oom_host")
    assert "512 MiB" in row["reason"]


@EACH
def test_a_refusal_in_a_container_is_told_in_the_framework_s_words(
    client: DockerClient, tmp_path: Path, stack: str
) -> None:
    image_of(stack)
    ran = invoke_run(tmp_path, *HUGE, f"--stack={stack}", engine="docker", module=UNWARMED)
    assert ran.code == 0, ran.log
    (row,) = results.load(ran.folder).rows
    assert (row["outcome"], row["engine"]) == ("oom_host", "docker")
    assert WORDS[stack] in row["reason"]


def test_a_killed_run_is_cleaned_up_and_completed(client: DockerClient, tmp_path: Path) -> None:
    begun = subprocess.Popen(
        command(tmp_path, *SLOW, "--repeats=2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=variables(tmp_path),
    )
    folder = until(lambda: next(iter(tmp_path.glob("[0-9]*-tiny-*")), None), begun)
    ours = {"label": f"{SET}={folder.name}", "status": "running"}

    def held() -> Any:
        """A container whose init is stopped, so that it doesn't end by itself; one that has just ended can't be."""
        for container in client.containers.list(filters=ours, ignore_removed=True):
            with suppress(APIError):
                container.kill("SIGSTOP")
                return container
        return None

    container = until(held, begun)
    begun.send_signal(signal.SIGKILL)
    begun.communicate()
    container.reload()
    assert container.status == "running", "a killed orchestrator can't clean up"
    rows, said = resume(folder)
    assert "Removed the container that a killed run had left" in said
    assert client.containers.list(all=True, filters={"label": f"{SET}={folder.name}"}) == []
    whole = [row for row in rows if "incomplete_block" not in row["flags"]]
    assert sorted((row["block"], row["outcome"]) for row in whole) == [(1, "ok"), (2, "ok")]


class Daemon:
    """A daemon of the test's own, to be killed. Its folders are short: a socket's path has 107 characters."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sw-", dir="/tmp"))
        self.host = f"unix://{self.folder}/s"

    def start(self) -> None:
        options = (
            "--iptables=false",
            "--bridge=none",
            f"--data-root={self.folder}/data",
            f"--exec-root={self.folder}/exec",
            f"--pidfile={self.folder}/pid",
            "-H",
            self.host,
        )
        self.process = subprocess.Popen(
            ["dockerd", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        until(self.answers)

    def answers(self) -> bool:
        try:
            return DockerClient(base_url=self.host).ping()
        except DockerException:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        # Its containerd is a child of its own, which a new daemon would find and a folder's removal would not.
        pid = self.folder / "exec" / "containerd" / "containerd.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGKILL)
            until(lambda: not Path(f"/proc/{pid.read_text()}").exists())
            pid.unlink()
        (self.folder / "pid").unlink(missing_ok=True)

    def remove(self) -> None:
        self.process.terminate()
        self.process.wait()
        points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for point in reversed([point for point in points if point.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "--lazy", point], check=True)  # a killed daemon has left its mounts
        shutil.rmtree(self.folder)


@pytest.fixture
def daemon(client: DockerClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """A second daemon with the numpy image."""
    if os.getuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("a daemon of the test's own takes root and dockerd")
    own = Daemon()
    try:
        own.start()
        other = DockerClient(base_url=own.host)
        image = client.images.get(images.tag(locks.newest("numpy", "cpu")))
        (copy,) = other.images.load(image.save(named=images.tag(locks.newest("numpy", "cpu"))))
        assert copy.tags == [images.tag(locks.newest("numpy", "cpu"))]
        yield own
    finally:
        own.remove()


def test_a_daemon_that_dies_is_an_error_with_its_reason_and_resume_completes(daemon: Daemon, tmp_path: Path) -> None:
    begun = subprocess.Popen(
        command(tmp_path, *SLOW),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables(tmp_path, DOCKER_HOST=daemon.host),
    )
    until(lambda: list(tmp_path.glob("*/logs/*/events.jsonl")), begun)
    daemon.kill()
    begun.communicate(timeout=WAIT_SECONDS)
    assert begun.returncode == 3
    folder = next(iter(tmp_path.glob("[0-9]*-tiny-*")))
    (row,) = results.load(folder).rows
    assert (row["outcome"], row["engine"], "harness" in row["flags"]) == ("error", "docker", True)
    assert row["reason"] == "Docker's daemon went away while the case ran"
    daemon.start()
    rows, _ = resume(folder, DOCKER_HOST=daemon.host)
    assert [row["outcome"] for row in sorted(rows, key=lambda row: row["retry"])] == ["error", "ok"]
