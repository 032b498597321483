"""The supervisor and the local engine, with real processes that crash, hang, flood and fork."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from suite.launch.engine import ROOT, skewing, worker_environment
from suite.launch.supervisor import cgroup, tree
from suite.launch.supervisor.output import HEAD_BYTES, TAIL_BYTES
from suite.launch.supervisor.supervise import PhaseReader, Thrashing
from tests.ctrl_c import on_ctrl_c
from tests.launch.programs import HUNG_SECONDS, Run, alive, read_pids, wait_for, write_program

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


def test_a_timeout_counts_from_the_start(run: Run) -> None:
    end = run("time.sleep(FOREVER)", timeout_seconds=0.5)
    assert (end.timed_out, end.timeout_kind, end.signal) == (True, "total", signal.SIGKILL)
    assert end.duration_seconds >= 0.5


def test_a_timeout_kills_the_whole_tree(run: Run, tmp_path: Path) -> None:
    """The deadline of a phase: it begins once the tree stands, however long that takes."""
    end = run(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "if child == 0: time.sleep(FOREVER)\n"
        "note(worker=os.getpid(), child=child, daemon=daemon())\n"
        "emit({'event': 'phase', 'phase': 'first'})\n"
        "time.sleep(FOREVER)",
        compile_timeout_seconds=0.3,
    )
    assert (end.timed_out, end.timeout_kind, end.signal) == (True, "compile", signal.SIGKILL)
    assert end.duration_seconds >= 0.3
    pids = read_pids(tmp_path)
    assert len(pids) == 3 and not any(alive(pid) for pid in pids.values())


@pytest.mark.parametrize("quick", [True, False])
def test_descendants_are_found_by_either_listing(monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    monkeypatch.setattr(tree, "HAS_CHILDREN_FILES", quick and tree.HAS_CHILDREN_FILES)
    shell = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
    assert shell.stdout is not None
    try:
        child = int(shell.stdout.readline())
        wait_for(lambda: Path(f"/proc/{child}/comm").read_text() == "sleep\n")  # before, it is the shell's copy
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


def test_the_compile_deadline_counts_in_compile_phases_alone(run: Run, tmp_path: Path) -> None:
    phase = "emit({'event': 'phase', 'phase': '%s'})\n"
    end = run(f"{phase % 'second'}time.sleep(FOREVER)", compile_timeout_seconds=0.3)
    assert (end.timed_out, end.timeout_kind) == (True, "compile")
    (tmp_path / "events.jsonl").unlink()
    end = run(f"{phase % 'steady'}looks(8)", compile_timeout_seconds=0.3)
    assert (end.timed_out, end.exit_code) == (False, 0)


HUNGRY = "data = bytearray(b'x') * (400 << 20); time.sleep(FOREVER)"


@pytest.mark.usefixtures("memory_cgroup")
def test_a_cgroup_kills_at_the_memory_limit(run: Run) -> None:
    end = run(HUNGRY, memory_bytes=64 * MIB)
    assert (end.memory_killed, end.signal) == (True, signal.SIGKILL)
    assert end.memory_limit_by in ("cgroup v1", "cgroup v2") and end.oom_kills >= 1
    assert 32 * MIB < (end.peak_bytes_cgroup or 0) <= 64 * MIB
    _no_cgroup_left()


@pytest.mark.usefixtures("memory_cgroup")
def test_a_cgroup_kill_of_a_child_ends_the_tree(run: Run) -> None:
    end = run(f"if os.fork() == 0:\n    {HUNGRY}\ntime.sleep(FOREVER)", memory_bytes=64 * MIB)
    assert end.memory_killed and not end.timed_out
    _no_cgroup_left()


# Fills its memory, then reads a file of 64 MiB whole, over and over. The kernel doesn't read ahead: 8 MiB of pages that
# are on their way can't be pushed out, and where no others are left, it kills.
THRASH = """
file = os.open("large", os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
def anonymous():
    return int(open("/proc/self/smaps_rollup").read().split("Anonymous:")[1].split()[0]) << 10
def read_all():
    for place in range(0, 64 << 20, 1 << 20):
        os.pread(file, 1 << 20, place)
held = bytearray(b"x") * (%d - anonymous())
"""
READ_FOREVER = THRASH + "while True: read_all()"


def uncached(path: Path) -> None:
    """A file on the disk alone: what others have read is counted as theirs."""
    with path.open("wb") as file:
        file.write(os.urandom(64 * MIB))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.usefixtures("memory_cgroup")
def test_what_only_reads_its_files_again_has_run_out_of_memory(run: Run, tmp_path: Path) -> None:
    """The kernel kills nobody as long as there is a page of a file to push out; the step would take hours."""
    uncached(tmp_path / "large")
    end = run(READ_FOREVER % (246 * MIB), memory_bytes=256 * MIB, thrashing_seconds=0.5)
    assert end.memory_killed and end.thrashed and end.oom_kills == 0
    assert not end.timed_out and end.signal == signal.SIGKILL
    _no_cgroup_left()


@pytest.mark.usefixtures("memory_cgroup")
def test_what_the_kernel_kills_amid_such_reading_was_killed_by_the_kernel(run: Run, tmp_path: Path) -> None:
    """Whoever comes first, it has run out of memory; that it thrashed is said by who has seen it for long enough."""
    uncached(tmp_path / "large")
    code = f"{THRASH % (246 * MIB)}read_all()\nread_all()\n{HUNGRY}"
    end = run(code, memory_bytes=256 * MIB, thrashing_seconds=10 * HUNG_SECONDS)
    assert end.memory_killed and end.oom_kills >= 1 and not end.thrashed
    assert not end.timed_out and end.signal == signal.SIGKILL
    _no_cgroup_left()


@pytest.mark.usefixtures("memory_cgroup")
def test_reading_much_with_room_to_spare_is_no_want_of_memory(run: Run, tmp_path: Path) -> None:
    uncached(tmp_path / "large")
    rest = "until = time.monotonic() + 3\nwhile time.monotonic() < until: read_all()"
    end = run(f"{THRASH % (40 * MIB)}{rest}", memory_bytes=64 * MIB, thrashing_seconds=0.5)
    assert (end.exit_code, end.memory_killed, end.thrashed) == (0, False, False)
    assert end.duration_seconds >= 3


def test_thrashing_is_to_last_without_a_break() -> None:
    """Looks a second apart at 0, 6,000 or 4,000 pages more; None: the memory isn't full."""
    thrashing = Thrashing(2.0)
    counts = [0, 6000, 12_000, 16_000, 22_000, None, 28_000, 34_000, 40_000]
    assert [thrashing.lasts(float(second), count) for second, count in enumerate(counts)] == [
        False,
        False,
        True,
        False,
        False,
        False,
        False,
        False,
        True,
    ]
    assert thrashing.seen


def test_a_limit_that_is_kept_changes_nothing(run: Run) -> None:
    end = run("time.sleep(0.3)", memory_bytes=256 * MIB)
    assert (end.exit_code, end.memory_killed, end.oom_kills) == (0, False, 0)
    assert end.memory_limit_by is not None
    _no_cgroup_left()


def test_the_watchdog_kills_at_the_memory_limit(run: Run, tmp_path: Path) -> None:
    wait = "while not os.path.exists('pids.json'): time.sleep(0.01)"
    code = f"child = os.fork()\nif child == 0:\n    {wait}\n    {HUNGRY}\nnote(child=child)\ntime.sleep(FOREVER)"
    end = run(code, memory_bytes=64 * MIB, cgroup=False)
    assert (end.memory_killed, end.memory_limit_by, end.oom_kills) == (True, "watchdog", 0)
    assert (end.peak_bytes_tree or 0) > 64 * MIB
    assert not alive(read_pids(tmp_path)["child"])


def test_the_watchdog_counts_shared_pages_once(run: Run) -> None:
    code = (
        f"data = bytearray(b'x') * {60 * MIB}\nfor _ in range(3):\n    if os.fork() == 0: time.sleep(FOREVER)\nlooks(8)"
    )
    end = run(code, memory_bytes=160 * MIB, cgroup=False)
    assert (end.exit_code, end.memory_killed) == (0, False)
    assert (end.peak_bytes_tree or 0) > 160 * MIB  # the cheap sum alone would have killed it


def test_a_lost_supervisor_takes_its_worker_along(run: Run, tmp_path: Path) -> None:
    end = run("note(worker=os.getpid()); os.kill(os.getppid(), signal.SIGKILL); time.sleep(FOREVER)")
    assert end.interrupted and end.problem is not None and "-9" in end.problem
    wait_for(lambda: not alive(read_pids(tmp_path)["worker"]))


def test_waiting_costs_nothing(run: Run, tmp_path: Path) -> None:
    """Processor time of the supervisor while its worker sleeps: what spins takes its whole share of a core."""
    run(
        "def used():\n"
        "    return sum(map(int, open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[11:13]))\n"
        "looks(1)\n"
        "start, before = time.monotonic(), used()\n"
        "time.sleep(2)\n"
        "print(used() - before, time.monotonic() - start)",
        memory_bytes=256 * MIB,
        cgroup=False,
    )
    ticks, seconds = map(float, log(tmp_path, "stdout").split())
    assert ticks / os.sysconf("SC_CLK_TCK") < 0.1 * seconds


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_die_with_their_orchestrator(tmp_path: Path, number: signal.Signals) -> None:
    program = write_program(tmp_path / "program.py", "note(worker=os.getpid(), daemon=daemon()); time.sleep(FOREVER)")
    code = (
        "import sys; from pathlib import Path\n"
        "from suite.launch.local import launch; from suite.launch.process import ProcessLimits\n"
        "limits = ProcessLimits(timeout_seconds=600, compile_timeout_seconds=600)\n"
        "launch([sys.argv[1]], {}, Path(sys.argv[2]), limits)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    orchestrator = subprocess.Popen(
        [sys.executable, "-c", code, program, tmp_path], env=environment, stderr=subprocess.PIPE, preexec_fn=on_ctrl_c()
    )
    try:
        pids = read_pids(tmp_path)
        orchestrator.send_signal(number)
        complaint = orchestrator.communicate(timeout=HUNG_SECONDS)[1]
        wait_for(lambda: not any(alive(pid) for pid in pids.values()))
    finally:
        orchestrator.kill()
    assert orchestrator.returncode == -number
    account = tmp_path / "exit.json"
    wait_for(account.exists)
    assert json.loads(account.read_text(encoding="utf-8"))["interrupted"]
    assert (b"KeyboardInterrupt" in complaint) == (number == signal.SIGINT)


def test_the_worker_environment_is_ours() -> None:
    base = {
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
    environment = worker_environment(base)
    assert skewing(base) == [
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


@pytest.fixture
def memory_cgroup() -> None:
    """Where none can be made, the test is skipped."""
    group = cgroup.create(64 * MIB)
    if group is None:
        pytest.skip("no memory cgroup can be made here: the cgroup file system isn't writable for us")
    group.remove()


def _no_cgroup_left() -> None:
    own, mountinfo = (Path(f"/proc/self/{name}").read_text(encoding="utf-8") for name in ("cgroup", "mountinfo"))
    for parent, _ in cgroup.parents(own, mountinfo):
        for folder in Path(parent).glob(f"{cgroup.PREFIX}*"):
            # Others may be at work: theirs goes before its supervisor does.
            at_work = Path(f"/proc/{folder.name.removeprefix(cgroup.PREFIX)}").exists()
            assert at_work or not folder.exists()


def test_the_time_of_each_phase_is_taken_by_the_supervisor_s_clock(tmp_path: Path) -> None:
    """From one look to the next: a phase begins with the look that notices it."""
    path = tmp_path / "events.jsonl"
    reader = PhaseReader(str(path), ["first", "steady"])
    reader.update(2.0)
    for phase, running in (("first", 3.0), ("third", 3.5), ("steady", 5.5), ("steady", 6.0), ("end", 8.0)):
        with path.open("a") as file:
            file.write(json.dumps({"event": "phase", "phase": phase, "t_ns": 1}) + "\n")
        reader.update(running)
    reader.update(9.0)
    assert reader.seconds == {"first": 0.5, "steady": 2.5}
