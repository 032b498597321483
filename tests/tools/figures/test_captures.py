"""What a compiler planned beside what was held."""

from __future__ import annotations

from suite.case import Purpose
from suite.sets.rows import Row, metrics_json
from tests.results.questions.test_programs import ir_row
from tests.results.rows import attempt_of, row_of
from tools.figures.captures import captures


def capture_rows() -> list[Row]:
    """A process that kept a program and the memory process of the same case, and one without."""
    figures = dict(zip(("argument", "output", "temporary", "aliased"), (100, 90, 30, 80), strict=True))
    times = {"first call": 2.0, "capture": 9.0}
    kept = ir_row(
        "jax_jit",
        metrics=metrics_json(
            {"name": name, "unit": "s", "kind": "ir", "values": [value]} for name, value in times.items()
        ),
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
