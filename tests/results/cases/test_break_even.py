"""Total time over steps and where totals cross, against examples computed by hand."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from suite import results
from suite.results.cases.break_even import Calls, Course, course_of, crossing, least, pays_off, steps_shown
from tests.results.rows import rows_of

EAGER = Calls("eager", first=2.0, second=1.0, steady=1.0)
JIT = Calls("jit", first=10.0, second=0.5, steady=0.5)


def test_a_total_is_the_first_the_second_and_every_later_call() -> None:
    assert [EAGER.total(steps) for steps in (1, 2, 3, 10)] == [2.0, 3.0, 4.0, 11.0]
    assert [JIT.total(steps) for steps in (1, 2, 3, 17)] == [10.0, 10.5, 11.0, 18.0]


def test_compiling_pays_off_where_the_totals_are_equal() -> None:
    # 10.5 + 0.5 k = 3 + 1.0 k after the second step: k = 15.
    assert pays_off(JIT, EAGER) == 17
    assert JIT.total(17) == EAGER.total(17) and JIT.total(16) > EAGER.total(16)
    assert course_of(JIT, EAGER) == (Course.OVERTAKES, 17)
    assert course_of(EAGER, JIT) == (Course.OVERTAKEN, 16)
    assert pays_off(EAGER, JIT) is None


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (Calls("a", 1.0, 1.0, 0.5), (Course.AHEAD, None)),
        (Calls("a", 2.5, 0.1, 0.5), (Course.OVERTAKES, 2)),  # 2.6 after two steps, against 3
        (Calls("a", 3.0, 1.0, 1.5), (Course.BEHIND, None)),
        (Calls("a", 1.0, 9.0, 1.5), (Course.OVERTAKEN, 1)),
        (Calls("a", 3.0, 1.0, 1.0), (Course.BEHIND, None)),  # parallel, a second behind for ever
        (Calls("a", 2.0, 1.0, 1.0), (Course.AHEAD, None)),  # the same calls
        (Calls("a", 3.0, 1.0, 1.0 - 1e-10), (Course.BEHIND, None)),  # in ten billion steps
    ],
)
def test_the_course_of_two_totals(ours: Calls, expected: tuple[Course, int | None]) -> None:
    assert course_of(ours, EAGER) == expected


def test_the_least_total_changes_hands_where_it_does_step_by_step() -> None:
    assert least([]) == [] and least([JIT]) == [(1, "jit")]
    assert least([JIT, EAGER]) == [(1, "eager"), (17, "jit")]
    generator = random.Random(7)
    for _ in range(50):
        stacks = [
            Calls(f"s{number}", generator.uniform(1, 300), generator.uniform(1, 30), generator.uniform(1, 3))
            for number in range(5)
        ]
        leaders = [min(stacks, key=lambda calls, at=at: calls.total(at)).stack for at in range(1, 2000)]
        expected = [(1, leaders[0])]
        expected += [(at, new) for at, (old, new) in enumerate(itertools.pairwise(leaders), 2) if old != new]
        assert [stretch for stretch in least(stacks) if stretch[0] < 2000] == expected


def test_a_crossing_needs_a_verdict_on_steady_times() -> None:
    rows = rows_of(
        {"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0101, 0.0102], "tf_xla": [0.02, 0.022, 0.0195]}
    )
    for row in rows:
        row["first_seconds"], row["second_seconds"] = (0.5 if row["stack"] == "jax_jit" else 0.02), 0.02
    (comparison,) = results.Results(Path("set"), None, rows, [], {}).analysis("numpy").comparisons
    baseline = comparison.of("numpy")
    found = {stack.stack: crossing(stack, baseline) for stack in comparison.timed if not stack.is_baseline}
    jit, xla = found["jax_jit"], found["tf_xla"]
    assert jit is not None and xla is not None
    # 0.52 + 0.0101 k = 0.04 + 0.0205 k, by the geometric means of the medians: k = 46.2.
    assert (jit.course, jit.steps) == (Course.OVERTAKES, 49)
    assert (xla.course, xla.steps, xla.reason) == (Course.UNDECIDED, None, "steady times are undecided")
    assert baseline is not None and crossing(baseline, baseline) is None


def test_charts_draw_round_steps() -> None:
    assert steps_shown(100) == [1, 2, 3, 5, 10, 20, 30, 50, 100]
