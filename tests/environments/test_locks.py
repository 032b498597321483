"""Every lock that is in the repository, and those that an aarch64 machine takes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from suite.environments import ROOT, locks, uv

LOCKS = sorted((ROOT / "docker" / "locks").rglob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_lock_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"https?:|^-", text, re.MULTILINE)
    packages = re.findall(r"^[a-z0-9][^ =]*==\S+", text, re.MULTILINE)
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert packages
    assert all("--hash=sha256:" in entry for entry in entries)


def test_every_lock_has_the_same_numpy() -> None:
    pins = {re.search(r"^numpy==(\S+)", lock.read_text(), re.MULTILINE)[1] for lock in LOCKS}  # type: ignore[index]
    assert len(pins) == 1


@pytest.fixture
def on_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")


def test_each_environment_has_the_same_pythons_on_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    def pythons() -> dict[str, list[str]]:
        every = [*locks.names("cpu"), *locks.variants("cpu")]
        return {name: [lock.python for lock in locks.all_locks(name, "cpu")] for name in every}

    here = pythons()
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert pythons() == {name: found for name, found in here.items() if name not in locks.NOT_ON_ARM}
    assert "tensorflow-cpu" not in locks.newest("tensorflow", "cpu").pins
    assert locks.newest("jax", "cpu").path.parent.name == "cpu", "one lock serves both"


@pytest.mark.release
@pytest.mark.usefixtures("on_arm")
def test_every_package_of_arm_s_locks_has_a_wheel_there_whose_hash_the_lock_has() -> None:
    """uv's dry run of an installation doesn't look at hashes."""
    every = [lock for name in (*locks.names("cpu"), *locks.variants("cpu")) for lock in locks.all_locks(name, "cpu")]
    asked = ("--format=pylock.toml", "--no-deps", "--only-binary=:all:")
    for lock in (locks.newest(locks.ORCHESTRATOR, "cpu"), *every):
        found = uv.resolve(lock.path, lock.python, "cpu", lock.path.name, *asked, machine=locks.ARM)
        for package in tomllib.loads(found)["packages"]:
            hashes = {wheel["hashes"]["sha256"] for wheel in package["wheels"]}
            locked = uv.pinned(package["name"], lock)
            assert locked.startswith(f"{package['name']}=={package['version']} ") and any(map(locked.count, hashes))
