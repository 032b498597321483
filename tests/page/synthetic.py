"""A result set that no machine measured: seeded samples of every kind of row, written by the real store."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from suite.case import Attempt, Case, Planned, Purpose
from suite.protocol import Protocol
from suite.sets.files import write_json
from suite.sets.result_set import ResultSet
from suite.sets.rows import empty_row
from suite.stacks.names import attempt_name
from tests.plan_files import plan_file
from tests.results.rows import GEMM

BLOCKS = 5
BASELINE = "torch_eager"
STARTED = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)
HOSTILE = '<script>alert("x")</script><img src=http://evil.example/x onerror=alert(1)> & "quoted"'
PROTOCOL = Protocol(blocks=BLOCKS, blocks_max=BLOCKS)

# stack: (dialect, environment, relative steady, first seconds, second relative, dispatch share, spread, compiles)
STACKS: dict[str, tuple[str, str, float, float, float, float, float, tuple[int, int, int]]] = {
    "numpy": ("numpy", "numpy", 1.9, 0.0, 1.1, 1.0, 0.03, (0, 0, 0)),
    "jax_eager": ("jax", "jax", 1.35, 0.30, 1.2, 0.85, 0.04, (40, 0, 0)),
    "jax_jit": ("jax", "jax", 0.48, 0.61, 1.9, 0.015, 0.02, (1, 0, 0)),
    "torch_eager": ("torch", "torch", 1.0, 0.12, 1.3, 0.99, 0.09, (0, 0, 0)),
    "torch_inductor": ("torch", "torch", 0.487, 24.8, 1.05, 0.97, 0.03, (1, 0, 0)),
    "torch_xla": ("torch", "torch_xla", 0.71, 0.40, 8.0, 0.06, 0.03, (1, 1, 0)),
    "torchax_jit": ("torch", "torchax", 0.57, 0.66, 1.1, 0.02, 0.03, (1, 0, 0)),
    "tf_eager": ("tf", "tensorflow", 1.6, 0.23, 1.0, 0.98, 0.04, (0, 0, 0)),
    "tf_graph": ("tf", "tensorflow", 0.99, 0.52, 1.0, 0.97, 0.012, (1, 0, 0)),
    "tf_xla": ("tf", "tensorflow", 0.55, 0.87, 1.05, 0.96, 0.03, (1, 0, 0)),
}
QUESTIONS: dict[tuple[str, str], tuple[dict[str, int], float, int]] = {
    ("gemm", "forward"): ({"n": 1024}, 0.0153, 1024),
    ("ffn", "train"): ({"d_model": 768, "d_hidden": 3072, "batch": 2, "tokens": 64}, 0.0452, 128),
    ("selu", "forward"): ({"n": 3000}, 0.00094, 3000),
}
# (workload, stack): what it ends as, other than ok. Hostile text must come out as text.
ENDINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("ffn", "tf_eager"): {
        "outcome": "oom_host",
        "phase": "build",
        "signal": 9,
        "reason": "The watchdog ended the process tree at 2.0 GiB.",
        "stderr_tail": "W tensorflow/allocator: 1207959552 exceeds 10 %",
    },
    ("ffn", "torch_xla"): {"outcome": "timeout", "phase": "first", "reason": "Compiling took longer than 600 s."},
    ("gemm", "numpy"): {"outcome": "ok"},
    ("selu", "torch_xla"): {"outcome": "unsupported", "reason": "selu has no PyTorch/XLA dialect here."},
    ("selu", "tf_graph"): {
        "outcome": "error",
        "phase": "second",
        "reason": f"ValueError: {HOSTILE}",
        "exception_type": "ValueError",
        "message": HOSTILE,
        "exit_code": 1,
        "stderr_tail": f'Traceback (most recent call last):\n  File "x.py", line 1\n{HOSTILE}',
    },
}
WRONG = ("selu", "torch_inductor")
UNSUPPORTED_IN_PLAN = ("selu", "torch_xla")
TWIN = "jax_jit"
PARTIAL = ("gemm", "tf_xla", 3)  # crashed in this block alone


def case(workload: str, pass_: str, stack: str, dims: dict[str, int]) -> Case:
    """A case of the synthetic set."""
    return dataclasses.replace(
        GEMM, workload=workload, size="full", dims=dims, pass_=pass_, stack=stack, limit_memory_bytes=2 * 2**30
    )


def attempts(set_id: str) -> list[Attempt]:
    """Every planned attempt, the A/A twin included."""
    planned = []
    for block in range(1, BLOCKS + 1):
        position = 0
        for (workload, pass_), (dims, _, _) in QUESTIONS.items():
            for stack in STACKS:
                for replicate in (1, 2) if stack == TWIN else (1,):
                    position += 1
                    planned.append(
                        Attempt(
                            set_id=set_id,
                            case=case(workload, pass_, stack, dims),
                            block=block,
                            position=position,
                            replicate=replicate,
                            purpose=Purpose.TIMED,
                            retry=1,
                            seed=20260115,
                        )
                    )
    return planned


def timed_row(attempt: Attempt, random: np.random.Generator, factor: float = 1.0) -> dict[str, Any]:
    """An ok row with realistic samples; columns that CPU stacks don't know stay null."""
    kind = attempt.case
    dialect, environment, relative, first, second, early, spread, compiles = STACKS[kind.stack]
    _, base, items = QUESTIONS[kind.workload, kind.pass_]
    steady = base * relative * factor * math.exp(random.normal(0, spread))
    count = 120
    warm = 1 + 0.6 * np.exp(-np.arange(count) / 2.0)
    noise = np.exp(np.abs(random.normal(0, 0.02, count)))
    synced = steady * warm * noise
    side = steady * np.exp(np.abs(random.normal(0, 0.02, 10)))
    numpy_like = kind.stack == "numpy"
    return empty_row(attempt) | {
        "machine_id": "a1b2c3d4e5f60718",
        "dialect": dialect,
        "environment": environment,
        "engine": "local",
        "outcome": "ok",
        "phase": "end",
        "import_seconds": 1.0 + relative,
        "device_seconds": 0.05,
        "build_seconds": 0.2,
        "place_seconds": 0.01,
        "first_seconds": first + steady * 1.2,
        "second_seconds": steady * second,
        "synced_seconds": synced.tolist(),
        "dispatch_seconds": None if numpy_like else (synced * early).tolist(),
        "pipelined_seconds": (side * (0.96 if early < 0.5 else 1.0)).tolist(),
        "fetch_seconds": (side + (0.0 if numpy_like else 4e-9 * items * 768)).tolist(),
        "synced_warmup": 10,
        "pipelined_calls": 4,
        "compile_seconds": None if numpy_like else first * 0.8,
        "compiles_first": None if numpy_like else compiles[0],
        "compiles_second": None if numpy_like else compiles[1],
        "compiles_steady": None if numpy_like else compiles[2],
        "synced_others": [0.01] * count,
        "effective_cores": 1.0 if numpy_like else 1.98,
        "minor_faults_per_step": 0.0,
        "graph_breaks": 0 if kind.stack == "torch_inductor" else None,
        "host_base_bytes": int(2.0e8 * (1 + relative)),
        "host_file_bytes": int(1.5e8),
        "host_peak_build_bytes": int(3.1e8 * (1 + relative)),
        "host_peak_step_bytes": int(3.4e8 * (1 + relative)),
        "flops": 2 * items**3,
        "items_per_step": items,
        "relative_error": 2.2e-7 * (1 + relative) if attempt.block == 1 else None,
        "precision_observed": "f32" if attempt.block == 1 else None,
        "weights_sha256": "0" * 64,
        "versions": json.dumps({environment: "2.13.0", "numpy": "2.3.5"}),
        "lock_sha256": f"{abs(hash_of(environment)):064x}",
        "environment_facts": json.dumps(
            {
                "affinity": [0, 1],
                "environment_variables": {"OMP_NUM_THREADS": "2"},
                "mhz_before": 2800.0 + attempt.position,
                "timer_cost_seconds": 8.1e-8,
            }
        ),
        "started_at": STARTED + timedelta(minutes=12 * attempt.block, seconds=9 * attempt.position),
    }


