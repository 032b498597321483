"""A predict process's row: its program, its verdict, and every way in which there is none."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from suite.case import Purpose
from suite.ir import files
from suite.ir.summary import Compiled as CpuCompiled
from suite.ir.summary import Contents, Cost, Program
from suite.launch.engine import ProcessRequest
from suite.launch.local import Local
from suite.launch.process import Exit, ProcessLimits
from suite.predict.answer import ANSWER, CompileAnswer
from suite.predict.devices import Device, find
from suite.protocol import Protocol
from suite.run.predictions import Compiler, predict, read_answer, source_case
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, empty_row
from tests.plan_files import plan_file
from tests.predict.answers import answer, compiled, refused
from tests.results.rows import attempt_of, row_of

LIMITS = ProcessLimits(timeout_seconds=60, compile_timeout_seconds=60, memory_bytes=2**30)
ENDED = Exit(exit_code=0, limits=LIMITS)
MODULE = b"module {}"
COST = Cost(flops=1.0, bytes=1.0)
STEP = Program(
    name="third-0002-step",
    steps=("third",),
    told_by="a test",
    contents=Contents(
        operations={"add": 3}, arguments=1, argument_bytes=4, results=1, result_bytes=4, aliased=0, aliased_bytes=0,
        kept=1, kept_bytes=4, ranks={}, regions=(), cost=COST,
    ),
    compiled=CpuCompiled(kernels=1, runs={}, inside={}, custom_calls={}, cost=COST),
)  # fmt: skip


class Told(Compiler):
    """A compiler that answers what it is told to."""

    def __init__(self, given: CompileAnswer, end: Exit = ENDED) -> None:
        super().__init__(Protocol(), [0])
        self.engine = Local(Path("/python"), "0" * 64)
        self.given, self.end, self.asked = given, end, (b"", "")

    def compile(
        self, device: Device, program: bytes, folder: Path, *, header: str = "", batch: int = 0
    ) -> tuple[CompileAnswer, Exit]:
        self.asked = program, header
        return self.given, self.end


@pytest.fixture
def store(tmp_path: Path) -> ResultSet:
    return ResultSet.create(tmp_path / "a-set", plan_file())


def captured(store: ResultSet, program: bytes | None = None, stack: str = "jax_jit") -> Row:
    """The row of a process that kept a program, whose files lie in the set."""
    row = row_of(
        attempt_of(stack, block=0, purpose=Purpose.IR),
        programs=json.dumps([asdict(STEP)]),
        flops=918 * 10**9,
        bytes_floor=8,
    )
    folder = store.folder / files.FOLDER / row.attempt_name
    folder.mkdir(parents=True)
    text = gzip.compress(MODULE) if program is None else program
    (folder / f"{STEP.name}.stablehlo.mlir.gz").write_bytes(text)
    (folder / f"{STEP.name}.optimized.hlo.txt.gz").write_bytes(gzip.compress(b"HloModule step, alias\nENTRY"))
    return row


def predicted(store: ResultSet, told: Compiler, source: Row | None, device: str = "v6e-1") -> Row:
    """The row of a prediction for a device."""
    target = "cuda" if device == "h100" else "tpu"
    attempt = attempt_of("jax_jit", block=0, purpose=Purpose.PREDICT, target=target, device=device)
    return predict(store, told, attempt, empty_row(attempt), source)


def test_a_program_that_fits_has_its_sizes_and_the_least_time(store: ResultSet) -> None:
    told = Told(answer(compiled(argument=100, output=90, aliased=80, temporary=30, peak=120)))
    row = predicted(store, told, captured(store))
    assert told.asked == (MODULE, "HloModule step, alias")
    assert (row["outcome"], row["reason"], row["provenance"]) == ("ok", None, "predicted")
    assert (row["program_argument_bytes"], row["program_aliased_bytes"]) == (100, 80)
    assert (row["environment"], row["lock_sha256"], row["versions"]) == ("predict", "0" * 64, '{"libtpu":"0.0.50.1"}')
    kept = json.loads(row["prediction"])
    assert (kept["needed_bytes"], kept["device_bytes"]) == (120, 34_359_738_368)
    # 918 GFLOP at the 918 TFLOP/s that are published.
    assert (kept["bound_seconds"], kept["bound_by"]) == (pytest.approx(1e-3), "arithmetic")
    assert row["synced_seconds"] is None and row["device_peak_bytes"] is None, "nothing of it was measured"
    assert row.mapping("prediction")["program"] == STEP.name


def test_a_program_that_a_tpu_s_compiler_refuses_is_out_of_memory_in_its_words(store: ResultSet) -> None:
    words = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: the total memory (74.58G) exceeds available HBM (31.24G)."
    row = predicted(store, Told(refused(words)), captured(store))
    assert row["outcome"] == "oom_compile" and words in row["reason"]
    assert row["message"] == words and row["prediction"] is None


def test_a_gpu_s_verdict_is_by_the_size_of_its_memory(store: ResultSet) -> None:
    source = captured(store)
    for size, outcome in ((84_000_000_000, "ok"), (85_000_000_000, "oom_device")):
        row = predicted(store, Told(answer(compiled(argument=size), "jax_cuda13_plugin 0.12")), source, "h100")
        assert row["outcome"] == outcome
        assert "refuses no program" in json.loads(row["prediction"])["verdict_by"]
    assert row["reason"] == "a step needs 79.2 GiB of the 79.1 GiB of NVIDIA H100 SXM, 80 GB"


def test_eager_pytorch_s_verdict_is_by_what_it_allocates_on_shapes(store: ResultSet) -> None:
    followed = row_of(
        attempt_of("torch_eager", block=0, purpose=Purpose.IR),
        program_argument_bytes=60 * 10**9,
        program_temporary_bytes=20 * 10**9,
        versions='{"torch":"2.13.0"}',
        lock_sha256="1" * 64,
    )
    attempt = attempt_of("torch_eager", block=0, purpose=Purpose.PREDICT, target="cuda", device="h100")
    row = predict(store, Told(CompileAnswer()), attempt, empty_row(attempt), followed)
    assert (row["outcome"], row["provenance"], row["lock_sha256"]) == ("ok", "predicted", "1" * 64)
    kept = row.mapping("prediction")
    assert (kept["needed_bytes"], kept["compiler"]) == (80 * 10**9, "torch 2.13.0")
    assert "fake tensors of a CPU" in kept["verdict_by"] and "512 bytes" in kept["verdict_by"]
    followed["program_temporary_bytes"] = 30 * 10**9
    assert predict(store, Told(CompileAnswer()), attempt, empty_row(attempt), followed)["outcome"] == "oom_device"


def test_what_another_error_is_stays_an_error_with_its_words(store: ResultSet) -> None:
    row = predicted(store, Told(refused("INVALID_ARGUMENT: no such topology v99:1x1")), captured(store))
    assert row["outcome"] == "error" and "no such topology v99:1x1" in row["reason"]


@pytest.mark.parametrize(
    ("ended", "outcome", "said"),
    [
        ({"timed_out": True, "timeout_kind": "total"}, "timeout", "no answer within 60 s, in its compiler"),
        ({"memory_killed": True, "signal": 9}, "oom_host", "killed at its 1 GiB limit in its compiler"),
        ({"signal": 11}, "crashed", "segmentation fault (signal 11) in its compiler"),
    ],
)
def test_a_compilation_that_is_cut_short_says_by_what(
    ended: dict[str, Any], outcome: str, said: str, store: ResultSet
) -> None:
    row = predicted(store, Told(CompileAnswer(), Exit(**ended, limits=LIMITS)), captured(store))
    assert row["outcome"] == outcome and said in row["reason"]


def test_a_damaged_program_is_that_case_s_error(store: ResultSet) -> None:
    row = predicted(store, Told(answer(compiled())), captured(store, b"\x1f\x8b no gzip file"))
    assert row["outcome"] == "error" and "its program can't be read" in row["reason"]
    unreadable = predicted(
        store, Told(CompileAnswer(unreadable="line 3, column 1: expected a type")), captured_again(store)
    )
    assert unreadable["reason"] == "its program can't be read: line 3, column 1: expected a type"


def test_a_compilation_has_full_paths_also_in_a_relative_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ProcessRequest] = []

    class Remembers(Local):
        def launch(self, request: ProcessRequest) -> Exit:
            asked.append(request)
            return ENDED

    compiler = Compiler(Protocol(), [0])
    compiler.engine = Remembers(Path("/python"), "0" * 64)
    monkeypatch.chdir(tmp_path)
    compiler.compile(find("h100"), MODULE, Path("results/a-set/logs/one"))
    (request,) = asked
    assert request.folder == tmp_path / "results/a-set/logs/one"
    assert request.cache_directory.is_absolute(), "it becomes TMPDIR"


def test_an_answer_that_cannot_be_read_is_that_case_s_error(store: ResultSet, tmp_path: Path) -> None:
    (tmp_path / ANSWER).write_text('{"compiler": "libtpu 0.0')
    row = predicted(store, Told(read_answer(tmp_path)), captured(store))
    assert row["outcome"] == "error" and "answer.json can't be read as JSON" in row["reason"]


def captured_again(store: ResultSet) -> Row:
    """The same with a whole file."""
    row = row_of(attempt_of("jax_jit", block=0, purpose=Purpose.IR), programs=json.dumps([asdict(STEP)]))
    store.program_path(row.attempt_name, STEP.name).write_bytes(gzip.compress(MODULE))
    return row


def test_a_missing_compiler_names_the_command_that_brings_it(store: ResultSet) -> None:
    row = predicted(store, Told(CompileAnswer(absent="the package libtpu isn't installed")), captured(store))
    assert row["outcome"] == "error" and row["flags"] == ["harness"], "a resumed run tries again"
    assert row["reason"].startswith("the package libtpu isn't installed; `./stackwars setup --target=predict`")


def test_without_a_captured_program_the_capture_s_end_is_the_reason(store: ResultSet) -> None:
    attempt = attempt_of("jax_jit", block=0, purpose=Purpose.IR)
    slow = row_of(attempt, outcome="timeout", reason="not compiled within 1 h")
    row = predicted(store, Told(CompileAnswer()), slow)
    assert (row["outcome"], row["provenance"], row["inferred_from"]) == ("timeout", "inferred", slow["case_name"])
    assert row["reason"].endswith("the process that captures it ended so: not compiled within 1 h")
    lost = predicted(store, Told(CompileAnswer()), None)
    assert (lost["outcome"], lost["flags"]) == ("error", ["harness"])


def test_the_program_is_that_of_the_same_case_on_the_set_s_own_target() -> None:
    case = attempt_of("jax_jit").case
    assert source_case(replace(case, target="tpu", device="v6e-1"), "cpu") == case
