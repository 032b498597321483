"""The supervisor and the local engine, with real processes that crash, hang, flood and fork."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suite.launch import cgroup, tree
from suite.launch.engine import ROOT, worker_environment
from suite.launch.output import HEAD_BYTES, TAIL_BYTES
from tests.launch.programs import Run, alive, read_pids, wait_for, write_program

MIB = 2**20


def log(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text(encoding="utf-8")


def test_a_worker_gets_a_session_of_its_own_and_nothing_of_ours(run: Run, tmp_path: Path) -> None:
    end = run(
        "print(os.getsid(0) == os.getpid(), repr(sys.stdin.read()), sorted(os.environ), os.getcwd())\n"
        "print(open('/proc/self/oom_score_adj').read().strip(), sorted(os.listdir('/proc/self/fd'))[:4])\n"
        "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)\n"
        "print('last words', file=sys.stderr); sys.exit(7)"
    )
    assert (end.exit_code, end.signal, end.interrupted, end.left_behind) == (7, None, False, 0)
    first, second, third = log(tmp_path, "stdout").splitlines()
    assert first.startswith("True '' [") and "'SHELLS'" in first and first.endswith(str(tmp_path))
    assert "HOME" not in first
    assert second == "1000 ['0', '1', '2', '3']"  # 3 is the listing itself
    assert third == "True"
    assert log(tmp_path, "stderr") == "last words\n"
    assert not (tmp_path / "exit.json.tmp").exists()


@pytest.mark.parametrize("code", ["ctypes.string_at(0)", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_a_segmentation_fault_is_told_by_its_signal(run: Run, code: str) -> None:
    end = run(code)
    assert (end.exit_code, end.signal, end.timed_out, end.memory_killed) == (None, 11, False, False)


def test_a_flood_of_output_neither_blocks_nor_fills_the_disk(run: Run, tmp_path: Path) -> None:
    end = run(
        "os.write(1, b'first words\\n')\n"
        "block = b'x' * (1 << 20)\n"
        "for _ in range(200):\n"
        "    view = memoryview(block)\n"
        "    while view: view = view[os.write(1, view):]\n"
        "os.write(1, b'\\nlast words\\n')"
    )
    assert end.exit_code == 0
    data = (tmp_path / "stdout.log").read_bytes()
    assert HEAD_BYTES + TAIL_BYTES < len(data) < HEAD_BYTES + TAIL_BYTES + 100
    assert data.startswith(b"first words\n") and data.endswith(b"\nlast words\n")
    assert f"{200 * MIB + 24 - HEAD_BYTES - TAIL_BYTES} bytes of output left out".encode() in data


def test_a_timeout_kills_the_whole_tree(run: Run, tmp_path: Path) -> None:
    end = run(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child == 0: time.sleep(60)\n"
        "note(worker=os.getpid(), child=child, daemon=daemon())\n"
        "time.sleep(60)",
        timeout_seconds=0.5,
    )
    assert (end.timed_out, end.timeout_kind, end.signal) == (True, "total", signal.SIGKILL)
    assert 0.5 <= end.duration_seconds < 1.5
    pids = read_pids(tmp_path)
    assert len(pids) == 3 and not any(alive(pid) for pid in pids.values())


@pytest.mark.parametrize("quick", [True, False])
def test_descendants_are_found_by_either_listing(monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    monkeypatch.setattr(tree, "HAS_CHILDREN_FILES", quick and tree.HAS_CHILDREN_FILES)
    shell = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    assert shell.stdout is not None
    try:
        child = int(shell.stdout.readline())
        found = tree.descendants(os.getpid())
        assert shell.pid in found and child in found and os.getpid() not in found
        assert tree.descendants(shell.pid) == [child]
        assert 0 < tree.proportional_bytes([child]) <= tree.resident_bytes([child])
    finally:
        os.kill(child, signal.SIGKILL)
        shell.wait()
        shell.stdout.close()
    assert tree.resident_bytes([child]) == tree.proportional_bytes([child]) == 0


def test_what_outlives_a_worker_is_ended(run: Run, tmp_path: Path) -> None:
    end = run("note(daemon=daemon())")
    assert end.exit_code == 0
    assert not alive(read_pids(tmp_path)["daemon"])


def test_the_compile_deadline_counts_in_compile_phases_alone(run: Run) -> None:
    hang = "emit({'event': 'phase', 'phase': '%s'}); time.sleep(%s)"
    end = run(hang % ("second", 60), compile_timeout_seconds=0.3)
    assert (end.timed_out, end.timeout_kind) == (True, "compile")
    end = run(hang % ("steady", 0.8), compile_timeout_seconds=0.3)
    assert (end.timed_out, end.exit_code) == (False, 0)


HUNGRY = "data = bytearray(b'x') * (400 << 20); time.sleep(5)"


def test_a_cgroup_kills_at_the_memory_limit(run: Run) -> None:
    _need_cgroup()
    end = run(HUNGRY, memory_bytes=64 * MIB)
    assert (end.memory_killed, end.signal) == (True, signal.SIGKILL)
    assert end.memory_limit_by in ("cgroup v1", "cgroup v2") and end.oom_kills >= 1
    assert 32 * MIB < (end.peak_bytes_cgroup or 0) <= 64 * MIB
    _no_cgroup_left()


def test_a_cgroup_kill_of_a_child_ends_the_tree(run: Run) -> None:
    _need_cgroup()
    end = run(f"if os.fork() == 0:\n    {HUNGRY}\ntime.sleep(20)", memory_bytes=64 * MIB)
    assert end.memory_killed and end.duration_seconds < 5
    _no_cgroup_left()


THRASH = """
file, held, full = os.open("large", os.O_RDONLY), [], %d
def anonymous():
    return int(open("/proc/self/smaps_rollup").read().split("Anonymous:")[1].split()[0]) << 10
