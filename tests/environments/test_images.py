"""Images: what travels into a build, what is left in an image, and what a person is told."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from docker import DockerClient
from docker.errors import BuildError

from suite import environments
from suite.environments import images, locks
from suite.environments.checkout import public_address
from suite.errors import UserError
from tests.engine import engine_or_skip, images_or_skip
from tests.runs import STACKWARS


@pytest.fixture(scope="module")
def client() -> DockerClient:
    return images_or_skip("numpy")


def invoke(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*STACKWARS, *words], capture_output=True, text=True, check=False)


def said_in(client: DockerClient, *command: str, user: str = "0") -> str:
    """What a command says in the numpy image."""
    image = images.find(client, locks.newest("numpy", "cpu"))
    said: bytes = client.containers.run(image, list(command), remove=True, network_mode="none", user=user)
    return said.decode()


def test_a_tag_is_the_lock() -> None:
    digest = locks.newest("jax", "tpu").sha256
    assert digest is not None
    assert images.tag(locks.newest("jax", "tpu")) == f"stackwars/tpu-jax:{digest[:12]}"
    with pytest.raises(UserError, match="Did you mean 'torch'"):
        images.tag(locks.newest("torhc", "cuda"))


@pytest.mark.parametrize(
    ("wheel", "pin"),
    [
        ("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", "torch==2.13.0+cpu"),
        ("opt_einsum-3.4.0-py3-none-any.whl", "opt-einsum==3.4.0"),
    ],
)
def test_a_wheel_is_known_by_its_pin(wheel: str, pin: str) -> None:
    assert images.pinned_as(Path(wheel)) == pin


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A docker/ of its own with one lock, and a folder of wheels outside."""
    docker, outside = tmp_path / "docker", tmp_path / "wheels"
    for folder in (docker / "cpu", docker / "locks" / "cpu", docker / "wheelhouse", outside):
        folder.mkdir(parents=True)
    for name in ("image.sh", "cpu/Dockerfile", "locks/orchestrator.txt", "wheelhouse/.gitignore"):
        (docker / name).write_text(name)
    (docker / "locks" / "cpu" / "some.txt").write_text("ml_dtypes==1.0 \\\n    --hash=sha256:aa\nsix==2.0\n")
    (docker / "locks" / "cpu" / "other.txt").write_text("torch==3.0\n")
    for wheel in ("ml_dtypes-1.0-py3-none-any.whl", "six-1.9-py3-none-any.whl", "torch-3.0-py3-none-any.whl"):
        (outside / wheel).write_text(wheel)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(images, "FOLDER", docker)
    monkeypatch.setattr(images, "WHEELHOUSE", docker / "wheelhouse")
    monkeypatch.setenv("PIP_FIND_LINKS", str(outside))
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    return tmp_path


def names_in(stream: Any) -> dict[str, tuple[int, int, str, float]]:
    with tarfile.open(fileobj=stream) as archive:
        return {entry.name: (entry.mode, entry.uid, entry.uname, entry.mtime) for entry in archive}


def test_the_build_context_holds_the_one_lock_and_its_wheels(folders: Path) -> None:
    wheels = images.wheels_of(locks.newest("some", "cpu"))
    assert [wheel.name for wheel in wheels] == ["ml_dtypes-1.0-py3-none-any.whl"]
    entries = names_in(images.context(locks.newest("some", "cpu"), wheels))
    assert set(entries) == {
        "image.sh",
        "cpu/Dockerfile",
        "locks/orchestrator.txt",
        "locks/cpu/some.txt",
        "wheelhouse/.gitignore",
        "wheelhouse/ml_dtypes-1.0-py3-none-any.whl",
    }
    assert {entry[1:] for entry in entries.values()} == {(0, "", 0)}


