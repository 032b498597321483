"""The outcome table: each rule, and which of two wins."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from suite.case import Outcome
from suite.launch.events import Account
from suite.launch.outcome import ROOT, AttemptOutcome, clip, judge
from suite.launch.process import Exit, ProcessLimits

LIMITS = ProcessLimits(timeout_seconds=1200, compile_timeout_seconds=90, memory_bytes=512 * 2**20)
OK = Exit(
    exit_code=0,
    signal=None,
    timed_out=False,
    timeout_kind=None,
    memory_killed=False,
    memory_limit_by=None,
    oom_kills=0,
    peak_bytes_tree=None,
    duration_seconds=1.0,
    interrupted=False,
    limits=LIMITS,
)


def judged(
    target: str = "cpu",
    stderr: str = "",
    exception: tuple[str, str] | None = None,
    traceback: str = "",
    told: dict[str, Any] | None = None,
    **end: Any,
) -> AttemptOutcome:
    """The judgement of an end that is fine but for what is given."""
    found = Account(phase="steady", ended=exception is None)
    if exception is not None:
        found.exception = {"type": exception[0], "message": exception[1], "traceback": traceback}
        end = {"exit_code": 1} | end
    for name, value in (told or {}).items():
        setattr(found, name, value)
    return judge(dataclasses.replace(OK, **end), found, target, stderr)


def died(number: int) -> dict[str, Any]:
    return {"exit_code": None, "signal": number, "told": {"ended": False, "phase": "place"}}


def test_a_loader_without_address_space_is_out_of_memory() -> None:
    found = judged(
        exception=("ImportError", "libtorch_cpu.so: failed to map segment from shared object"),
        shell_limits={"address_space_bytes": 2**30},
    )
    assert found.outcome is Outcome.OOM_HOST
    assert found.reason is not None and "in the steady runs, under ulimit -v 1.00 GiB: ImportError" in found.reason


def test_ok_has_no_reason_and_keeps_its_flags() -> None:
    found = judged(told={"flags": ["assumed"]}, stderr="RESOURCE_EXHAUSTED: tried again with less")
    assert (found.outcome, found.reason, found.flags) == (Outcome.OK, None, ["assumed"])


@pytest.mark.parametrize(
    ("arguments", "outcome", "reason"),
    [
        ({"told": {"unsupported": "no bf16"}, "exit_code": 1}, "unsupported", "no bf16"),
        (
            {"target": "cuda", "exception": ("RuntimeError", "No CUDA GPUs are available")},
            "unsupported",
            "no cuda device: RuntimeError: No CUDA GPUs are available",
        ),
        ({"exception": ("NotImplementedError", "later")}, "error", "NotImplementedError: later (in the steady runs)"),
        (
            {**died(9), "timed_out": True, "timeout_kind": "total"},
            "timeout",
            "no answer within 20 min, while placing the tensors",
        ),
        (
            {
                "exit_code": None,
                "signal": 9,
                "timed_out": True,
                "timeout_kind": "compile",
                "told": {"ended": False, "phase": "first"},
            },
            "timeout",
            "not compiled within 90 s, in the first run",
        ),
        (
            {
                "target": "tpu",
                "exception": ("XlaRuntimeError", "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm."),
                "told": {"phase": "first"},
            },
            "oom_compile",
            "the compiler ran out of memory in the first run: Xla",
        ),
        ({"exception": ("InductorError", "MemoryError: "), "told": {"phase": "first"}}, "oom_compile", "the compiler"),
        ({"exception": ("InductorError", "MemoryError: ")}, "oom_host", "out of host memory in the steady runs"),
        (
            {"exception": ("CppCompileError", "g++: fatal error: Killed signal terminated program cc1plus")},
            "oom_compile",
            "the compiler",
        ),
        (
            {"target": "cuda", "exception": ("OutOfMemoryError", "CUDA out of memory.")},
            "oom_device",
            "out of device memory in the steady runs: OutOfMemoryError: CUDA",
        ),
        ({"target": "cuda", "exception": ("ValueError", "RESOURCE_EXHAUSTED: Out of memory")}, "oom_device", "out of"),
        # XLA 0.11.2 on an H200, while it tried out kernels for a product.
        (
            {
                "target": "cuda",
                "exception": (
                    "JaxRuntimeError",
                    "RESOURCE_EXHAUSTED: Failed to get configs\nOut of memory while trying to allocate 98.17GiB",
                ),
                "told": {"phase": "first"},
            },
            "oom_device",
            "out of device memory in the first run: Out of memory while trying to allocate 98.17GiB",
        ),
        ({"target": "cuda", "exception": ("RuntimeError", "CUDA error: CUBLAS_STATUS_ALLOC_FAILED")}, "oom_device", ""),
        ({"target": "cuda", "exception": ("AcceleratorError", "CUDA error: out of memory")}, "oom_device", ""),
        ({"target": "cuda", "exception": ("RuntimeError", "CUDA driver error: out of memory")}, "oom_device", ""),
        ({"target": "cuda", "exception": ("RuntimeError", "Triton Error [CUDA]: out of memory")}, "oom_device", ""),
        (
            {
                "target": "cuda",
                "exception": (
                    "InternalError",
                    "Failed copying input tensor from CPU:0 to GPU:0: Dst tensor is not initialized.",
                ),
            },
            "oom_device",
            "out of device memory",
        ),
        (
            {"target": "cpu", "exception": ("JaxRuntimeError", "INTERNAL: Error: Out of memory allocating 400 bytes.")},
            "oom_host",
            "out of host memory in the steady runs: JaxRuntimeError: INTERNAL",
        ),
        (
            {"target": "cpu", "exception": ("ValueError", "RESOURCE_EXHAUSTED: Out of memory")},
            "oom_host",
            "out of host",
        ),
        ({"target": "cpu", "exception": ("ResourceExhaustedError", "OOM when allocating tensor")}, "oom_host", ""),
        (
            {"target": "cuda", "exception": ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you")},
            "oom_host",
            "out of host memory",
        ),
        ({"exception": ("_ArrayMemoryError", "Unable to allocate 7.45 GiB")}, "oom_host", "out of host memory"),
        (
            {"exception": ("RuntimeError", "x"), "traceback": "MemoryError: y\n\nThe above\nRuntimeError: x"},
            "oom_host",
            "out of host memory in the steady runs: MemoryError: y",
        ),
        (
            {"exception": ("RuntimeError", "x"), "traceback": "  raise MemoryError if big else\nRuntimeError: x"},
            "error",
            "RuntimeError: x (in the steady runs)",
        ),
        ({**died(9), "memory_killed": True}, "oom_host", "killed at its 512 MiB limit while placing the tensors"),
        (
            {**died(6), "stderr": "terminate called after throwing an instance of 'std::bad_alloc'"},
            "oom_host",
            "out of host memory while placing the tensors: terminate",
        ),
        ({**died(11)}, "crashed", "segmentation fault (signal 11) while placing the tensors"),
        ({**died(9)}, "crashed", "killed from outside, not by a known limit (signal 9) while placing the tensors"),
        ({"exit_code": None, "signal": 11}, "crashed", "segmentation fault (signal 11) after its last event"),
        ({**died(11), "told": {"wrong": "2e-3 > 5e-6"}}, "crashed", "segmentation"),
        ({"told": {"wrong": "output: 2e-3 > 5e-6"}}, "wrong", "output: 2e-3 > 5e-6"),
        ({"told": {"wrong": ""}}, "wrong", "failed the equivalence gate"),
        (
            {"told": {"problem": "line 3: not JSON", "ended": False}},
            "error",
            "unreadable events.jsonl: line 3: not JSON",
        ),
        ({"exception": ("KeyError", "'w'\nsecond line")}, "error", "KeyError: 'w' (in the steady runs)"),
        (
            {"exit_code": 3, "told": {"ended": False}, "stderr": "a\nout of paper\n"},
            "error",
            "exited 3 in the steady runs: out of paper",
        ),
        ({"told": {"ended": False, "phase": None}}, "error", "exited 0 without results, before its first phase"),
    ],
)
def test_the_first_match_wins(arguments: dict[str, Any], outcome: str, reason: str) -> None:
    found = judged(**arguments)
    assert found.outcome == outcome
    assert found.reason is not None and found.reason.startswith(reason) and "\n" not in found.reason


def test_a_kill_without_a_limit_of_ours_is_the_machines() -> None:
    found = judged(**died(9), memory_killed=True, limits=dataclasses.replace(LIMITS, memory_bytes=None))
    assert found.outcome is Outcome.OOM_HOST and "killed by the system" in str(found.reason)


def test_what_the_harness_caused_is_flagged_so() -> None:
    found = judged(**died(9), interrupted=True, timed_out=True)
    assert (found.outcome, found.flags, found.reason) == (
        Outcome.ERROR,
        ["harness"],
        "interrupted while placing the tensors",
    )
    lost = judge(Exit.lost("no account", LIMITS), Account(), "cpu", "")
    assert (lost.outcome, lost.flags, lost.reason) == (Outcome.ERROR, ["harness"], "no account")


def test_messages_are_clipped_within_a_character() -> None:
    found = judged(exception=("E", "ü" * 4096))
    assert found.message == "ü" * 2048
    assert clip("aü", 2) == "a"


FRAMES = """Traceback (most recent call last):
  File "{root}/suite/worker/__main__.py", line 33, in main
    answer(request, events)
  File "{root}/suite/stacks/torch_eager_adapter.py", line 80, in step
    return self.model(x)
  File "/home/me/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1511, in _call
    return forward(*args)
  File "{own}", line 7, in forward
    return torch.softmax(x, dim=self.axis)
  File "/home/me/.venv/lib/python3.11/site-packages/torch/functional.py", line 12, in softmax
    raise ValueError(dim)
  File "<frozen importlib._bootstrap>", line 1, in _find
