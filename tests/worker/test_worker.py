"""The worker as a process: what it writes, when, and what is left of it when something fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite.case import PHASES, Purpose
from suite.environments import venv
from suite.reference.digests import SUMS
from suite.sets.rows import Row
from suite.sets.schema import NAMES
from suite.worker import events as events_module
from suite.worker.events import Events
from suite.workloads import catalog
from tests.mutations import make_mutant
from tests.worker.processes import attempt_of, case_of, columns_of, flags_of, of, read_events, request, run_worker

OPS = catalog.HOME / "ops"
TOLD_BY_THE_WORKER = {
    "import_seconds",
    "device_seconds",
    "build_seconds",
    "place_seconds",
    "first_seconds",
    "second_seconds",
    "synced_seconds",
    "dispatch_seconds",
    "pipelined_seconds",
    "fetch_seconds",
    "synced_warmup",
    "sampling",
    "pipelined_calls",
    "compile_seconds",
    "compiles_first",
    "compiles_second",
    "compiles_steady",
    "graph_breaks",
    "host_base_bytes",
    "host_peak_build_bytes",
    "host_peak_step_bytes",
    "host_file_bytes",
    "device_peak_bytes",
    "device_reserved_bytes",
    "device_total_bytes",
    "flops",
    "bytes_floor",
    "parameters",
    "items_per_step",
    "relative_error",
    "tolerance",
    "result_types",
    "precision_observed",
    "weights_sha256",
    "versions",
    "environment_facts",
    "first_others",
    "second_others",
    "effective_cores",
    "kernel_share",
    "minor_faults_per_step",
}
MEASURED = [
    "start",
    "import",
    "device",
    "build",
    "place",
    "first",
    "second",
    "third",
    "steady",
    "pipelined",
    "fetch",
    "memory",
    "probe",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The events of ffn's train pass on NumPy."""
    out = tmp_path_factory.mktemp("trained")
    done, told = run_worker(request(attempt_of(case_of(workload="ffn", pass_="train")), OPS / "ffn", out))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and done.stderr == ""
    return told


def test_events_are_numbered_without_gaps(trained: list[dict[str, Any]]) -> None:
    assert [event["seq"] for event in trained] == list(range(len(trained)))
    assert {event["v"] for event in trained} == {1}
    times = [event["t_ns"] for event in trained]
    assert times == sorted(times)


def test_phases_come_in_their_order(trained: list[dict[str, Any]]) -> None:
    phases = [event["phase"] for event in of(trained, "phase")]
    others = ("hold", "explain", "ir", "profile", "observe", "compile")  # of processes that are for something else
    assert phases == [*MEASURED, "late", "gate", "end"] == [phase for phase in PHASES if phase not in others]
    assert trained[0]["event"] == "phase" and trained[-1]["event"] == "end"


def test_every_column_that_the_worker_knows_is_told(trained: list[dict[str, Any]]) -> None:
    columns = columns_of(trained)
    assert set(columns) == TOLD_BY_THE_WORKER
    assert set(columns) <= set(NAMES)
    assert all(columns[name] > 0 for name in ("first_seconds", "second_seconds", "import_seconds", "flops"))
    assert all(columns[name] >= 0 for name in ("device_seconds", "build_seconds", "place_seconds"))
    assert columns["compiles_first"] is None and columns["graph_breaks"] is None  # NumPy doesn't count
    assert 0 < columns["relative_error"] < 5e-6
    assert columns["parameters"] == 16 * 64 * 2 + 64 + 16
    assert columns["items_per_step"] == 8
    assert columns["host_peak_build_bytes"] > 10 * 2**20
    assert columns["versions"].keys() == {"python", "numpy"}
    assert len(columns["environment_facts"]["affinity"]) == 1
    assert Row({"environment_facts": json.dumps(columns["environment_facts"])}).reported_device == "cpu"
    assert columns["environment_facts"]["environment_variables"]["OMP_NUM_THREADS"] == "1"
    assert of(trained, "wrong") == of(trained, "exception") == []


