"""Probes through the whole pipeline, on a stack that does as it is told: answers, crashes, gaps, resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.case import Purpose
from suite.results.questions.behaviour import between, classes, observations
from suite.verdicts.grouping import grouped
from tests.pipeline import Heard, make_plan, make_session, run_scenes


def told(row: dict[str, Any]) -> dict[str, str]:
    """Classes by aspect."""
    return {each["aspect"]: each["class"] for each in json.loads(row["behaviour"] or "[]")}


def test_a_probe_is_one_process_with_a_row_of_answers(tmp_path: Path) -> None:
    row = run_scenes(tmp_path, "calm", workload="prank")["calm"]
    assert (row["purpose"], row["block"], row["outcome"], row["phase"]) == ("probe", 0, "ok", "end")
    assert told(row) == {"double": "doubles", "raise": "raises: LookupError"}
    double, failed = json.loads(row["behaviour"])
    assert double["code"] == "def double(x, times):\n    return x * times\n"
    assert double["documented"] == {"class": "doubles", "page": "https://example.org"}
    assert failed["words"] == "nothing is here"
    assert {each["name"] for each in row.metrics} == {"double seconds", "double right", "raise seconds"}
    assert row["synced_seconds"] is None and row["flops"] is None


@pytest.mark.parametrize(
    ("scene", "outcome", "words", "kept"),
    [
        ("crash", "crashed", "signal 11", {"double": "doubles"}),
        ("bug", "error", "LookupError", {"double": "doubles"}),
        (
            "forgetful",
            "error",
            "prank has recorded double; its spec's aspects are double, raise",
            {"double": "doubles"},
        ),
    ],
)
def test_what_ends_a_process_early_is_the_answer_of_what_was_left(
    tmp_path: Path, scene: str, outcome: str, words: str, kept: dict[str, str]
) -> None:
    row = run_scenes(tmp_path, scene, workload="prank")[scene]
    assert row["outcome"] == outcome and words in row["reason"]
    assert told(row) == kept


def test_a_crash_is_nobody_elses_problem(tmp_path: Path) -> None:
    rows = run_scenes(tmp_path, "crash", "calm", workload="prank")
    assert (rows["crash"]["outcome"], rows["calm"]["outcome"]) == ("crashed", "ok")


def test_a_resumed_set_asks_only_what_is_missing(tmp_path: Path) -> None:
    plan, heard = make_plan(("calm", "other"), workload="prank"), Heard(interrupt_after=1)
    with pytest.raises(KeyboardInterrupt):
        make_session(tmp_path / "set", plan, heard).run()
    again = Heard()
    rows = make_session(tmp_path / "set", plan, again).run()
    assert len(again.rows) == 1 and {row["outcome"] for row in rows} == {"ok"}
    assert {row["purpose"] for row in rows} == {Purpose.PROBE}
    of_probe = grouped(observations(results.load(tmp_path / "set").rows), lambda each: each.probe)
    calm, other = (of_probe[name] for name in sorted(of_probe))
    found = between(
        classes(calm), {("prank-calm-forward-f32-cpu", *place[1:]): class_ for place, class_ in classes(other).items()}
    )
    assert [(each.aspect, each.before, each.after) for each in found.moved] == [("double", "doubles", "doesn't")]
