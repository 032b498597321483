"""How cases ended: what is listed, with which reason, and how cases are counted."""

from __future__ import annotations

from typing import Any

from suite.answers.endings import lines, shortened
from suite.case import Purpose
from suite.plan.layout import AIMS
from suite.sets.rows import TOO_FAST, Row
from tests.answers.asking import answered
from tests.results.rows import attempt_of, row_of, untimed_row

SAID = "a step took 6.00 µs; its 2.00 GFLOP take at least 8.33 ms (240 GFLOP/s, 1.2 times what this machine reached)"


def failures(*rows: Row) -> list[dict[str, Any]]:
    return [line for line in lines(rows, {}) if line["outcome"] != "ok"]


def test_a_process_that_was_too_fast_is_listed_with_its_time_and_its_bound() -> None:
    fast = row_of(attempt_of(), 6e-6) | {"flags": ["implausible"], "reason": SAID}
    [line] = failures(fast, row_of(attempt_of(stack="jax_jit")))
    assert (line["stack"], line["outcome"], line["reason"]) == ("numpy", "implausible", SAID)
    [older] = failures(fast | {"reason": None})
    assert older["reason"] == TOO_FAST, "where no limit is told"


def test_a_wrong_process_stays_wrong_however_fast_it_was() -> None:
    [line] = failures(row_of(attempt_of()) | {"outcome": "wrong", "reason": "loss", "flags": ["implausible"]})
    assert (line["outcome"], line["reason"]) == ("wrong", "loss")


def test_a_process_outside_of_the_blocks_has_none() -> None:
    said = {"outcome": "wrong", "reason": "loss"}
    timed = row_of(attempt_of(block=2)) | said
    aside = row_of(attempt_of(stack="jax_jit", block=0, purpose=Purpose.EXPLAIN)) | said
    by_stack = {line["stack"]: line for line in failures(timed, aside)}
    assert by_stack["numpy"]["blocks"] == "2" and by_stack["jax_jit"]["blocks"] == "–"
    assert [[each["what"] for each in by_stack[stack]["record"]] for stack in ("numpy", "jax_jit")] == [
        ["Exit", "Log"],
        ["Purpose", "Exit", "Log"],
    ]
    assert AIMS.keys() == {*Purpose} - {Purpose.TIMED}


def test_a_set_of_programs_or_profiles_alone_counts_the_cases_that_it_has() -> None:
    purposes = (Purpose.EXPLAIN, Purpose.PROFILE)
    rows = [
        untimed_row(attempt_of(stack, 0, purpose=purpose)) for stack in ("jax_jit", "numpy") for purpose in purposes
    ]
    rows[-1] |= {"outcome": "unsupported", "reason": "it has no profiler"}
    found = answered("endings", rows)
    assert found.sentence == "1 of 2 planned cases ended ok; 1 unsupported (numpy on gemm forward)."
    assert found.table["outcome"].to_list() == ["unsupported"], "those that ended well have sections of their own"


def test_programs_beside_timed_processes_are_no_cases_of_their_own() -> None:
    timed, memory = row_of(attempt_of()), untimed_row(attempt_of(purpose=Purpose.MEMORY))
    programs = untimed_row(attempt_of(block=0, purpose=Purpose.IR), outcome="error", reason="it couldn't be read")
    found = answered("endings", [timed, memory, programs])
    assert found.sentence == (
        "2 of 2 planned cases ended ok; apart from these, 1 process for programs, profiles and the like didn't."
    )


def test_markdown_has_what_failed_or_is_flagged() -> None:
    failed = row_of(attempt_of("numpy")) | {"outcome": "timeout", "phase": "first", "reason": "x" * 300}
    flagged = [row_of(attempt_of("jax_jit", block)) | {"flags": ["noisy"] if block == 1 else []} for block in (1, 2)]
    brief = answered("endings", [failed, *flagged, row_of(attempt_of("torch_eager"))]).in_brief
    assert brief is not None and brief.to_dicts() == [
        {
            "question": "gemm forward",
            "stack": "numpy",
            "ended": "timeout in the first run",
            "reason": shortened("x" * 300),
            "flags": [],
        },
        {
            "question": "gemm forward",
            "stack": "jax_jit",
            "ended": "ok",
            "reason": "",
            "flags": [{"flag": "noisy", "processes": "1/2"}],
        },
    ]
