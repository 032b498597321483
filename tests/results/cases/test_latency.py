"""First, second and average steady call of a case, or the call in whose place it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.results.cases.latency import Latency, ended_in, latencies
from suite.results.store.rows import Row
from tests.results.rows import attempt_of, row_of

ENDED = {"outcome": "oom_host", "reason": "killed at its limit", "synced_seconds": None}


def lines(*rows: Row) -> dict[str, Latency]:
    """The line of each stack on the one question of some rows."""
    (of_question,) = latencies(results.Results(Path("set"), None, list(rows), [], {}).analysis("numpy")).values()
    return {line.cell.stack: line for line in of_question}


def test_an_ok_stack_has_three_calls() -> None:
    line = lines(row_of(attempt_of(), [0.01, 0.01, 0.04, 0.01, 0.01]))["numpy"]
    assert (line.first, line.second, line.ended) == (0.1, 0.02, "")
    assert line.average == pytest.approx(0.016)


@pytest.mark.parametrize(
    ("phase", "ended", "first", "second"),
    [
        ("build", "first", None, None),
        ("first", "first", None, None),
        ("second", "second", 2.0, None),
        ("steady", "average", 2.0, 0.5),
    ],
)
def test_a_case_that_ended_keeps_the_calls_before_its_end(
    phase: str, ended: str, first: float | None, second: float | None
) -> None:
    row = row_of(attempt_of("jax_jit"), first_seconds=first, second_seconds=second, phase=phase, **ENDED)
    found = lines(row_of(attempt_of()), row)["jax_jit"]
    assert (found.ended, found.first, found.second, found.average) == (ended, first, second, None)


def test_a_case_that_never_ran_ended_in_place_of_its_first_call() -> None:
    assert ended_in("") == "first" and ended_in("gate") == "average"
