"""What a container may do, and how its end is told: by a real engine where one answers."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker import DockerClient
from docker.errors import APIError, NotFound
from requests.exceptions import ConnectionError as Unreachable

from suite.case import Outcome
from suite.environments import images, locks
from suite.launch import container, events, outcome
from suite.launch.container import CASE, OWNER, Container
from suite.launch.engine import ProcessRequest
from suite.launch.process import EXIT_FILE, Exit, ProcessLimits
from tests.ctrl_c import heeding_ctrl_c
from tests.engine import images_or_skip

LIMITS = ProcessLimits(timeout_seconds=60, compile_timeout_seconds=60)


def request_of(folder: Path, code: str, **changes: Any) -> ProcessRequest:
    """A request to run a small program, which may import json, os, signal, socket, sys."""
    (folder / "out").mkdir()
    (folder / "cache").mkdir()
    (folder / "code").mkdir()
    program = folder / "code" / "program.py"
    program.write_text(
        f"import json, os, signal, socket, sys\nOUT, CACHE = {str(folder / 'out')!r}, "
        f"{str(folder / 'cache')!r}\n{code}\n"
    )
    fields: dict[str, Any] = {
        "name": "a case",
        "arguments": [str(program)],
        "folder": folder / "out",
        "reads": [program.parent],
        "cache_directory": folder / "cache",
        "keep_cache": False,
        "cpus": [0],
        "limits": LIMITS,
        "variables": {},
    }
    return ProcessRequest(**fields | changes)


@pytest.fixture(scope="module")
def client() -> DockerClient:
    return images_or_skip("numpy")


@pytest.fixture
def engine(client: DockerClient) -> Container:
    image = images.find(client, locks.newest("numpy", "cpu"))
    assert image is not None
    return Container(client, image, "lock", "cpu", "a set")


def told(folder: Path) -> dict[str, Any]:
    """What the program wrote."""
    found: dict[str, Any] = json.loads((folder / "out" / "told.json").read_text())
    return found


REFUSALS = {
    "import ctypes; ctypes.CDLL('libstdc++.so.6')._Znwm(ctypes.c_size_t(1 << 62))": "bad_alloc",
    "bytearray(1 << 62)": "MemoryError",
}


@pytest.mark.parametrize("code", REFUSALS)
def test_an_allocation_that_is_refused_is_an_oom_by_its_words(engine: Container, tmp_path: Path, code: str) -> None:
    end = engine.launch(request_of(tmp_path, code))
    said = (tmp_path / "out" / "stderr.log").read_text()
    judged = outcome.judge(end, events.read(tmp_path / "events.jsonl"), "cpu", said)
    assert (judged.outcome, end.memory_killed) == (Outcome.OOM_HOST, False)
    assert REFUSALS[code] in str(judged.reason)


def word(end: Exit, folder: Path) -> Outcome:
    """The outcome of an end without events."""
    return outcome.judge(end, events.read(folder / "events.jsonl"), "cpu", "").outcome


def containers_of(client: DockerClient, case: str) -> list[Any]:
    return client.containers.list(all=True, filters={"label": f"{CASE}={case}"})


def test_everything_but_the_case_is_closed(engine: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
def tries(what):
    try:
        what()
    except OSError as refused:
        return type(refused).__name__
    return "done"

status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
json.dump({
    "uid": os.getuid(), "interfaces": os.listdir("/sys/class/net"), "cores": sorted(os.sched_getaffinity(0)),
    "capabilities": [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new_privileges": status["NoNewPrivs"], "environment": dict(os.environ),
    "connect": tries(lambda: socket.create_connection(("1.1.1.1", 443), timeout=5)),
    "resolve": tries(lambda: socket.getaddrinfo("example.com", 443)),
    "root": tries(lambda: open("/usr/x", "w")), "source": tries(lambda: open(sys.argv[0], "a")),
    "cache": tries(lambda: open(CACHE + "/x", "w").write("x")), "temporary": tries(lambda: open("/tmp/x", "w")),
    "suite": tries(lambda: open(os.environ["PYTHONPATH"] + "/suite/x", "w")),
    "device": tries(lambda: os.mknod("/tmp/sda", 0o60600, os.makedev(8, 0))), "root_user": tries(lambda: os.setuid(0)),
}, open(OUT + "/told.json", "w"))
"""
    monkeypatch.setenv("XLA_FLAGS_OF_A_SHELL", "1")
    end = engine.launch(request_of(tmp_path, code))
    assert (end.exit_code, end.problem) == (0, None)
    seen = told(tmp_path)
    assert seen["uid"] != 0
    assert seen["interfaces"] == ["lo"]
    assert seen["cores"] == [0]
    assert {int(mask, 16) for mask in seen["capabilities"]} == {0}
    assert seen["no_new_privileges"] == "1"
    assert seen["connect"] != "done"
    assert seen["resolve"] != "done"
    assert seen["root"] != "done"
    assert seen["source"] != "done"
    assert seen["suite"] != "done"
    assert seen["device"] != "done"
    assert seen["root_user"] != "done"
    assert seen["cache"] == seen["temporary"] == "done"
    assert seen["environment"]["TMPDIR"] == seen["environment"]["HOME"] == str(tmp_path / "cache")
    assert "XLA_FLAGS_OF_A_SHELL" not in seen["environment"]
    assert os.listdir(tmp_path / "cache") == [], "the tmpfs vanishes with the container"


