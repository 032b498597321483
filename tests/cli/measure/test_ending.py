"""The last lines of a run that ended with another exit code than 0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite.case import Outcome
from suite.cli.measure.answer import explained
from suite.results.outcomes import exit_code
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of

FOLDER, PAGE = Path("results/set"), Path("results/set/report.html")


def ended(stack: str, outcome: Outcome, reason: str = "", **asked: Any) -> Row:
    """A row of a stack that ended so in its first call."""
    return row_of(attempt_of(stack, **asked)) | {"outcome": str(outcome), "reason": reason or None, "phase": "first"}


def lines_of(*rows: Row) -> list[str]:
    """What is printed under the results of these rows."""
    return explained(exit_code(rows), rows, FOLDER, PAGE)


def test_a_run_that_ended_well_says_nothing() -> None:
    assert lines_of(ended("numpy", Outcome.OK), ended("jax_jit", Outcome.TIMEOUT, "no answer within 20 min")) == []


def test_a_failure_has_its_stack_case_outcome_reason_and_log() -> None:
    row = ended("jax_jit", Outcome.ERROR, "ValueError: no (in the first run, at x/x_jax.py:7)")
    total, line, log = lines_of(row, ended("numpy", Outcome.OK), ended("tf_xla", Outcome.TIMEOUT, "late"))
    assert total == "Exit code 3: 1 of 3 cases failed."
    assert (
        line == "  jax_jit on gemm forward: error in the first run: ValueError: no (in the first run, at x/x_jax.py:7)"
    )
    assert log == f"    log: results/set/logs/{row.attempt_name}"


def test_what_failed_for_one_reason_is_one_line() -> None:
    twice = [ended("jax_jit", Outcome.CRASHED, "segmentation fault (signal 11)", block=block) for block in (1, 2)]
    same = [ended(stack, Outcome.WRONG, "loss") for stack in ("numpy", "tf_xla")]
    total, *lines = lines_of(*twice, *same)
    assert total == "Exit code 3: 1 of 3 cases crashed, 2 of 3 cases gave wrong results."
    assert lines[::2] == [
        "  numpy and tf_xla on gemm forward (2 processes): wrong result: loss",
        "  jax_jit on gemm forward (2 processes): crashed in the first run: segmentation fault (signal 11)",
    ]


def test_another_question_has_a_line_of_its_own() -> None:
    """One sentence on both would say more than there is: that each stack failed on each."""
    _, *lines = lines_of(ended("numpy", Outcome.WRONG, "loss"), ended("tf_xla", Outcome.WRONG, "loss", pass_="train"))
    assert [line.partition(":")[0] for line in lines[::2]] == ["  numpy on gemm forward", "  tf_xla on gemm train"]


def test_only_the_first_failures_are_printed() -> None:
    stacks = ("numpy", "tf_xla", "tf_graph", "tf_eager", "torch_xla", "torch_eager")
    _, *lines = lines_of(*(ended(stack, Outcome.WRONG, f"loss of {stack}") for stack in stacks))
    assert len(lines) == 11 and lines[-1] == f"  and 1 more failure: {PAGE}#endings"


def test_a_reason_isn_t_longer_than_a_few_lines() -> None:
    _, line, _ = lines_of(ended("numpy", Outcome.ERROR, "x" * 4000))
    assert len(line) < 400 and line.endswith("…")


def test_a_process_that_wasn_t_run_has_no_log() -> None:
    settled = ended("numpy", Outcome.WRONG, "not run: the process in block 1 ended so: loss") | {
        "provenance": "inferred"
    }
    assert not any("log:" in line for line in lines_of(settled))


def test_nothing_measured_says_where_the_reasons_are() -> None:
    assert lines_of(ended("jax_jit", Outcome.UNSUPPORTED, "no Python 3.13")) == [
        "Nothing was measured: no case of this run can run here. The page has each case's reason."
    ]