ValueError: no
"""


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("{root}/suite/workloads/ops/mha/mha_torch.py", "suite/workloads/ops/mha/mha_torch.py:7"),
        ("/home/me/mine/softmax/softmax_torch.py", "softmax/softmax_torch.py:7"),
    ],
)
def test_an_error_names_the_innermost_line_that_is_ours(own: str, told: str) -> None:
    """And the framework's line, which raised it; not where on this machine the files lie."""
    traceback = FRAMES.format(root=ROOT, own=own.format(root=ROOT))
    found = judged(exception=("ValueError", "no"), traceback=traceback)
    inside = "inside torch at torch/functional.py:12"
    assert found.reason == f"ValueError: no (in the steady runs, at {told}, {inside})"
    died_early = judged(stderr=traceback, exit_code=1)
    assert died_early.reason == f"exited 1 in the steady runs, at {told}, {inside}: ValueError: no"


def test_a_compilers_error_has_the_one_that_it_met() -> None:
    message = """RuntimeError when making fake tensor call
  Explanation: Dynamo failed to run FX node with fake tensors: reshape(*(5, 5)): got RuntimeError("shape '[5, 5]'")
  Hint: Your code may result in an error when running in eager."""
    found = judged(exception=("TorchRuntimeError", message))
    assert found.reason is not None
    assert found.reason.startswith(
        """TorchRuntimeError: RuntimeError when making fake tensor call: RuntimeError("shape"""
    )


def test_an_error_in_foreign_code_alone_names_no_line() -> None:
    foreign = 'File "/usr/lib/python3/dist-packages/x.py", line 1, in f\nFile "<string>", line 1\nValueError: no'
    assert judged(exception=("ValueError", "no"), traceback=foreign).reason == "ValueError: no (in the steady runs)"
