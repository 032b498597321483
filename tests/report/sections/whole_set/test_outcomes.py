"""What is listed as a failure, and with which reason."""

from __future__ import annotations

from suite.case import Purpose
from suite.report.sections.whole_set.outcomes import AIMS, apart, cases, failures
from suite.sets.rows import TOO_FAST
from tests.results.rows import attempt_of, row_of, untimed_row


def test_a_process_that_was_too_fast_is_listed_with_its_time_and_its_bound() -> None:
    said = (
        "a step took 6.00 µs; its 2.00 GFLOP take at least 8.33 ms (240 GFLOP/s, 1.2 times what this machine reached)"
    )
    fast = row_of(attempt_of(), 6e-6) | {"flags": ["implausible"], "reason": said}
    honest = row_of(attempt_of(stack="jax_jit"))
    (line,) = failures([fast, honest], {})
    assert (line.stack, line.outcome, line.reason) == ("numpy", "implausible", said)
    assert line.ending == "implausibly fast"
    (older,) = failures([fast | {"reason": None}], {})
    assert older.reason == TOO_FAST, "where no limit is told"


def test_a_wrong_process_stays_wrong_however_fast_it_was() -> None:
    wrong = row_of(attempt_of()) | {"outcome": "wrong", "reason": "loss", "flags": ["implausible"]}
    (line,) = failures([wrong], {})
    assert (line.outcome, line.reason) == ("wrong", "loss")


def test_a_process_outside_of_the_blocks_has_none() -> None:
    said = {"outcome": "wrong", "reason": "loss"}
    timed = row_of(attempt_of(block=2)) | said
    aside = row_of(attempt_of(stack="jax_jit", block=0, purpose=Purpose.EXPLAIN)) | said
    lines = {line.stack: line for line in failures([timed, aside], {})}
    assert (lines["numpy"].in_blocks, lines["numpy"].aim) == ("2", "")
    assert (lines["jax_jit"].in_blocks, lines["jax_jit"].purpose) == ("–", "explain")
    assert lines["jax_jit"].aim == "records the kernels that run and what holds the memory"
    assert AIMS.keys() == {*Purpose} - {Purpose.TIMED}


def test_a_set_of_programs_or_profiles_alone_counts_the_cases_that_it_has() -> None:
    purposes = (Purpose.EXPLAIN, Purpose.PROFILE)
    rows = [
        untimed_row(attempt_of(stack, 0, purpose=purpose)) for stack in ("jax_jit", "numpy") for purpose in purposes
    ]
    rows[-1] |= {"outcome": "unsupported", "reason": "it has no profiler"}
    own, beside = apart(rows)
    assert (cases(own), beside) == ({"ok": 1, "unsupported": 1}, [])


def test_programs_beside_timed_processes_are_no_cases_of_their_own() -> None:
    timed, memory = row_of(attempt_of()), untimed_row(attempt_of(purpose=Purpose.MEMORY))
    programs = untimed_row(attempt_of(block=0, purpose=Purpose.IR), outcome="error", reason="it couldn't be read")
    own, beside = apart([timed, memory, programs])
    assert (cases(own), beside) == ({"ok": 2}, [programs])
