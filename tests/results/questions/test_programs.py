"""What rows say of programs: which stacks have some, and why others don't."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from suite.case import Purpose
from suite.results.questions.programs import captures, program_questions
from suite.sets.rows import Row
from tests.ir.programs import program
from tests.results.rows import attempt_of, row_of, untimed_row


def ir_row(stack: str, **columns: Any) -> Row:
    """An ir process that kept one program, unless `columns` say otherwise."""
    attempt = attempt_of(stack, block=0, purpose=Purpose.IR, workload="gpt2", pass_="train", dims={"batch": 2})
    kept = {
        "programs": json.dumps([asdict(program())]),
        "compiles_first": 1,
        "compiles_second": 1,
        "compiles_steady": 0,
    }
    return untimed_row(attempt) | kept | columns


def rows() -> list[Row]:
    """Two that have programs, one that never could, one that failed."""
    unsupported = {"outcome": "unsupported", "reason": "it has no compiler", "programs": None}
    failed = {"outcome": "error", "reason": "it couldn't be read", "programs": None}
    more = {"programs": json.dumps([asdict(program(kept=149, kept_bytes=2**30))])}
    return [
        ir_row("torch_xla", **more),
        ir_row("jax_jit"),
        ir_row("torch_eager", **unsupported),
        ir_row("tf_xla", **failed),
    ]


def test_a_question_has_the_stacks_by_name_and_the_reasons_of_the_others() -> None:
    (question,) = program_questions(rows())
    assert question.name == "gpt2 train"
    assert [each.stack for each in question.stacks] == ["jax_jit", "torch_xla"]
    assert question.stacks[0].programs == (program(),)
    assert question.stacks[0].compiles == (1, 1, 0)
    assert question.without == (("tf_xla", "it couldn't be read"), ("torch_eager", "it has no compiler"))


def test_timed_rows_hand_over_nothing() -> None:
    assert program_questions([row_of(attempt_of("jax_jit"))]) == ()


def capture_rows() -> list[Row]:
    """A process that kept a program and the memory process of the same case, and one without."""
    figures = dict(zip(("argument", "output", "temporary", "aliased"), (100, 90, 30, 80), strict=True))
    times = {"first call": 2.0, "capture": 9.0}
    kept = ir_row(
        "jax_jit",
        metrics=[{"name": name, "unit": "s", "kind": "ir", "values": [value]} for name, value in times.items()],
        **{f"program_{name}_bytes": value * 2**20 for name, value in figures.items()},
    )
    memory = row_of(
        attempt_of("jax_jit", block=0, purpose=Purpose.MEMORY, workload="gpt2", pass_="train", dims={"batch": 2})
    )
    sizes = {"host_base_bytes": 200, "host_peak_build_bytes": 300, "host_peak_step_bytes": 410, "host_file_bytes": 50}
    return [kept, memory | {name: size * 2**20 for name, size in sizes.items()}, ir_row("torch_xla", metrics=None)]


def test_a_capture_has_what_was_planned_beside_what_was_held_and_what_it_took() -> None:
    one, other = captures(capture_rows())
    assert (one.planned_bytes, one.held_bytes) == (140 * 2**20, 210 * 2**20)
    assert (one.first_seconds, one.seconds) == (2.0, 9.0)
    assert (other.planned_bytes, other.held_bytes, other.seconds) == (None, None, None)