def hash_of(text: str) -> int:
    """A number for a text, the same in every process."""
    return int.from_bytes(text.encode().ljust(16, b"\0")[:16], "big")


def ended_row(attempt: Attempt, random: np.random.Generator) -> dict[str, Any]:
    """The row that this attempt's place in the story asks for."""
    workload, stack = attempt.case.workload, attempt.case.stack
    row = timed_row(attempt, random)
    ending = ENDINGS.get((workload, stack))
    if (workload, stack, attempt.block) == PARTIAL:
        ending = {
            "outcome": "crashed",
            "phase": "steady",
            "reason": "Signal 11 without evidence of lacking memory.",
            "signal": 11,
        }
    if ending and ending["outcome"] != "ok":
        kept = {name: row[name] for name in ("machine_id", "dialect", "environment", "engine", "started_at")}
        return empty_row(attempt) | kept | ending
    if (workload, stack) == WRONG and attempt.block == 1:
        row |= {
            "outcome": "wrong",
            "reason": "gradient of w1: relative error 3.1e-2 over 5e-6.",
            "relative_error": 3.1e-2,
        }
    if stack == "torch_eager" and attempt.block == 2:
        row["flags"] = ["no_steady_state"]
    return row


def write(folder: Path, *, blocks: int = BLOCKS, seed: int = 7) -> Path:
    """A committed result set at `folder`, its first `blocks` blocks run; block 2 was rejected once for noise."""
    random = np.random.default_rng(seed)
    planned = attempts(folder.name)
    cases = {attempt.case.case_id: attempt.case for attempt in planned}
    reasons = {UNSUPPORTED_IN_PLAN: ENDINGS[UNSUPPORTED_IN_PLAN]["reason"]}
    stored = ResultSet.create(
        folder,
        plan_file(
            set_id=folder.name,
            created_at=STARTED.isoformat(),
            protocol=PROTOCOL,
            baseline=BASELINE,
            twin=True,
            seed=20260115,
            machine_id="a1b2c3d4e5f60718",
            attempts=tuple(planned),
            cases=tuple(Planned(each, reasons.get((each.workload, each.stack))) for each in cases.values()),
            locks={entry[1]: f"{hash_of(entry[1]):064x}" for entry in STACKS.values()},
            units={"gemm": "rows", "ffn": "tokens", "selu": "rows"},
            command="./stackwars run --preset=ops --workload=gemm,ffn,selu --sampling=alone",
            options=("--preset=ops", "--workload=gemm,ffn,selu", "--sampling=alone"),
        ),
    )
    write_json(
        folder / "machine.json",
        {
            "machine_id": "a1b2c3d4e5f60718",
            "cpu_model": "Example CPU @ 2.80GHz",
            "kernel": "6.1.0",
            "platform": "Linux x86_64",
            "ram_bytes": 16 * 2**30,
            "cpu_flags": [f"flag{i}" for i in range(90)],
            "governor": None,
            "caches": {"L1 Data": "32K", "L3 Unified": "33792K"},
        },
    )
    (folder / "inputs" / "revision.txt").write_text("0123456789abcdef0123456789abcdef01234567\n", encoding="utf-8")
    for attempt in planned:
        if attempt.block > blocks or (attempt.case.workload, attempt.case.stack) == UNSUPPORTED_IN_PLAN:
            continue
        if attempt.block == 2:  # the noisy first try of block 2: much slower, kept, not counted
            row = ended_row(attempt, random)
            if row["synced_seconds"]:
                row["synced_seconds"] = [3 * t for t in row["synced_seconds"]]
            stored.write_attempt(attempt_name(attempt), row)
        last = Attempt.from_json(attempt.to_json() | {"retry": 2}) if attempt.block == 2 else attempt
        stored.write_attempt(attempt_name(last), ended_row(last, random))
    for block in range(1, blocks + 1):
        if block == 2:
            stored.write_block(2, 1, record(2, 1, "rejected", ["canary drifted by 11.3 %, over 5 %"], 0.113))
        stored.write_block(block, 2 if block == 2 else 1, record(block, 2 if block == 2 else 1, "accepted", [], 0.004))
    stored.commit()
    return folder


def record(block: int, retry: int, verdict: str, reasons: list[str], drift: float) -> dict[str, Any]:
    """A block's record."""
    started = STARTED + timedelta(minutes=12 * block + retry)
    return {
        "block": block,
        "retry": retry,
        "verdict": verdict,
        "reasons": reasons,
        "canary_seconds": [0.1002, 0.1002 * (1 + drift)],
        "steal_share": 0.0004,
        "throttled": None,
        "load_before": 0.31,
        "load_after": 1.97,
        "mhz_before": 2800.0,
        "mhz_after": None,
        "started_at": started.isoformat(),
        "ended_at": (started + timedelta(minutes=11)).isoformat(),
    }
