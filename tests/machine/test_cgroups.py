"""The limits on this program, of both versions of control groups: in plain folders, and by the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.machine import cgroups, facts

GIB = 2**30
V1 = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 31 0:32 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def test_a_containers_own_cgroup_is_seen(tmp_path: Path) -> None:
    assert list(cgroups.homes("4:memory:/docker/abc\n", V1.format(root="/docker/abc"))) == [
        ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory", 1)
    ]
    mountinfo = f"30 23 0:26 / {tmp_path} ro,nosuid - cgroup2 cgroup ro\n"
    assert list(cgroups.homes("0::/\n", mountinfo)) == [(str(tmp_path), str(tmp_path), 2)]


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Version 2: this program in a scope of a slice. Returns the slice's folder."""
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    mount = tmp_path / "a mount"
    point = str(mount).replace(" ", "\\040")
    mountinfo = f"30 23 0:26 / {point} rw - cgroup2 cgroup2 rw\n"
    write(cgroups.PROC, {"cgroup": "0::/user.slice/run.scope\n", "mountinfo": mountinfo})
    scope = {"cpu.max": "max 100000\n", "cpu.stat": "nr_periods 9\nnr_throttled 2\n"}
    write(mount / "user.slice" / "run.scope", scope | {"memory.max": f"{3 * GIB}\n", "memory.current": f"{GIB}\n"})
    return mount / "user.slice"


def test_the_tightest_limit_counts_wherever_it_is_set(second: Path) -> None:
    stat = f"anon 5\ninactive_file {GIB // 4}\nactive_file {GIB // 4}\n"
    above = {"cpu.max": "50000 100000\n", "memory.max": f"{4 * GIB}\n", "memory.current": f"{3 * GIB}\n"}
    write(second, above | {"memory.stat": stat, "cpu.stat": "nr_throttled 5\n"})
    assert cgroups.cpu_quota() == 0.5
    assert cgroups.throttled_periods() == 7
    assert cgroups.memory_limit() == 3 * GIB
    assert cgroups.memory_left() == 1.5 * GIB  # of the slice's: its other programs hold more
    assert facts.usable_cores() == sorted(os.sched_getaffinity(0))[:1]


def test_without_limits(second: Path) -> None:
    write(second / "run.scope", {"memory.max": "max\n", "cpu.stat": ""})
    assert (cgroups.cpu_quota(), cgroups.memory_limit(), cgroups.memory_left()) == (None, None, None)
    assert cgroups.throttled_periods() is None


def test_version_1_writes_no_limit_as_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    lines = "".join(f"3 1 0:3 / {tmp_path}/{name} rw - cgroup cgroup rw,{name}\n" for name in ("cpu", "memory"))
    write(cgroups.PROC, {"cgroup": "2:cpu:/job\n3:memory:/job\n0::/\n", "mountinfo": lines})
    write(tmp_path / "cpu" / "job", {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"})
    write(tmp_path / "cpu", {"cpu.cfs_quota_us": "150000\n", "cpu.cfs_period_us": "100000\n"})
    write(tmp_path / "memory" / "job", {"memory.limit_in_bytes": "9223372036854771712\n"})
    assert cgroups.cpu_quota() == 1.5
    assert cgroups.memory_limit() is None
    used = {"memory.usage_in_bytes": f"{2 * GIB}\n", "memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}\n"}
    write(tmp_path / "memory" / "job", {"memory.limit_in_bytes": f"{4 * GIB}\n", **used})
    assert cgroups.memory_left() == 3 * GIB


ASKED = "import json; from suite.machine import facts; print(json.dumps(facts.machine()))"


@pytest.fixture
def limited() -> Iterator[list[Path]]:
    """Groups below this program's, of half a core and 1 GiB; the test is skipped where none can be made."""
    made = []
    try:
        for controller, limit in (
            ("cpu", {"cpu.cfs_quota_us": "50000"}),
            ("memory", {"memory.limit_in_bytes": str(GIB)}),
        ):
            folder, version = cgroups.lineage(controller)[0]
            if version != 1:
                pytest.skip("version 2 lets no process into a group that limits groups below it")
            group = folder / f"stack-wars-test-{os.getpid()}"
            group.mkdir()
            made.append(group)
            write(group, limit)
    except OSError as refused:
        pytest.skip(f"no cgroup can be made here: {refused}")
    else:
        yield made
    finally:
        for folder in made:
            folder.rmdir()


@pytest.mark.machine
def test_the_kernels_own_groups(limited: list[Path]) -> None:
    def enter() -> None:
        for folder in limited:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    told = subprocess.run([sys.executable, "-c", ASKED], check=True, capture_output=True, text=True, preexec_fn=enter)
    machine = json.loads(told.stdout)
    assert machine["cpu_quota"] == 0.5
    assert len(machine["cores_usable"]) == 1
    assert machine["memory_limit_bytes"] == GIB
    assert 0.5 * GIB < machine["available_bytes"] < GIB < machine["ram_bytes"]
