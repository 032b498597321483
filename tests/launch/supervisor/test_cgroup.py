"""Finding the place for a cgroup, and the files of version 2, on plain folders."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from suite.launch.supervisor import cgroup

V1 = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 31 0:32 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


def test_version_1_is_found_from_outside_and_inside_a_container() -> None:
    own = "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/user.slice\n"
    folder = "/sys/fs/cgroup/memory"
    assert list(cgroup.parents(own, V1.format(root="/"))) == [(f"{folder}/docker/abc", 1)]
    assert list(cgroup.parents(own, V1.format(root="/docker/abc"))) == [(folder, 1)]
    assert list(cgroup.parents(own, V1.format(root="/docker/other"))) == []


def test_version_2_goes_beside_a_cgroup_that_holds_processes(tmp_path: Path) -> None:
    mountinfo = f"30 23 0:26 / {tmp_path} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
    own = tmp_path / "app.slice" / "shell.scope"
    own.mkdir(parents=True)
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    found = [(str(own.parent), 2)]
    assert list(cgroup.parents("0::/app.slice/shell.scope\n", mountinfo)) == found
    (own / "memory.max").write_text("max\n")
    (own / "cpu.max").write_text("max 100000\n")
    assert list(cgroup.parents("0::/app.slice/shell.scope\n", mountinfo)) == found
    (own / "memory.max").write_text("1073741824\n")  # beside it would be outside of this limit
    assert list(cgroup.parents("0::/app.slice/shell.scope\n", mountinfo)) == []


def test_version_2_goes_beneath_a_cgroup_that_distributes_memory(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("memory\n")
    mountinfo = f"30 23 0:26 / {tmp_path} rw - cgroup2 cgroup2 rw\n"
    assert list(cgroup.parents("0::/\n", mountinfo)) == [(str(tmp_path), 2)]


def test_memory_that_is_no_page_cache_is_read_from_either_version(tmp_path: Path) -> None:
    (tmp_path / "memory.stat").write_text("cache 1\nrss 2\nanon 3\nfile 4\ntotal_cache 5\ntotal_rss 6\n")
    assert cgroup.MemoryCgroup(str(tmp_path), 1).anonymous_bytes() == 6
    assert cgroup.MemoryCgroup(str(tmp_path), 2).anonymous_bytes() == 3


def test_pages_that_were_read_again_are_counted(tmp_path: Path) -> None:
    group = cgroup.MemoryCgroup(str(tmp_path), 2)
    assert group.refaults() == 0
    (tmp_path / "memory.stat").write_text("workingset_refault 7\n")
    assert group.refaults() == 7
    (tmp_path / "memory.stat").write_text("workingset_refault_anon 9\nworkingset_refault_file 8\n")
    assert group.refaults() == 8


def test_what_a_killed_supervisor_has_left_is_ended_by_the_next(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "60"])
    supervisor = subprocess.Popen(["true"])
    supervisor.wait()
    folder = tmp_path / f"{cgroup.PREFIX}{supervisor.pid}"
    folder.mkdir()
    (folder / "cgroup.procs").write_text(f"{left.pid}\n")
    cgroup._sweep(str(tmp_path))
    assert left.wait(10) == -signal.SIGKILL


def test_the_cgroup_around_us_is_neither_entered_nor_removed(tmp_path: Path) -> None:
    around = cgroup.ContainerCgroup(str(tmp_path), 2)
    around.add(1)
    around.remove()
    assert tmp_path.exists()


def test_version_2_limits_memory_and_swap_of_the_whole_group(tmp_path: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "cgroup.procs"):
        (tmp_path / name).touch()
    (tmp_path / "memory.events").write_text("low 0\noom 2\noom_kill 3\noom_group_kill 1\n")
    group = cgroup.MemoryCgroup(str(tmp_path), 2)
    group.set_limit(1234)
    group.add(42)
    assert (tmp_path / "memory.max").read_text() == "1234"
    assert (tmp_path / "memory.swap.max").read_text() == "0"
    assert (tmp_path / "memory.oom.group").read_text() == "1"
    assert (tmp_path / "cgroup.procs").read_text() == "42"
    assert group.oom_kills() == 3
    assert group.peak_bytes() is None
    (tmp_path / "memory.peak").write_text("777\n")
    assert group.peak_bytes() == 777


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert list(cgroup.parents("", "")) == []
