"""What rows say of programs: which stacks have some, and why others don't."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from suite.case import Purpose
from suite.results.questions.programs import program_questions
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
