"""What memory rows say: who fits, where the others ran out, how large each could be."""

from __future__ import annotations

from typing import Any

import pytest

from suite.case import Purpose
from suite.plan.search.bracket import Bracket
from suite.plan.search.capacity import MemoryQuestion, memory_questions
from suite.results.questions.memory_parts import floor_bytes, parts, total
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of, untimed_row

GIB = 2**30
LIMIT = 6 * GIB


def memory_row(stack: str, batch: int, gib: float | None, limit: int | None = LIMIT, **columns: Any) -> Row:
    """A memory process that peaked at `gib`, or ran out of memory."""
    dims = columns.pop("dims", {"batch": batch, "width": 8})
    attempt = attempt_of(
        stack, block=0, purpose=Purpose.MEMORY, workload="gpt2", pass_="train", dims=dims, limit_memory_bytes=limit
    )
    told: dict[str, Any] = {"outcome": "oom_host", "phase": "first", "reason": "killed at its 6 GiB limit"}
    if gib is not None:
        told = {
            "host_base_bytes": GIB // 2,
            "host_peak_build_bytes": GIB,
            "host_file_bytes": GIB // 4,
            "host_peak_step_bytes": int(gib * GIB) + GIB // 4,
        }
    floors = {
        "floor_parameters_bytes": 100,
        "floor_gradients_bytes": 50,
        "floor_optimizer_bytes": 200,
        "floor_inputs_bytes": batch,
    }
    return untimed_row(attempt) | floors | told | columns


def rows() -> list[Row]:
    """jax_jit is a line of 1 GiB and 0.5 a sample; torch_eager has one that failed and one that was spared."""
    line = [memory_row("jax_jit", batch, 1 + 0.5 * batch) for batch in (1, 2, 4, 8)]
    short = [memory_row("torch_eager", batch, 1 + batch) for batch in (1, 2, 4)]
    spared = {"provenance": "inferred", "inferred_from": "the smaller one"}
    return [
        *line,
        *short,
        memory_row("torch_eager", 8, None),
        memory_row("jax_jit", 16, None),
        memory_row("torch_eager", 16, None, **spared),
    ]


def sizes(question: MemoryQuestion) -> list[str]:
    return [*dict.fromkeys(map(question.size, question.rows))]


def test_a_question_has_all_its_sizes_and_stacks() -> None:
    (question,) = memory_questions(rows())
    assert (question.name, question.axis, question.limit) == ("gpt2 train", "batch", LIMIT)
    assert sizes(question) == ["batch = 1", "batch = 2", "batch = 4", "batch = 8", "batch = 16"]
    floors = dict.fromkeys(map(floor_bytes, question.rows))
    assert [*floors] == [301, 302, 304, 308, 316], "without the gradients"
    assert [line.stack for line in question.stacks] == ["jax_jit", "torch_eager"]


def test_the_largest_that_fits_is_found_by_trying_or_by_the_curve() -> None:
    (question,) = memory_questions(rows())
    jax, torch = question.stacks
    assert (jax.bracket, jax.predicted, jax.is_found) == (Bracket(8, 16), 10, False)
    assert (torch.bracket, torch.predicted, torch.is_found) == (Bracket(4, 8), 5, False)
    assert (jax.tried, torch.tried) == (5, 4), "what is inferred was not tried"
    (tried,) = memory_questions([*rows(), memory_row("jax_jit", 10, 6), memory_row("jax_jit", 11, None)])
    assert (tried.stacks[0].bracket.low, tried.stacks[0].is_found) == (10, True)
    (by_curve,) = memory_questions([*rows(), memory_row("jax_jit", 10, 6)])
    assert by_curve.stacks[0].is_found, "the curve ends at 10, and 16 failed"


def test_nothing_is_found_without_a_failure() -> None:
    (question,) = memory_questions([memory_row("jax_jit", batch, batch) for batch in (1, 2, 4)])
    assert (question.stacks[0].bracket, question.stacks[0].is_found) == (Bracket(4, None), False)


def test_limits_passes_and_what_doesn_t_grow_are_questions_of_their_own() -> None:
    wide = memory_row("jax_jit", 1, 2, dims={"batch": 1, "width": 16})
    asked = [*rows(), memory_row("jax_jit", 1, 2, limit=4 * GIB), wide]
    assert [question.limit for question in memory_questions(asked)] == [4 * GIB, LIMIT, LIMIT]
    assert len({question.name for question in memory_questions(asked)}) == 3


def test_two_dims_that_vary_have_columns_and_no_curve() -> None:
    asked = [memory_row("jax_jit", b, b, dims={"batch": b, "seq": t}) for b in (1, 2) for t in (8, 16)]
    (question,) = memory_questions(asked)
    assert sizes(question) == ["batch = 1, seq = 8", "batch = 1, seq = 16", "batch = 2, seq = 8", "batch = 2, seq = 16"]
    assert question.axis == "" and question.stacks[0].curve is None


def test_timed_rows_are_no_memory_question() -> None:
    assert memory_questions([row_of(attempt_of("jax_jit"))]) == ()


@pytest.mark.parametrize(
    ("base", "build", "step", "files", "expected"),
    [
        (2, 4, 8, 1, [1, 2, 4]),
        (2, 2, 2, 0, [2, 0, 0]),
        (3, 4, 2, 1, [2, 1, 0]),
        (3, 5, 6, 4, [0, 1, 1]),
        (None, 3, 7, 1, []),
        (1, 3, None, 1, []),
        (1, 3, 7, None, []),
    ],
)
def test_a_peak_is_the_sum_of_its_parts(
    base: int | None, build: int | None, step: int | None, files: int | None, expected: list[int]
) -> None:
    host = Row(
        target="cpu",
        host_base_bytes=base,
        host_peak_build_bytes=build,
        host_peak_step_bytes=step,
        host_file_bytes=files,
    )
    found = parts(host)
    assert [size for _, size in found] == expected
    assert not found or total(found) == max(base or 0, build or 0, step or 0) - (files or 0)
    assert parts(host | {"target": "cuda", "device_peak_bytes": 5}) == (("device", 5),), "kinds are never mixed"


def test_pages_of_files_are_no_part_of_what_a_limit_counts() -> None:
    row = memory_row("jax_jit", 1, 2.0)
    assert row.peak_bytes == 2 * GIB
    assert (row | {"host_file_bytes": None}).peak_bytes is None, "rather nothing than another kind of number"
    on_device = row | {"target": "cuda", "device_peak_bytes": 5, "device_total_bytes": 9}
    assert (on_device.peak_bytes, on_device.limit_bytes) == (5, 9)
