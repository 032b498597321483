"""Where cases lie under the machine's roofline."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.machine.roofline import Roofline
from suite.report.page import report
from suite.report.sections.questions.roofline import RooflineSection
from suite.results.cases.roofline import points
from tests.results.rows import attempt_of, row_of

SWEEP = {"flops_per_second_best": 4e11, "bytes_per_second_best": 2e10, "gemm_flops_per_second": {}, "threads": 2}


def of(flops: float | None, bytes_floor: float | None) -> results.Results:
    """A set of two stacks on one question of so much work, 10 and 20 ms a step."""
    work = {"flops": flops, "bytes_floor": bytes_floor}
    rows = [
        row_of(attempt_of(stack, block), seconds, **work)
        for block in (1, 2)
        for stack, seconds in (("numpy", 0.02), ("jax_jit", 0.01))
    ]
    return results.Results(Path("set"), None, rows, [], {}, roofline=SWEEP)


@pytest.mark.parametrize(
    ("flops", "moved", "bound", "efficiency"),
    [(2e9, 1e6, "arithmetic", 0.5), (2e8, 1e8, "memory", 0.5)],  # least times: 2e9 / 4e11 = 5 ms; 1e8 / 2e10 = 5 ms
)
def test_a_case_is_bound_by_what_takes_longer(flops: float, moved: float, bound: str, efficiency: float) -> None:
    loaded = of(flops, moved)
    roofline = Roofline.of(SWEEP)
    assert roofline is not None
    first, second = points(loaded.analysis("numpy"), roofline)
    assert (first.stack, first.bound, second.bound) == ("jax_jit", bound, bound)
    assert first.flops_per_byte == flops / moved
    assert first.flops_per_second == pytest.approx(flops / 0.01)
    assert (first.efficiency, second.efficiency) == pytest.approx((efficiency, efficiency / 2))


def test_the_section_says_how_near_and_draws_a_roof() -> None:
    section = report(of(2e9, 1e6), "numpy").section(RooflineSection)
    assert section is not None
    assert section.answer == (
        "jax_jit reaches 50 % of the machine's limit on gemm forward, numpy 25 % on gemm forward; memory limits 0 of "
        "1 comparison."
    )
    (roof,) = section.chart.curves
    heights = [float(corner.split(",")[1]) for corner in roof.path.split()]
    assert heights == sorted(heights, reverse=True) and heights[-1] == heights[-2], "it rises, then it is flat"
    assert len(section.chart.marks) == 2


def test_without_a_roof_or_known_work_there_is_no_section() -> None:
    assert report(of(None, None), "numpy").section(RooflineSection) is None
    bare = results.Results(Path("set"), None, of(2e9, 1e6).rows, [], {})
    assert report(bare, "numpy").section(RooflineSection) is None


def test_a_stack_without_a_point_is_named_with_its_outcome() -> None:
    loaded = of(2e9, 1e6)
    rows = [row | {"outcome": "wrong", "phase": "gate"} if row["stack"] == "jax_jit" else row for row in loaded.rows]
    section = report(results.Results(Path("set"), None, rows, [], {}, roofline=SWEEP), "numpy").section(RooflineSection)
    assert section is not None
    assert [point.stack for point in section.points] == ["numpy"]
    assert section.left_out == ("jax_jit on gemm forward (wrong result)",)
