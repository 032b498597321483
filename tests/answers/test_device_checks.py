"""Each check of a device, on purpose failing and holding, and what it says where it can't be made."""

from __future__ import annotations

import json

import pytest

from suite.answers import device_checks as checks
from suite.case import Purpose
from suite.sets.rows import Row
from tests.answers.judged import found, timed, verdicts
from tests.results.rows import attempt_of, row_of

H100 = {"environment_facts": json.dumps({"device": {"device": "NVIDIA H100 80GB HBM3"}})}


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
    blind = timed(target="cuda", device="cuda", outcome="unsupported", reason="no cuda device: the driver is too old")
    assert verdicts(checks.right, blind) == {"jax_jit runs": False}


def test_a_stack_that_fails_where_others_are_timed_is_named() -> None:
    for bad in (timed(outcome="crashed", reason="signal 11"), timed(flags=["implausible"], reason="too fast")):
        assert verdicts(checks.ran, bad, timed("torch_eager")) == {"jax_jit runs": False}
    assert verdicts(checks.ran, timed(outcome="unsupported"), timed("jax_jit_unwaited", flags=["implausible"])) == {}


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
    failed = row_of(attempt_of("jax_jit", purpose=Purpose.PROFILE), outcome="error", reason="no such trace")
    check = found(checks.clock, timed(), failed)["clock of jax_jit"]
    assert check.ok is None and "no such trace" in check.found
    assert verdicts(checks.clock, timed())["a stack that forgets to wait"] is None


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
    [(25e-6, True), (19e-6, False), (1e-6, False), (1.0, False)],  # at 81, 107, 2,000 and 0.002 % of an H100's peak
)
def test_a_misread_peak_or_a_clock_too_fast_is_seen(seconds: float, holds: bool) -> None:
    row = timed(seconds=seconds, target="cuda", device="h100", flops=2 * 880**3, bytes_floor=1, **H100)
    assert verdicts(checks.ceilings, row) == {"f32: FLOPs of gemm": holds}
    assert verdicts(checks.bounded, row)["steps over their least time"] is (seconds != 1e-6)


@pytest.mark.parametrize(("seconds", "holds"), [(0.3e-3, True), (0.1e-3, False), (30.0, False)])
def test_a_copy_is_held_against_the_published_bandwidth(seconds: float, holds: bool) -> None:
    row = timed(seconds=seconds, target="cuda", device="h100", flops=0, bytes_floor=8 * 8192**2, **H100)
    assert verdicts(checks.ceilings, row) == {"f32: bytes of gemm": holds}


def test_what_does_not_bind_a_product_is_no_ceiling_of_it() -> None:
    n = 8192  # takes 67 TFLOP/s, and so a thousandth of the bandwidth
    row = timed(seconds=0.025, target="cuda", device="h100", flops=2 * n**3, bytes_floor=12 * n * n, **H100)
    assert verdicts(checks.ceilings, row) == {"f32: FLOPs of gemm": True}


def test_without_a_known_peak_no_ceiling_is_checked() -> None:
    row = timed(target="cuda", device="cuda", flops=10**9, bytes_floor=1)
    assert verdicts(checks.ceilings, row) == {"ceilings": None}
    assert verdicts(checks.bounded, row) == {"steps over their least time": None}


@pytest.mark.parametrize(("second", "holds"), [(0.0201, True), (0.03, False)])
def test_equal_processes_that_differ_are_seen(second: float, holds: bool) -> None:
    rows = [timed(), timed(seconds=second, block=2)]
    assert verdicts(checks.noise, *rows) == {"noise of jax_jit": holds, "noisy processes": True}
    assert verdicts(checks.noise, timed(flags=["noisy"]))["noisy processes"] is False