def test_a_lock_that_a_set_brought_travels_under_the_environments_name(folders: Path) -> None:
    brought = folders / "a-set" / "inputs" / "locks" / "some.txt"
    brought.parent.mkdir(parents=True)
    brought.write_text("six==1.9\n")
    wheels = images.wheels_of(locks.Lock("some", "cpu", brought))
    with tarfile.open(fileobj=images.context(locks.Lock("some", "cpu", brought), wheels)) as archive:
        lock = archive.extractfile("locks/cpu/some.txt")
        assert lock is not None and lock.read() == brought.read_bytes()
        assert "wheelhouse/six-1.9-py3-none-any.whl" in archive.getnames()


def test_a_wheel_in_the_wheelhouse_comes_before_one_of_the_same_name_outside(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "ml_dtypes-1.0-py3-none-any.whl"
    assert images.wheels_of(locks.newest("some", "cpu")) == [folders / "wheels" / name]
    kept = folders / "docker" / "wheelhouse" / name
    kept.touch()
    assert images.wheels_of(locks.newest("some", "cpu")) == [kept]
    monkeypatch.setenv("PIP_FIND_LINKS", "https://wheels.example/all")
    assert images.wheels_of(locks.newest("some", "cpu")) == [kept], "an address is no folder to look into"
    assert images.wheels_of(locks.newest("other", "cpu")) == []


def test_a_context_is_the_same_bytes_whoever_checked_it_out_and_when(folders: Path) -> None:
    first = images.context(locks.newest("some", "cpu"), []).read()
    script = folders / "docker" / "image.sh"
    script.write_text("image.sh")
    script.chmod(0o600)
    os.utime(script, (1, 1))
    if os.getuid() == 0:
        os.chown(script, 12345, 12345)
    assert images.context(locks.newest("some", "cpu"), []).read() == first
    script.chmod(0o700)
    assert images.context(locks.newest("some", "cpu"), []).read() != first, "what may be executed is part of it"


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://somebody:secret@example.com/us/stack-wars.git", "https://example.com/us/stack-wars.git"),
        ("/home/me/stack-wars", ""),
        ("git@example.com:us/stack-wars", ""),
        ("", ""),
    ],
)
def test_a_label_has_no_password_and_no_path(remote: str, address: str) -> None:
    assert public_address(remote) == address


def test_a_failure_ends_with_what_to_do() -> None:
    told = images.failure("stackwars/cpu-jax:1", "python:3", ["Step 1", "", "dial tcp: lookup registry: no such host"])
    assert told.endswith("`sudo make base-image` makes a base from this machine's Debian mirror.")
    assert "the locked one" in images.failure("i", "b", ["Hash mismatch for six"]).splitlines()[-1]


def test_a_failed_build_is_not_taken_for_the_older_image_of_its_tag() -> None:
    log: list[str] = []
    events = [{"stream": "Step 1/2\n"}, {"stream": "no space\nleft\n"}, {"error": "exit code 1"}, {"stream": "late"}]
    with pytest.raises(BuildError, match="exit code 1"):
        images.follow(events, log)
    assert log == ["Step 1/2", "no space", "left"]


@pytest.mark.parametrize("host", ["tcp://192.0.2.1:2375", "ssh://somebody@192.0.2.1"])
def test_an_engine_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(UserError, match=f"^Docker's engine at {host} isn't on this machine"):
        images.connect()


def test_no_engine_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(UserError, match=r"^No Docker engine answers at unix:///nowhere/docker.sock\.$"):
        images.connect()
    done = invoke("images")
    assert (done.returncode, done.stderr) == (2, "No Docker engine answers at unix:///nowhere/docker.sock.\n")


def test_a_build_that_fails_says_why_and_leaves_nothing(folders: Path) -> None:
    client = engine_or_skip()
    (folders / "docker" / "cpu" / "Dockerfile").write_text("FROM scratch\nCOPY nothing /\n")
    with pytest.raises(UserError, match="could not be built") as failed:
        images.build(client, locks.newest("some", "cpu"), base="scratch")  # whatever base this machine has
    assert "COPY failed" in str(failed.value)
    assert images.find(client, locks.newest("some", "cpu")) is None


