"""Predictions by device, and published verdicts beside them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from suite.case import Purpose
from suite.results.questions.predictions import FITS, NEITHER, OUT, predicted_devices
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
    told = prediction(compiled(argument=2**30, output=2**30, aliased=2**30, temporary=2**29, peak=3 * 2**29))
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


def test_each_device_has_its_questions_and_stacks() -> None:
    gpu, tpu = predicted_devices(rows())
    assert (gpu.name, gpu.stacks, len(gpu.questions)) == ("h100", ("jax_jit",), 1)
    assert (tpu.name, tpu.stacks) == ("v6e-1", ("jax_jit", "torch_xla"))
    assert [question.name for question in tpu.questions] == ["gpt_neo train", "llama train", "vit train"]
    verdicts = [[case and case.verdict for case in question.cases] for question in tpu.questions]
    assert verdicts == [[FITS, NEITHER], [OUT, OUT], [FITS, FITS]]


def test_what_a_refused_step_takes_is_what_the_compiler_says() -> None:
    _, tpu = predicted_devices(rows())
    needed = {case.row.text("workload"): case.needed_bytes for case in tpu.cases if case.row["stack"] == "jax_jit"}
    assert needed == {"gpt_neo": 3 * 2**29, "llama": 74.5 * 2**30, "vit": 3 * 2**29}
    silent = refused_row("jax_jit", "llama") | {"message": "RESOURCE_EXHAUSTED: no more"}
    assert predicted_devices([silent])[0].cases[0].needed_bytes is None


def test_published_verdicts_stand_beside_those_of_the_same_size_and_device() -> None:
    gpu, tpu = predicted_devices(rows())
    assert not gpu.published, "the study had a TPU"
    told = {(agreement.workload, agreement.stack): agreement.agrees for agreement in tpu.published}
    assert told == {
        ("vit", "jax_jit"): True,
        ("vit", "torch_xla"): False,
        ("gpt_neo", "jax_jit"): True,
        ("gpt_neo", "torch_xla"): False,
        ("llama", "jax_jit"): True,
        ("llama", "torch_xla"): True,
    }
    smaller = predicted_row("torch_xla") | {"size": "tiny"}
    assert not predicted_devices([smaller])[0].published


def test_a_search_tells_the_largest_that_fits_and_the_smallest_that_does_not() -> None:
    fitting = [predicted_row("jax_jit", dims={"batch": batch, "image": 224, "patch": 16}) for batch in (1, 8)]
    refused = refused_row("jax_jit", "vit", dims={"batch": 12, "image": 224, "patch": 16})
    other = predicted_row("torch_xla", dims={"batch": 1, "image": 224, "patch": 16})
    (device,) = predicted_devices([*fitting, refused, other])
    (search,) = device.searches
    assert (search.question, search.stack, search.axis) == ("vit train f32", "jax_jit", "batch")
    assert (search.bracket.low, search.bracket.high, search.tried) == (8, 12, 3)
    assert search.largest and search.largest.needed_bytes == 3 * 2**29
    two_dims = predicted_row("jax_jit", dims={"batch": 2, "image": 448, "patch": 16})
    assert not predicted_devices([*fitting, two_dims])[0].searches, "two dims vary: nothing was searched"