def test_a_variants_flags_reach_the_process_and_are_told(tmp_path: Path) -> None:
    flags = {"OMP_NUM_THREADS": "3", "SOME_FLAGS": "--a --b"}
    _, told = run_worker(request(attempt_of(case_of()), OPS / "gemm", tmp_path, gate=False, changes={"flags": flags}))
    facts = columns_of(told)["environment_facts"]
    assert facts["environment_variables"]["OMP_NUM_THREADS"] == "3"
    assert facts["variant_flags"] == "OMP_NUM_THREADS=3 SOME_FLAGS=--a --b"


def test_the_stop_rule_of_the_request_is_obeyed(trained: list[dict[str, Any]]) -> None:
    columns = columns_of(trained)
    assert 5 <= len(columns["synced_seconds"]) == len(columns["dispatch_seconds"]) <= 60
    assert 3 <= len(columns["pipelined_seconds"]) <= 60 >= len(columns["fetch_seconds"]) >= 3  # disturbed ones again
    assert all(d <= s for d, s in zip(columns["dispatch_seconds"], columns["synced_seconds"], strict=True))


def test_the_first_three_losses_are_reported(trained: list[dict[str, Any]]) -> None:
    metric, last, fresh = of(trained, "metric")
    assert (metric["name"], metric["kind"]) == ("loss", "gate")
    assert len(metric["values"]) == 3
    assert metric["values"] == sorted(metric["values"], reverse=True)  # it learns
    assert (last["name"], last["kind"]) == ("last result", "gate")
    assert 0 < last["values"][0] < metric["values"][-1]
    assert (fresh["name"], fresh["kind"], len(fresh["values"])) == ("fresh steps", "clock", 1)


def test_equal_seeds_have_equal_digests(trained: list[dict[str, Any]], tmp_path: Path) -> None:
    _, again = run_worker(request(attempt_of(case_of(workload="ffn", pass_="train")), OPS / "ffn", tmp_path))
    assert columns_of(again)["weights_sha256"] == columns_of(trained)["weights_sha256"]
    assert of(again, "metric")[0]["values"] == of(trained, "metric")[0]["values"]


@pytest.mark.parametrize(("workload", "fresh"), [("gemm", 2), ("mha", 2), ("selu", 1)])  # `selu` has no batch
def test_forward_passes_the_gate(workload: str, fresh: int, tmp_path: Path) -> None:
    done, told = run_worker(request(attempt_of(case_of(workload=workload)), OPS / workload, tmp_path))
    assert done.returncode == 0, done.stderr
    metrics = [(each["name"], len(each["values"])) for each in of(told, "metric")]
    assert metrics == [("last result", 2 + SUMS), ("fresh steps", fresh)]
    assert of(told, "wrong") == []
    assert 0 <= columns_of(told)["relative_error"] < 5e-6


def test_without_the_gate(tmp_path: Path) -> None:
    _, told = run_worker(request(attempt_of(case_of()), OPS / "gemm", tmp_path, gate=False))
    assert [event["phase"] for event in of(told, "phase")] == [*MEASURED, "end"]
    assert "relative_error" not in columns_of(told)


def test_a_prime_is_no_measurement(tmp_path: Path) -> None:
    attempt = attempt_of(case_of(cache="warm"), Purpose.PRIME)
    done, told = run_worker(request(attempt, OPS / "gemm", tmp_path))
    assert done.returncode == 0
    assert [event["phase"] for event in of(told, "phase")] == [*MEASURED[:7], "end"]
    assert of(told, "samples") == []


def test_a_wrong_dialect_is_told_as_wrong(tmp_path: Path) -> None:
    folder = make_mutant("dropped_bias", tmp_path)
    case = case_of(workload=folder.name, dims=catalog.load(folder).dims("tiny", {}), pass_="train")
    done, told = run_worker(request(attempt_of(case), folder, tmp_path / "out"))
    assert done.returncode == 0  # it answered; the answer is wrong
    (wrong,) = of(told, "wrong")
    assert "forward output: relative error" in wrong["reason"] and wrong["reason"].endswith(" more")
    assert columns_of(told)["relative_error"] > 5e-6
    assert told[-1]["event"] == "end"