def test_the_base_is_what_was_asked_then_the_sites_own_then_the_pinned_one(
    client: DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert images.choose_base(client, "python:mine", "3.11") == "python:mine"
    there = images.tag(locks.newest("numpy", "cpu"))  # some image
    monkeypatch.setattr(images, "own_base", lambda _: there)
    assert images.choose_base(client, None, "3.11") == there
    monkeypatch.setattr(images, "own_base", lambda _: "stackwars/base:never-made")
    for python, release in (("3.11", "bookworm"), ("3.13", "trixie")):
        name, _, digest = images.choose_base(client, None, python).partition("@sha256:")
        assert f":{python}." in name and name.endswith(f"-slim-{release}")
        assert len(digest) == 64
    with pytest.raises(UserError, match=r"has no image with Python 3\.9"):
        images.choose_base(client, None, "3.9")


def test_an_image_says_what_it_was_made_from(client: DockerClient) -> None:
    labels = client.images.get(images.tag(locks.newest("numpy", "cpu"))).labels
    assert labels["stackwars.lock"] == locks.newest("numpy", "cpu").sha256
    assert (labels["stackwars.target"], labels["stackwars.environment"]) == ("cpu", "numpy")
    assert len(labels["org.opencontainers.image.revision"]) == 40
    assert labels["org.opencontainers.image.base.name"]
    assert "org.opencontainers.image.source" in labels


def test_an_image_holds_the_environment_and_neither_tools_nor_caches(client: DockerClient) -> None:
    assert said_in(client, "id", "-u", user="").strip() == "10001"
    # A base brings a pip of its own; of ours there is none, and of uv and compilers none anywhere.
    for where, names in (
        ("/opt /root /tmp /var /build", ("pip", "*.whl", ".cache", "archives/*.deb", "lists/*_*")),
        ("/", ("uv", "gcc", "g++", "cc1", "cc1plus")),
    ):
        look = " -o ".join(f"-type f -path '*/{name}' -o -type l -path '*/{name}'" for name in names)
        assert said_in(client, "sh", "-c", f"find {where} -xdev {look} 2>/dev/null || true") == ""
    byte_code = ["find", "/opt/environment", "-path", "*numpy/__pycache__/__init__.cpython-311.pyc"]
    assert said_in(client, *byte_code).count("\n") == 1
    history = " ".join(
        str(layer["CreatedBy"]) for layer in client.images.get(images.tag(locks.newest("numpy", "cpu"))).history()
    )
    assert "wheelhouse" not in history


def test_what_is_built_is_listed_and_not_built_again(client: DockerClient) -> None:
    done = invoke("images")
    assert done.returncode == 0
    assert images.tag(locks.newest("numpy", "cpu")) in done.stdout
    done = invoke("build", "--environment=numpy")
    assert (done.returncode, done.stderr) == (0, f"{images.tag(locks.newest('numpy', 'cpu'))} is already built\n")
    done = invoke("build", "--environment=numpi")
    assert done.returncode == 2
    assert "Did you mean 'numpy'?" in done.stderr
    assert "Known: cpu, cuda, tpu" in invoke("build", "--target=gpu").stderr


def test_pruning_removes_images_of_old_locks_alone(client: DockerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    image = client.images.get(images.tag(locks.newest("numpy", "cpu")))
    old = client.containers.create(image.id)
    old.commit("stackwars/cpu-numpy", "test-old", conf={"Labels": {**image.labels, "stackwars.lock": "0" * 64}})
    old.remove()
    # Only these two: on a person's machine, what older locks have left there isn't a test's to remove.
    tags = (images.tag(locks.newest("numpy", "cpu")), "stackwars/cpu-numpy:test-old")
    ours = [each for each in images.built(client) if each.tag in tags]
    assert {each.tag: each.current for each in ours} == dict(zip(tags, (True, False), strict=True))
    monkeypatch.setattr(images, "built", lambda _: iter(ours))
    monkeypatch.setattr(images, "prune_stages", lambda _: None)
    assert [each.tag for each in images.prune(client)] == ["stackwars/cpu-numpy:test-old"]
    assert images.find(client, locks.newest("numpy", "cpu")) == image.id
    assert client.images.list("stackwars/cpu-numpy:test-old") == []
