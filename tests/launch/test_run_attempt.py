"""One attempt from file to columns, with a program in the interpreter's place."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from suite.case import Attempt, Purpose
from suite.launch.attempt import RESERVED_BYTES, limits_of, prepare, run_attempt, tail
from suite.launch.local import Local
from suite.machine import facts
from suite.protocol import Protocol
from tests.launch.programs import HUNG_SECONDS, write_program
from tests.results.rows import GEMM

CASE = dataclasses.replace(GEMM, dims={"n": 8}, threads=1, limit_memory_bytes=2**30)
ATTEMPT = Attempt(set_id="s", case=CASE, block=1, position=0, replicate=1, purpose=Purpose.TIMED, retry=1, seed=7)
PROTOCOL = Protocol(timeout_seconds=HUNG_SECONDS)


def attempt_columns(folder: Path, code: str, **changes: Any) -> dict[str, Any]:
    python = write_program(folder / "python", code)
    request = prepare(
        ATTEMPT,
        folder=folder / "logs",
        protocol=dataclasses.replace(PROTOCOL, **changes),
        cpus=[0],
        gate=True,
        workload_folder=folder,
        cache_directory=folder / "cache",
    )
    return run_attempt(ATTEMPT, request, Local(python))


def test_an_attempt_that_ends_well(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "events.jsonl").write_text("left by a lost session")
    before = datetime.datetime.now(datetime.UTC)
    columns = attempt_columns(
        tmp_path,
        "print('seen', file=sys.stderr)\n"
        "question = json.load(open(sys.argv[3]))\n"
        "assert sys.argv[1:3] == ['-m', 'suite.worker'] and sys.argv[4:] == ['--out', os.getcwd()]\n"
        "emit({'event': 'phase', 'phase': 'steady'},\n"
        "     {'event': 'facts', 'columns': {'compiles_first': 0, 'outcome': 'mine'}},\n"
        "     {'event': 'samples', 'clock': 'synced', 'synced_seconds': [2.0], 'dispatch_seconds': [1.0]},\n"
        "     {'event': 'metric', 'name': 'x', 'unit': 's', 'kind': 'time',\n"
        "      'values': [question['attempt']['seed']]},\n"
        "     {'event': 'end'})",
    )
    assert before <= columns.pop("started_at") <= datetime.datetime.now(datetime.UTC)
    for name in ("cgroup_peak_bytes", "cgroup_anonymous_bytes"):  # null where no cgroup can be made
        assert (columns.pop(name) or 1) > 0
    assert columns == {
        "engine": "local",
        "lock_sha256": None,
        "compiles_first": 0,
        "synced_seconds": [2.0],
        "synced_others": [None],
        "synced_rounds": None,
        "pipelined_others": None,
        "fetch_others": None,
        "dispatch_seconds": [1.0],
        "pipelined_seconds": None,
        "fetch_seconds": None,
        "metrics": '[{"kind":"time","name":"x","unit":"s","values":[7.0]}]',
        "outcome": "ok",
        "reason": None,
        "flags": [],
        "phase": "steady",
        "exception_type": None,
        "message": None,
        "exit_code": 0,
        "signal": None,
        "stderr_tail": "seen",
    }
    question = json.loads((logs / "ATTEMPT.json").read_text(encoding="utf-8"))
    assert Attempt.from_json(question["attempt"]) == ATTEMPT
    assert Protocol(**question["protocol"]) == PROTOCOL
    assert (question["cpus"], question["gate"], question["environment"]) == ([0], True, "numpy")


@pytest.mark.parametrize(
    ("code", "outcome", "reason"),
    [
        ("", "error", "exited 0 without results, before its first phase"),
        ("open('events.jsonl', 'wb').write(bytes(range(256)))", "error", "unreadable events.jsonl: line 1: not JSON"),
        (
            "emit({'event': 'phase', 'phase': 'place'}); ctypes.string_at(0)",
            "crashed",
            "segmentation fault (signal 11) while placing the tensors",
        ),
        ("raise SystemExit('no good')", "error", "exited 1 before its first phase: no good"),
        # C++'s operator new, really refused; nothing catches what it throws.
        (
            "emit({'event': 'phase', 'phase': 'first'}); ctypes.CDLL('libstdc++.so.6')._Znwm(ctypes.c_size_t(1 << 62))",
            "oom_host",
            "out of host memory in the first run: terminate called after throwing an instance of 'std::bad_all",
        ),
    ],
)
def test_an_attempt_that_does_not(tmp_path: Path, code: str, outcome: str, reason: str) -> None:
    columns = attempt_columns(tmp_path, code)
    assert columns["outcome"] == outcome
    assert columns["reason"].startswith(reason)
    assert columns["synced_seconds"] is None


@pytest.mark.parametrize(
    ("code", "limit", "reason"),
    [
        ("time.sleep(FOREVER)", "timeout_seconds", "no answer within 0.5 s, before its first phase"),
        # What has begun when its time is up is known of a phase whose own time is up.
        (
            "emit({'event': 'phase', 'phase': 'first'}); time.sleep(FOREVER)",
            "compile_timeout_seconds",
            "not compiled within 0.5 s, in the first run",
        ),
    ],
)
def test_an_attempt_that_takes_too_long(tmp_path: Path, code: str, limit: str, reason: str) -> None:
    columns = attempt_columns(tmp_path, code, **{limit: 0.5})
    assert (columns["outcome"], columns["reason"], columns["synced_seconds"]) == ("timeout", reason, None)


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    request = prepare(
        ATTEMPT,
        folder=tmp_path / "logs",
        protocol=PROTOCOL,
        cpus=[0],
        gate=True,
        workload_folder=tmp_path,
        cache_directory=tmp_path,
    )
    columns = run_attempt(ATTEMPT, request, Local(tmp_path / "gone"))
    assert (columns["outcome"], columns["exit_code"]) == ("error", 127)
    assert "could not start" in columns["reason"] and "gone" in columns["reason"]


def test_limits_come_from_case_and_protocol() -> None:
    limits = limits_of(ATTEMPT, PROTOCOL)
    assert (limits.timeout_seconds, limits.compile_timeout_seconds, limits.memory_bytes) == (HUNG_SECONDS, 600.0, 2**30)


def test_without_a_limit_of_its_own_a_case_leaves_the_machine_what_it_needs() -> None:
    case = dataclasses.replace(ATTEMPT.case, limit_memory_bytes=None)
    limits = [limits_of(dataclasses.replace(ATTEMPT, case=case), PROTOCOL).memory_bytes for _ in range(2)]
    assert limits[0] == limits[1], "the same for every case of a run"
    total = facts.memory()["ram_bytes"]
    assert limits[0] is not None and total is not None
    assert RESERVED_BYTES <= limits[0] <= max(RESERVED_BYTES, total - RESERVED_BYTES)


def test_a_tail_is_short_printable_text(tmp_path: Path) -> None:
    log = tmp_path / "stderr.log"
    assert tail(log) == ""
    log.write_bytes(b"1%\r50%\r100%\n\x1b[31mred\x1b[0m \x00\xff\r\n" + b"\n\n")
    assert tail(log) == "100%\nred \ufffd"
    log.write_text("".join(f"line {n}\n" for n in range(100)))
    assert tail(log).splitlines() == [f"line {n}" for n in range(80, 100)]
    log.write_text("ü" * 100_000)
    assert len(tail(log).encode()) <= 4096
