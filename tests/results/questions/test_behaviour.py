"""What rows say of behaviour: a class a cell, also where a process ended early; and what moved between two sets."""

from __future__ import annotations

import json
from typing import Any

from suite.case import Purpose
from suite.results.questions.behaviour import ChangedClass, between, by_variant, classes, observations
from suite.sets.rows import Row, metrics_json
from tests.results.rows import attempt_of, row_of, untimed_row

TITLES = {"same": "nothing changes", "shape": "another length"}


def entry(aspect: str, class_: str, **columns: Any) -> dict[str, Any]:
    return {
        "probe": "What is traced again",
        "aspect": aspect,
        "title": TITLES[aspect],
        "class": class_,
        "words": "",
        "code": "def f(x): ...",
        "documented": None,
        "primer": None,
    } | columns


def probe_row(stack: str, *entries: dict[str, Any], metrics: Any = (), variant: str = "", **columns: Any) -> Row:
    attempt = attempt_of(stack, block=0, purpose=Purpose.PROBE, workload="retrace", dims={"n": 64}, variant=variant)
    told = {"behaviour": json.dumps(entries) if entries else None, "metrics": metrics_json(metrics)}
    return untimed_row(attempt) | told | columns


def rows() -> list[Row]:
    """One that reuses, against what is documented; one that crashed half-way; one that can't."""
    believed = {"documented": {"class": "retraces", "page": "https://example.org"}}
    seconds = {"name": "same seconds", "unit": "s", "kind": "behaviour", "values": [0.5]}
    other = {"name": "loss", "unit": "1", "kind": "gate", "values": [0.5]}
    return [
        probe_row("jax_jit", entry("same", "reuses", **believed), entry("shape", "retraces"), metrics=[seconds, other]),
        probe_row("torch_xla", entry("same", "reuses"), outcome="crashed", reason="killed by SIGSEGV"),
        probe_row("numpy", outcome="unsupported", reason="it compiles nothing"),
    ]


def test_every_planned_stack_has_a_class_in_every_cell() -> None:
    seen = observations(rows())
    assert {each.probe_title for each in seen} == {"What is traced again"}
    assert [*dict.fromkeys(each.aspect_title for each in seen)] == ["nothing changes", "another length"]
    assert {(each.aspect, each.stack): (each.class_, each.words) for each in seen} == {
        ("same", "jax_jit"): ("reuses", ""),
        ("same", "torch_xla"): ("reuses", ""),
        ("same", "numpy"): ("unsupported", "it compiles nothing"),
        ("shape", "jax_jit"): ("retraces", ""),
        ("shape", "torch_xla"): ("crashed", "killed by SIGSEGV"),
        ("shape", "numpy"): ("unsupported", "it compiles nothing"),
    }


def test_a_cell_has_its_figures_and_where_it_is_not_as_documented() -> None:
    same, shape = (each for each in observations(rows()) if each.stack == "jax_jit")
    assert same.figures == {"seconds": ("s", (0.5,))} and shape.figures == {}
    assert same.is_otherwise and not shape.is_otherwise and not same.differs(same.primer)


def test_a_class_that_changed_between_two_sets_is_named() -> None:
    before = classes(observations(rows()))
    now = rows()
    now[0] = probe_row("jax_jit", entry("same", "reuses"), entry("shape", "reuses"))
    found = between(before, classes(observations(now)))
    assert found.common == 6
    assert found.moved == (ChangedClass("retrace-tiny-forward-f32-cpu", "shape", "jax_jit", "retraces", "reuses"),)


def test_versions_of_a_stack_are_held_against_it() -> None:
    old = probe_row("jax_jit", entry("same", "retraces"), entry("shape", "retraces"), variant="0.10")
    ((version, found),) = by_variant(classes(observations([*rows(), old]))).items()
    assert (version, found.common) == ("0.10", 2)
    assert [(each.stack, each.before, each.after) for each in found.moved] == [("jax_jit", "reuses", "retraces")]


def test_timed_rows_say_nothing_of_behaviour() -> None:
    assert observations([row_of(attempt_of("jax_jit"))]) == ()