# --- failures ---


def broken(tmp_path: Path, change: Callable[[str], str], file: str = "gemm_numpy.py", **case: Any) -> Path:
    """A request for a copy of gemm with one file changed."""
    home = tmp_path / "gemm"
    home.mkdir()
    for path in (OPS / "gemm").glob("*.py"):
        (home / path.name).write_text(change(path.read_text()) if path.name == file else path.read_text())
    return request(attempt_of(case_of(**case)), home, tmp_path / "out")


IN_FORWARD = 'return a @ parameters["b"]'


@pytest.mark.parametrize(
    ("change", "file", "phase", "type_"),
    [
        (lambda text: "1 / 0", "gemm_numpy.py", "build", "ZeroDivisionError"),
        (lambda text: "import no_such_framework", "gemm_numpy.py", "build", "ModuleNotFoundError"),
        (
            lambda text: text.replace(IN_FORWARD, "raise MemoryError('no more')"),
            "gemm_numpy.py",
            "first",
            "MemoryError",
        ),
        (lambda text: text.replace(IN_FORWARD, 'return a @ parameters["c"]'), "gemm_numpy.py", "first", "KeyError"),
        (lambda text: "1 / 0", "spec.py", "import", "suite.errors.UserError"),
    ],
)
def test_an_exception_is_recorded_with_its_phase(
    change: Callable[[str], str], file: str, phase: str, type_: str, tmp_path: Path
) -> None:
    done, told = run_worker(broken(tmp_path, change, file))
    assert done.returncode == 1
    assert of(told, "phase")[-1]["phase"] == phase
    assert told[-1]["event"] == "exception"
    assert told[-1]["type"] == type_
    assert "Traceback" in told[-1]["traceback"]
    assert [event["seq"] for event in told] == list(range(len(told)))


def test_what_arrived_before_a_failure_is_kept(tmp_path: Path) -> None:
    late = f"COUNT.append(0)\n    if len(COUNT) == 6: 1 / 0\n    {IN_FORWARD}"
    done, told = run_worker(broken(tmp_path, lambda text: "COUNT = []\n" + text.replace(IN_FORWARD, late)))
    assert done.returncode == 1
    columns = columns_of(told)
    assert columns["first_seconds"] > 0 and columns["second_seconds"] > 0
    assert len(columns["synced_seconds"]) == 1
    assert of(told, "phase")[-1]["phase"] == "steady"


def test_long_messages_are_shortened(tmp_path: Path) -> None:
    done, told = run_worker(broken(tmp_path, lambda text: text.replace(IN_FORWARD, "raise ValueError('µ' * 99999)")))
    assert done.returncode == 1
    assert len(told[-1]["message"]) <= 4096
    assert len(told[-1]["traceback"]) < 2**16 + 9
    assert told[-1]["traceback"].count("\n") < 399


def test_who_called_a_deep_failure_is_named(tmp_path: Path) -> None:
    """The frames of a framework, or of a recursion, may well be longer than what is kept of a traceback."""
    deep = "def sink(depth): rise(depth - 1)\ndef rise(depth): return sink(depth) if depth else 1 / 0\n"
    done, told = run_worker(broken(tmp_path, lambda text: deep + text.replace(IN_FORWARD, "rise(400)")))
    assert done.returncode == 1
    head, tail = told[-1]["traceback"].split("\n…\n")
    assert "in forward" in head and "ZeroDivisionError" in tail
    assert len(head) + len(tail) <= 2**16


