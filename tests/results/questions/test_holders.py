"""What a step's memory is made of, from the rows of explain processes."""

from __future__ import annotations

import json
from typing import Any

from suite.case import Purpose
from suite.results.questions.holders import holder_questions
from suite.results.store.rows import Row
from tests.results.rows import attempt_of, row_of

TOLD = {
    "told_by": "torch.profiler",
    "categories": {"optimizer": 200, "parameters": 100},
    "largest": [{"category": "optimizer", "name": "w exp_avg", "bytes": 100}],
}


def explained(stack: str, told: dict[str, Any] | None, **columns: Any) -> Row:
    """The row of an explain process."""
    attempt = attempt_of(stack, block=0, purpose=Purpose.EXPLAIN)
    return row_of(attempt, **columns) | {"holders": told and json.dumps(told)}


def test_a_question_has_every_stack_that_was_asked() -> None:
    (question,) = holder_questions([explained("torch_eager", TOLD), explained("jax_eager", None)])
    silent, told = question.stacks
    assert (silent.stack, silent.recorded_by, silent.total) == ("jax_eager", "", 0)
    assert (told.recorded_by, told.total) == ("torch.profiler", 300)
    assert told.categories == (("optimizer", 200.0), ("parameters", 100.0))
    assert told.largest == (("optimizer", "w exp_avg", 100.0),)


def test_where_nobody_tells_there_is_nothing_to_show() -> None:
    assert holder_questions([explained("numpy", None)]) == ()
    assert holder_questions([explained("torch_eager", TOLD) | {"outcome": "error"}]) == ()
    assert holder_questions([row_of(attempt_of("torch_eager")) | {"holders": json.dumps(TOLD)}]) == ()