def test_a_kept_cache_is_there_for_the_next_container(engine: Container, tmp_path: Path) -> None:
    request = request_of(tmp_path, "open(CACHE + '/x', 'a').write('once ')", keep_cache=True)
    assert engine.launch(request).exit_code == engine.launch(request).exit_code == 0
    assert (tmp_path / "cache" / "x").read_text() == "once once "


@pytest.mark.parametrize(
    ("code", "exit_code", "number"),
    [
        ("sys.exit(7)", 7, None),
        ("os.abort()", None, signal.SIGABRT),
        ("os.kill(os.getpid(), signal.SIGSEGV)", None, signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGKILL)", None, signal.SIGKILL),
    ],
)
def test_the_true_end_is_told(
    engine: Container, tmp_path: Path, code: str, exit_code: int | None, number: int | None
) -> None:
    end = engine.launch(request_of(tmp_path, code))
    assert (end.exit_code, end.signal, end.memory_killed) == (exit_code, number, False)
    if number is not None:
        assert word(end, tmp_path) == Outcome.CRASHED, "a killed process alone is no evidence of memory"


def test_memory_over_the_limit_is_an_oom_with_the_kernels_count(engine: Container, tmp_path: Path) -> None:
    limits = ProcessLimits(timeout_seconds=60, compile_timeout_seconds=60, memory_bytes=64 * 2**20)
    end = engine.launch(request_of(tmp_path, "x = bytearray(10**9)", limits=limits))
    assert end.memory_killed
    assert end.oom_kills >= 1
    assert end.peak_bytes_cgroup is not None
    assert end.peak_bytes_cgroup <= 64 * 2**20
    assert word(end, tmp_path) == Outcome.OOM_HOST


def test_the_kernel_is_told_cores_processes_and_no_swap(
    engine: Container, client: DockerClient, tmp_path: Path
) -> None:
    cores = sorted(os.sched_getaffinity(0))[-1:]
    limits = ProcessLimits(timeout_seconds=60, compile_timeout_seconds=60, memory_bytes=256 * 2**20)
    request = request_of(tmp_path, "", cpus=cores, limits=limits)
    created = client.containers.create(engine.image_id, **engine.options(request, container.user_of(client)))
    try:
        told = client.api.inspect_container(created.id)["HostConfig"]
    finally:
        created.remove(force=True)
    assert (told["Memory"], told["MemorySwap"]) == (256 * 2**20, 256 * 2**20), "memory and swap together"
    assert told["PidsLimit"] == container.PIDS_MAX
    assert told["CpusetCpus"] == str(cores[0])
    assert not (told["Privileged"] or told["CapAdd"] or told["Devices"])


