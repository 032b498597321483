"""Each check of a device's memory, on purpose failing and holding."""

from __future__ import annotations

import pytest

from suite.answers import device_memory
from suite.case import Purpose
from suite.sets.rows import Row
from tests.answers.judged import found, timed, verdicts
from tests.results.rows import attempt_of, row_of

GIB = 2**30


@pytest.mark.parametrize(
    ("outcome", "target", "holds"),
    [
        ("oom_device", "cuda", True),
        ("oom_compile", "cuda", True),
        ("oom_host", "cuda", False),
        ("oom_host", "cpu", True),
        ("crashed", "cpu", False),
        ("ok", "cpu", False),
    ],
)
def test_out_of_memory_must_be_told(outcome: str, target: str, holds: bool) -> None:
    row = timed(target=target, device=target, outcome=outcome)
    assert verdicts(device_memory.memory, row) == {"jax_jit out of memory": holds}


def test_what_runs_after_it_must_be_ok() -> None:
    assert verdicts(device_memory.afterwards, timed()) == {"jax_jit afterwards": True}
    assert verdicts(device_memory.afterwards, timed(outcome="error")) == {"jax_jit afterwards": False}
    assert verdicts(device_memory.afterwards, timed(outcome="unsupported")) == {}


def test_preallocated_memory_and_a_misread_peak_are_seen() -> None:
    device = {"device_total_bytes": 80 * GIB, "device_peak_bytes": GIB // 10, "nvml_bytes": GIB}
    here = {"target": "cuda", "device": "h100"}
    names = ("preallocation by jax_jit", "memory of jax_jit")
    assert verdicts(device_memory.held, timed(**device, **here)) == dict.fromkeys(names, True)
    assert verdicts(device_memory.held, timed(**device | {"nvml_bytes": 60 * GIB}, **here))[names[0]] is False
    assert verdicts(device_memory.held, timed(**device | {"device_peak_bytes": 2 * GIB}, **here))[names[1]] is False
    assert verdicts(device_memory.held, timed()) == {}  # a CPU


def test_a_pool_is_known_without_the_driver_and_the_device_s_size_without_the_framework() -> None:
    here = {"target": "cuda", "device": "h100"}
    name = "preallocation by jax_jit"
    unseen = {"device_total_bytes": 80 * GIB, "device_peak_bytes": GIB}
    assert verdicts(device_memory.held, timed(**unseen, **here)) == {name: None}
    assert verdicts(device_memory.held, timed(**unseen, device_reserved_bytes=60 * GIB, **here)) == {name: False}
    untold = timed(nvml_bytes=60 * GIB, **here)
    assert found(device_memory.held, untold, gpus=[{"memory_mib": 80 * 1024}])[name].ok is False
    assert found(device_memory.held, untold)[name].ok is None


@pytest.mark.parametrize(("peak", "holds"), [(1.0, True), (2.0, False), (0.5, False), (None, None)])
def test_memory_beside_the_compilers_plan(peak: float | None, holds: bool | None) -> None:
    def row(batch: int, share: float, target: str = "cuda") -> Row:
        attempt = attempt_of("jax_jit", purpose=Purpose.MEMORY, dims={"batch": batch}, target=target, device=target)
        plan = {f"program_{each}_bytes": batch * GIB for each in ("argument", "output", "temporary", "aliased")}
        return row_of(attempt, device_peak_bytes=int(2 * batch * GIB * share), **plan)

    largest = row(4, peak or 1.0) | ({} if peak else {"program_output_bytes": None})
    assert verdicts(device_memory.planned, row(1, 3.0), largest) == {"predicted memory of jax_jit": holds}
    assert verdicts(device_memory.planned, row(1, 3.0, "cpu")) == {}


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
    assert verdicts(device_memory.largest, *rows, gone) == {"largest batch of jax_jit": holds}
    assert verdicts(device_memory.largest, *rows) == {"largest batch of jax_jit": None}
    on_gpu = [row | {"target": "cuda", "device_total_bytes": limit} for row in (*rows, gone)]
    assert verdicts(device_memory.largest, *on_gpu) == {"largest batch of jax_jit": None}, (
        "the host ran out, not the GPU"
    )