while anonymous() < full:
    held.append(bytearray(b"x") * (1 << 19))
while True:
    for place in range(0, 64 << 20, 1 << 20):
        os.pread(file, 1 << 20, place)
"""


def uncached(path: Path) -> None:
    """A file on the disk alone: what others have read is counted as theirs."""
    with path.open("wb") as file:
        file.write(os.urandom(64 * MIB))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_what_only_reads_its_files_again_has_run_out_of_memory(run: Run, tmp_path: Path) -> None:
    """The kernel kills nobody as long as there is a page of a file to push out; the step would take hours."""
    _need_cgroup()
    uncached(tmp_path / "large")
    end = run(THRASH % (124 * MIB), memory_bytes=128 * MIB, thrashing_seconds=1.0, timeout_seconds=60)
    assert end.memory_killed and end.thrashed and end.oom_kills == 0
    assert end.duration_seconds < 50
    _no_cgroup_left()


def test_reading_much_with_room_to_spare_is_no_want_of_memory(run: Run, tmp_path: Path) -> None:
    _need_cgroup()
    uncached(tmp_path / "large")
    end = run(THRASH % (40 * MIB), memory_bytes=64 * MIB, thrashing_seconds=1.0, timeout_seconds=4)
    assert end.timed_out and not end.memory_killed and not end.thrashed


def test_a_limit_that_is_kept_changes_nothing(run: Run) -> None:
    end = run("time.sleep(0.3)", memory_bytes=256 * MIB)
    assert (end.exit_code, end.memory_killed, end.oom_kills) == (0, False, 0)
    assert end.memory_limit_by is not None
    _no_cgroup_left()


def test_the_watchdog_kills_at_the_memory_limit(run: Run, tmp_path: Path) -> None:
    code = f"child = os.fork()\nif child == 0:\n    {HUNGRY}\nnote(child=child)\ntime.sleep(20)"
    end = run(code, memory_bytes=64 * MIB, cgroup=False)
    assert (end.memory_killed, end.memory_limit_by, end.oom_kills) == (True, "watchdog", 0)
    assert (end.peak_bytes_tree or 0) > 64 * MIB
    assert not alive(read_pids(tmp_path)["child"])


def test_the_watchdog_counts_shared_pages_once(run: Run) -> None:
    code = (
        f"data = bytearray(b'x') * {60 * MIB}\n"
        "for _ in range(3):\n    if os.fork() == 0: break\n"
        "time.sleep(0.7)"
    )
    end = run(code, memory_bytes=160 * MIB, cgroup=False)
    assert (end.exit_code, end.memory_killed) == (0, False)
    assert (end.peak_bytes_tree or 0) > 160 * MIB  # the cheap sum alone would have killed it


def test_a_lost_supervisor_takes_its_worker_along(run: Run, tmp_path: Path) -> None:
    end = run("note(worker=os.getpid()); os.kill(os.getppid(), signal.SIGKILL); time.sleep(20)")
    assert end.interrupted and end.problem is not None and "-9" in end.problem
    wait_for(lambda: not alive(read_pids(tmp_path)["worker"]), seconds=2)


def test_waiting_costs_nothing(run: Run) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("time.sleep(1.2)", memory_bytes=256 * MIB, cgroup=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 0.6  # two interpreters' starts; a spinning parent would take 1.2 s


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_die_with_their_orchestrator(tmp_path: Path, number: signal.Signals) -> None:
    program = write_program(
        tmp_path / "program.py", "note(worker=os.getpid(), daemon=daemon()); time.sleep(60)"
    )
    code = (
        "import signal, sys; from pathlib import Path\n"
        "from suite.launch.local import launch; from suite.launch.process import Limits\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background shell ignores it
        "limits = Limits(timeout_seconds=60, compile_timeout_seconds=60)\n"
        "launch([sys.argv[1]], {}, Path(sys.argv[2]), limits)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    orchestrator = subprocess.Popen(
        [sys.executable, "-c", code, program, tmp_path], env=environment, stderr=subprocess.PIPE
    )
    try:
        pids = read_pids(tmp_path)
        orchestrator.send_signal(number)
        started = time.monotonic()
        complaint = orchestrator.communicate(timeout=10)[1]
        wait_for(lambda: not any(alive(pid) for pid in pids.values()), seconds=2)
        assert time.monotonic() - started < 2
    finally:
        orchestrator.kill()
    assert orchestrator.returncode == -number
    account = tmp_path / "exit.json"
    wait_for(account.exists, seconds=2)
    assert json.loads(account.read_text(encoding="utf-8"))["interrupted"]
    assert (b"KeyboardInterrupt" in complaint) == (number == signal.SIGINT)


def test_the_worker_environment_is_ours() -> None:
    environment, dropped = worker_environment(
        {
            "PATH": "/bin",
            "HOME": "/h",
            "XLA_FLAGS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": "/x",
            "LANG": "de",
            "COMPOSE": "1",
            "LD_PRELOAD": "x.so",
            "CUDA_VISIBLE_DEVICES": "3",
            "CUDA_CACHE_DISABLE": "1",
            "MALLOC_ARENA_MAX": "1",
            "SECRET": "s",
        }
    )
    assert dropped == [
        "CUDA_CACHE_DISABLE",
        "LD_PRELOAD",
        "MALLOC_ARENA_MAX",
        "OMP_NUM_THREADS",
        "PYTHONPATH",
        "XLA_FLAGS",
    ]
    assert environment == {
        "PATH": "/bin",
        "HOME": "/h",
        "CUDA_VISIBLE_DEVICES": "3",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONNOUSERSITE": "1",
    }


def _need_cgroup() -> None:
    group = cgroup.create(64 * MIB)
    if group is None:
        pytest.skip("no memory cgroup can be made here: the cgroup file system isn't writable for us")
    group.remove()


def _no_cgroup_left() -> None:
    own, mountinfo = (
        Path(f"/proc/self/{name}").read_text(encoding="utf-8") for name in ("cgroup", "mountinfo")
    )
    for parent, _ in cgroup.parents(own, mountinfo):
        pids = [path.name.removeprefix(cgroup.PREFIX) for path in Path(parent).glob(f"{cgroup.PREFIX}*")]
        assert not [pid for pid in pids if not Path(f"/proc/{pid}").exists()]  # others may be at work