def test_a_fork_bomb_ends_at_the_limit_of_processes(
    engine: Container, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "PIDS_MAX", 32)
    code = """
children = []
try:
    while len(children) < 100:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except OSError as refused:
    json.dump({"forked": len(children), "refused": type(refused).__name__}, open(OUT + "/told.json", "w"))
"""
    end = engine.launch(request_of(tmp_path, code))
    assert (end.exit_code, end.left_behind) == (0, 0)
    seen = told(tmp_path)
    assert seen["refused"] == "BlockingIOError"
    assert 0 < seen["forked"] < 32


def test_a_deadline_holds_in_a_container(engine: Container, client: DockerClient, tmp_path: Path) -> None:
    limits = ProcessLimits(timeout_seconds=1, compile_timeout_seconds=1)
    end = engine.launch(request_of(tmp_path, "import time; time.sleep(600)", limits=limits, name="a slow case"))
    assert (end.timed_out, end.timeout_kind) == (True, "total")
    assert containers_of(client, "a slow case") == []


def test_ctrl_c_leaves_no_container(engine: Container, client: DockerClient, tmp_path: Path) -> None:
    request = request_of(
        tmp_path, "open(OUT + '/told.json', 'w').write('{}')\nimport time; time.sleep(600)", name="cut short"
    )
    main = threading.main_thread().ident
    assert main is not None
    done = threading.Event()

    def interrupt() -> None:
        while not (tmp_path / "out" / "told.json").exists():
            if done.wait(0.05):
                return
        signal.pthread_kill(main, signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    try:
        with heeding_ctrl_c(), pytest.raises(KeyboardInterrupt):
            watcher.start()
            engine.launch(request)
    finally:
        done.set()
        watcher.join()
    assert containers_of(client, "cut short") == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_ctrl_c_while_an_ended_container_is_removed_is_raised_once_it_is(when: str, tmp_path: Path) -> None:
    """Else the run would go on as if nobody had pressed it."""
    there, calls = ["the container"], []

    def remove(**_: object) -> None:
        calls.append(when)
        if len(calls) == 1 and when == "before":
            raise KeyboardInterrupt
        if not there:
            raise NotFound("no such container")
        there.clear()
        if len(calls) == 1:
            raise KeyboardInterrupt

    ended = SimpleNamespace(
        start=lambda: None,
        wait=lambda **_: None,
        reload=lambda: None,
        attrs={"State": {"Running": False, "OOMKilled": False, "ExitCode": 0, "Error": ""}},
        logs=lambda tail: b"a last word",
        remove=remove,
    )
    client: Any = SimpleNamespace(
        info=dict, version=lambda: {"Version": "1"}, containers=SimpleNamespace(create=lambda *_, **__: ended)
    )
    with pytest.raises(KeyboardInterrupt):
        Container(client, "an image", None, "cpu", "a set").launch(request_of(tmp_path, ""))
    assert not there and len(calls) == 2
    assert (tmp_path / "out").stat().st_uid == os.getuid(), "its output is ours again"


def test_what_a_dead_run_left_is_swept_and_a_living_ones_is_not(engine: Container, client: DockerClient) -> None:
    dead = "1 0 another-boot"
    for case, owner in (("left", dead), ("living", container.owner(os.getpid()))):
        client.containers.create(engine.image_id, labels={OWNER: owner, CASE: case})
    try:
        assert "left" in container.sweep(client)
        assert containers_of(client, "left") == []
        assert len(containers_of(client, "living")) == 1
    finally:
        for left in containers_of(client, "living"):
            left.remove(force=True)


def test_an_image_that_is_gone_is_the_harness_and_not_the_stack(client: DockerClient, tmp_path: Path) -> None:
    end = Container(client, "sha256:" + "0" * 64, None, "cpu", "a set").launch(request_of(tmp_path, ""))
    assert end.interrupted
    assert "Docker refused: No such image" in (end.problem or "")


def state(**changes: Any) -> Any:
    """A container that has ended, as the engine describes it."""
    fields = {"Running": False, "OOMKilled": False, "ExitCode": 0, "Error": ""} | changes
    return SimpleNamespace(attrs={"State": fields}, logs=lambda tail: b"a last word")


def test_137_alone_is_no_evidence_and_the_engines_word_is(tmp_path: Path) -> None:
    request = request_of(tmp_path, "")
    lost = container.account(state(ExitCode=137), request)
    assert (lost.memory_killed, lost.interrupted) == (False, True)
    assert "exited 137" in (lost.problem or "")
    assert "a last word" in (lost.problem or "")
    killed = container.account(state(ExitCode=137, OOMKilled=True), request)
    assert (killed.memory_killed, killed.signal, word(killed, tmp_path)) == (True, 9, Outcome.OOM_HOST)


def test_the_supervisors_account_stands_with_the_engines_evidence_on_top(tmp_path: Path) -> None:
    request = request_of(tmp_path, "")
    fields = dataclasses.asdict(Exit(exit_code=1, limits=request.limits))
    del fields["limits"], fields["problem"]
    (request.folder / EXIT_FILE).write_text(json.dumps(fields))
    assert not container.account(state(), request).memory_killed
    assert container.account(state(OOMKilled=True), request).memory_killed
    assert container.account(state(Running=True), request).interrupted
    for account in ("[]", "{}", "0", '"exit_code"'):
        (request.folder / EXIT_FILE).write_text(account)
        assert container.account(state(), request).interrupted


def test_a_gpu_is_asked_for_by_a_device_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (request,) = container.devices("cuda")["device_requests"]
    assert (request["Driver"], request["Count"], request["Capabilities"]) == ("nvidia", 1, [["gpu"]])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    (request,) = container.devices("cuda")["device_requests"]
    assert (request["Count"], request["DeviceIDs"]) == (0, ["2", "3"])
    assert container.devices("cpu") == {}


def test_a_tpus_files_are_handed_on_with_what_libtpu_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vfio").mkdir()
    for name in ("accel0", "vfio/0", "vfio/vfio", "null"):
        (tmp_path / name).touch()
    given = container.devices("tpu", tmp_path)
    assert given["devices"] == [f"{tmp_path / name}:{tmp_path / name}:rw" for name in ("accel0", "vfio/0", "vfio/vfio")]
    assert [(limit["Name"], limit["Soft"], limit["Hard"]) for limit in given["ulimits"]] == [("memlock", -1, -1)]
    monkeypatch.setenv("TPU_WORKER_ID", "3")
    (tmp_path / "case").mkdir()
    monkeypatch.setenv("XLA_FLAGS", "--of-a-shell")
    variables = container.variables(request_of(tmp_path / "case", ""), "tpu")
    assert "XLA_FLAGS" not in variables
    assert variables["HOME"] == variables["TMPDIR"] == str(tmp_path / "case" / "cache")
    assert variables["PATH"].startswith("/opt/environment/bin:")
    assert (variables["TPU_SKIP_MDS_QUERY"], variables["TPU_WORKER_ID"]) == ("1", "3")
    assert not any(name.startswith("TPU_") for name in container.variables(request_of(tmp_path, ""), "cpu"))


def test_an_owner_is_one_process_of_one_boot() -> None:
    own = container.owner(os.getpid())
    assert container.alive(own)
    pid, started, boot = own.split()
    for other in (f"{pid} 1 {boot}", f"{pid} {started} another", "4194305 1 x", "", "no number"):
        assert not container.alive(other)


def test_the_daemons_absence_and_its_refusals_are_told_apart() -> None:
    assert "went away" in container.complaint(Unreachable("refused"))
    assert container.complaint(APIError("x", explanation="no such image")) == "Docker refused: no such image"
