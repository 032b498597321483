"""What a step's memory is made of, from the rows of explain processes."""

from __future__ import annotations

import json
from typing import Any

from suite.case import Purpose
from suite.sets.rows import Row
from tests.answers.asking import answered, asked
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
    found = answered("holders", [explained("torch_eager", TOLD), explained("jax_eager", None)])
    silent, told = found.table.to_dicts()
    assert (silent["stack"], silent["held_bytes"]) == ("jax_eager", None)
    assert (told["recorded_by"], told["held_bytes"]) == ("torch.profiler", 300)
    assert [(each["category"], each["bytes"]) for each in told["categories"]] == [
        ("optimizer", 200),
        ("parameters", 100),
    ]
    assert told["largest"] == [{"tensor": "w exp_avg", "category": "optimizer", "bytes": 100}]
    assert "torch_eager holds most" in found.sentence and "200 B optimizer" in found.sentence


def test_where_nobody_tells_there_is_nothing_to_show() -> None:
    assert asked("holders", [explained("numpy", None)]) is None
    assert asked("holders", [explained("torch_eager", TOLD) | {"outcome": "error"}]) is None
    assert asked("holders", [row_of(attempt_of("torch_eager")) | {"holders": json.dumps(TOLD)}]) is None
