"""Rows of predict processes."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from suite.case import Purpose
from suite.sets.rows import Row
from tests.predict.answers import compiled, prediction
from tests.results.rows import attempt_of, row_of

NO_SAMPLES = dict.fromkeys(("synced_seconds", "dispatch_seconds", "pipelined_seconds", "fetch_seconds"))
REFUSED = "RESOURCE_EXHAUSTED: the total memory required for HLO temporaries (74.50G) exceeds available HBM (31.24G)."


def predicted_row(
    stack: str, workload: str = "vit", device: str = "v6e-1", dims: dict[str, int] | None = None, **columns: Any
) -> Row:
    """A row of a training step at its published size."""
    attempt = attempt_of(
        stack, block=0, purpose=Purpose.PREDICT, workload=workload, size="full", pass_="train",
        target="tpu" if device.startswith("v") else "cuda", device=device, dims=dims or {"batch": 2},
    )  # fmt: skip
    program = compiled(argument=2**30, output=2**30, aliased=2**30, temporary=2**29, peak=3 * 2**29)
    told = prediction(program, device="TPU v6e, one chip" if device == "v6e-1" else device)
    row = row_of(attempt, provenance="predicted", prediction=json.dumps(asdict(told)), **NO_SAMPLES)
    return row | {"first_seconds": None, "second_seconds": None, "compile_seconds": 2.0, "phase": "compile"} | columns


def refused_row(stack: str, workload: str, dims: dict[str, int] | None = None) -> Row:
    """The row of a step that the compiler refused."""
    told = {"outcome": "oom_compile", "reason": REFUSED, "message": REFUSED, "prediction": None}
    return predicted_row(stack, workload, dims=dims, **told)


def rows() -> list[Row]:
    """Three models on two stacks, on a TPU; one of them on a GPU."""
    return [
        predicted_row("jax_jit"),
        predicted_row("torch_xla"),
        predicted_row("jax_jit", "gpt_neo"),
        predicted_row("torch_xla", "gpt_neo", outcome="timeout", reason="no answer within 60 min", prediction=None),
        refused_row("jax_jit", "llama"),
        refused_row("torch_xla", "llama"),
        predicted_row("jax_jit", device="h100"),
    ]
