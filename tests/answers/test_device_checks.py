"""Each check of a device, on purpose failing and holding, and what it says where it can't be made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from suite.answers import device_checks as checks
from suite.answers.device_checks import Check, Judge
from suite.case import Purpose
from suite.results import Results
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of

GIB = 2**30
H100 = {"environment_facts": json.dumps({"device": {"device": "NVIDIA H100 80GB HBM3"}})}


def found(judge: Judge, *rows: Row) -> dict[str, Check]:
    checked: Iterator[Check] = judge(Results(Path("a-set"), None, list(rows), [], {}))
    return {check.name: check for check in checked}


def verdicts(judge: Judge, *rows: Row) -> dict[str, bool | None]:
    return {name: check.ok for name, check in found(judge, *rows).items()}


def timed(stack: str = "jax_jit", seconds: float | Sequence[float] = 0.02, block: int = 1, **columns: Any) -> Row:
    case = {name: columns.pop(name) for name in ("target", "device", "precision", "pass_", "dims") if name in columns}
    return row_of(attempt_of(stack, block=block, **case), seconds, tolerance=5e-6, **columns)


def profiled(stack: str, busy: float, seconds: float = 0.02, span: float | None = 0.0199) -> Row:
    profile = {
        "span_seconds": span,
        "told_by": "a profiler",
        "seconds": seconds,
        "plain_seconds": seconds,
        "categories": {"matrix products": busy * seconds, "host overhead": max(0.0, 1 - busy) * seconds},
        "largest": [],
    }
    return row_of(attempt_of(stack, purpose=Purpose.PROFILE), profile=json.dumps(profile))


def test_a_wrong_or_crashed_step_is_named_with_its_log() -> None:
    wrong = timed("torch_eager", outcome="wrong", reason="the loss is 3e-3 off")
    assert verdicts(checks.right, timed(), wrong) == {
        "jax_jit computes right": True,
        "torch_eager computes right": False,
    }
    check = found(checks.right, wrong)["torch_eager computes right"]
    assert "the loss is 3e-3 off" in check.found
    assert check.remedy == f"read a-set/logs/{wrong.attempt_name}"
    assert verdicts(checks.right, timed(outcome="unsupported", reason="no such precision")) == {"jax_jit runs": None}


def test_the_worst_error_is_a_share_of_what_is_allowed() -> None:
    rows = [timed(block=block, relative_error=error) for block, error in ((1, 1e-6), (2, 2.5e-6))]
    assert "50 %" in found(checks.right, *rows)["jax_jit computes right"].found


def test_tf32_left_on_is_seen() -> None:
    right, left_on = (
        timed(block=block, precision="f32", precision_observed=seen) for block, seen in ((1, "f32"), (2, "tf32"))
    )
    assert verdicts(checks.precision, right) == {"products declared f32": True}
    assert verdicts(checks.precision, right, left_on) == {"products declared f32": False}
    assert verdicts(checks.precision, timed(precision="bf16", precision_observed="bf16")) == {
        "products declared bf16": True
    }


@pytest.mark.parametrize(
    ("span", "holds"), [(0.0199, True), (0.0205, False), (0.01, False), (0.04, False), (None, None)]
)
def test_a_clock_twice_too_slow_or_too_fast_is_seen(span: float | None, holds: bool | None) -> None:
    checked = found(checks.clock, timed(), profiled("jax_jit", 0.9, span=span))["clock of jax_jit"]
    assert checked.ok is holds
    assert ("90 %" in checked.found) is (holds is not None)


def test_without_a_profiler_the_clock_is_not_checked() -> None:
    assert verdicts(checks.clock, timed())["clock of jax_jit"] is None


@pytest.mark.parametrize(
    ("pipelined", "target", "holds"),
    [(0.019, "cpu", True), (0.0208, "cpu", True), (0.0208, "cuda", False), (0.03, "cpu", False)],
)
def test_a_pipeline_slower_than_its_steps_is_seen(pipelined: float, target: str, holds: bool) -> None:
    row = timed(pipelined_seconds=[pipelined] * 5, dispatch_seconds=[0.001] * 5, target=target)
    assert verdicts(checks.clock, row)["pipeline of jax_jit"] is holds
    blocking = row | {"dispatch_seconds": [0.0199] * 5}  # a call that returns with its result
    assert verdicts(checks.clock, blocking)["pipeline of jax_jit"] is None


def test_a_stack_that_forgets_to_wait_must_be_implausible() -> None:
    name = "jax_jit that forgets to wait"
    assert verdicts(checks.clock, timed("jax_jit_unwaited")) == {name: False}
    assert verdicts(checks.clock, timed("jax_jit_unwaited", flags=["implausible"], reason="too fast")) == {name: True}
    assert verdicts(checks.clock, timed("jax_jit_unwaited", outcome="unsupported", reason="not here")) == {name: None}


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [(25e-6, True), (1e-6, False), (1.0, False)],  # at 83, over 2,000 and 0.002 % of an H100's peak
)
def test_a_misread_peak_or_a_clock_too_fast_is_seen(seconds: float, holds: bool) -> None:
    row = timed(seconds=seconds, target="cuda", device="h100", flops=2 * 880**3, bytes_floor=1, **H100)
    assert verdicts(checks.ceilings, row) == {"f32: FLOPs of gemm": holds}


def test_without_a_known_peak_no_ceiling_is_checked() -> None:
    row = timed(target="cuda", device="cuda", flops=10**9, bytes_floor=1)
    assert verdicts(checks.ceilings, row) == {"ceilings": None}


def test_out_of_memory_must_be_told_and_survived() -> None:
    large, small = (
        timed(dims={"n": n}, bytes_floor=n, block=n, outcome=outcome) for n, outcome in ((9, "oom_device"), (1, "ok"))
    )
    assert set(verdicts(checks.memory, large, small).values()) == {True}
    crashed = large | {"outcome": "crashed", "reason": "killed by signal 11"}
    assert verdicts(checks.memory, crashed, small) == {"jax_jit out of memory": False, "jax_jit afterwards": True}
    gone = small | {"outcome": "error"}
    assert verdicts(checks.memory, large, gone) == {"jax_jit out of memory": True, "jax_jit afterwards": False}


def test_preallocated_memory_and_a_misread_peak_are_seen() -> None:
    device = {"device_total_bytes": 80 * GIB, "device_peak_bytes": GIB // 10, "nvml_bytes": GIB}
    names = ("preallocation by jax_jit", "memory of jax_jit")
    assert verdicts(checks.held, timed(**device)) == dict.fromkeys(names, True)
    assert verdicts(checks.held, timed(**device | {"nvml_bytes": 60 * GIB}))[names[0]] is False
    assert verdicts(checks.held, timed(**device | {"device_peak_bytes": 2 * GIB}))[names[1]] is False
    assert verdicts(checks.held, timed()) == {}  # a CPU


@pytest.mark.parametrize(("peak", "holds"), [(1.0, True), (2.0, False), (0.5, False)])
def test_memory_beside_the_compilers_plan(peak: float, holds: bool) -> None:
    plan = {"program_argument_bytes": GIB, "program_output_bytes": GIB, "program_temporary_bytes": GIB}
    row = timed(target="cuda", device="h100", program_aliased_bytes=GIB, device_peak_bytes=int(2 * GIB * peak), **plan)
    assert verdicts(checks.planned, row) == {"predicted memory of jax_jit": holds}


@pytest.mark.parametrize(("limit", "holds"), [(11 * GIB, True), (20 * GIB, False), (6 * GIB, False)])
def test_the_largest_batch_beside_the_compilers_plans(limit: int, holds: bool) -> None:
    rows = [
        row_of(
            attempt_of("jax_jit", purpose=Purpose.MEMORY, dims={"batch": batch}),
            **{f"program_{each}_bytes": 0 for each in ("argument", "output")},
            program_temporary_bytes=batch * GIB,
            limit_memory_bytes=limit,
        )
        for batch in (1, 2, 4, 10)
    ]
    gone = row_of(attempt_of("jax_jit", purpose=Purpose.MEMORY, dims={"batch": 12}), outcome="oom_host")
    assert verdicts(checks.largest, *rows, gone) == {"largest batch of jax_jit": holds}
    assert verdicts(checks.largest, *rows) == {"largest batch of jax_jit": None}


@pytest.mark.parametrize(("second", "holds"), [(0.0201, True), (0.03, False)])
def test_equal_processes_that_differ_are_seen(second: float, holds: bool) -> None:
    rows = [timed(), timed(seconds=second, block=2)]
    assert verdicts(checks.noise, *rows) == {"noise of jax_jit": holds, "disturbed processes": True}
    assert verdicts(checks.noise, timed(flags=["noisy"]))["disturbed processes"] is False