def test_unsupported_is_an_answer(tmp_path: Path) -> None:
    said = "from suite.stacks.base import Unsupported\n    raise Unsupported('no such op')"
    done, told = run_worker(broken(tmp_path, lambda text: text.replace(IN_FORWARD, said)))
    (unsupported,) = of(told, "unsupported")
    assert unsupported["reason"] == "no such op"
    assert done.returncode == 1


def test_standard_output_is_no_channel(tmp_path: Path) -> None:
    done, told = run_worker(broken(tmp_path, lambda text: 'print(\'{"v":1,"seq":0,"event":"end"}\')\n' + text))
    assert done.returncode == 0
    assert '"event":"end"' in done.stdout
    assert len(of(told, "end")) == 1


@pytest.mark.parametrize("change", [{"protocol": {"no_such_constant": 1}}, {"cpus": [4095]}, {"attempt": {}}])
def test_a_broken_request_is_recorded(change: dict[str, Any], tmp_path: Path) -> None:
    done, told = run_worker(request(attempt_of(case_of()), OPS / "gemm", tmp_path, changes=change))
    assert done.returncode == 1
    assert [event["event"] for event in told] == ["phase", "exception"]


def test_a_numpy_that_can_t_be_imported_is_recorded(tmp_path: Path) -> None:
    """The report of the failure must not need what failed."""
    file = request(attempt_of(case_of()), OPS / "gemm", tmp_path)
    (tmp_path / "shadow" / "numpy").mkdir(parents=True)
    (tmp_path / "shadow" / "numpy" / "__init__.py").write_text("raise ImportError('libblas.so: no such file')")
    root = Path(catalog.HOME).parents[1]
    done, told = run_worker(file, environ={"PYTHONPATH": f"{tmp_path / 'shadow'}:{root}"})
    assert done.returncode == 1
    assert told[-1]["event"] == "exception"
    assert (told[-1]["type"], told[-1]["message"]) == ("ImportError", "libblas.so: no such file")


def test_runs_by_hand_twice(tmp_path: Path) -> None:
    """The second time in the same folder as well: its events are whole, whatever stood there."""
    file = request(attempt_of(case_of()), OPS / "gemm", tmp_path)
    run_worker(file)
    done, told = run_worker(file)
    assert done.returncode == 0
    assert [event["seq"] for event in told] == list(range(len(told)))


# --- the events file ---


def test_events_are_capped_and_the_reason_still_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "EVENTS_BYTES_MAX", 300_000)
    events = Events(tmp_path)
    with pytest.raises(RuntimeError, match="would exceed") as caught:
        for _ in range(1000):
            events.write("samples", clock="synced", synced_seconds=[0.1] * 100, dispatch_seconds=[0.1] * 100)
    events.exception(caught.value)
    told = read_events(tmp_path)
    assert (tmp_path / "events.jsonl").stat().st_size <= 300_000
    assert told[-1]["event"] == "exception"
    assert [event["seq"] for event in told] == list(range(len(told)))


def test_every_event_is_on_disk_at_once(tmp_path: Path) -> None:
    events = Events(tmp_path)
    events.phase("first")
    assert [event["phase"] for event in read_events(tmp_path)] == ["first"]


def test_infinite_errors_can_be_read_again(tmp_path: Path) -> None:
    """A gate that met NaN says relative_error Infinity: the orchestrator reads the same JSON dialect."""
    events = Events(tmp_path)
    events.facts(relative_error=float("inf"))
    assert json.loads((tmp_path / "events.jsonl").read_text())["columns"]["relative_error"] == float("inf")


# --- in the environment that is locked for it ---


@pytest.mark.stacks
def test_runs_with_numpy_alone(tmp_path: Path) -> None:
    """Worker, adapters' base, specs and case need the standard library and NumPy, nothing else."""
    python = venv.ensure("numpy").python
    done, told = run_worker(request(attempt_of(case_of(pass_="train")), OPS / "gemm", tmp_path), python)
    assert done.returncode == 0, done.stderr
    assert told[-1]["event"] == "end" and not of(told, "wrong") and flags_of(told) <= {"assumed", "no_steady_state"}
