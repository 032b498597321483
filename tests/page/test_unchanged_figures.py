"""Every number of a stored real run, in JSON and in CSV, is as an earlier version computed it.

A change of method changes some by intention. Then the differences are read one by one, CHANGELOG says which and why,
and the file is written anew: `python -m tests.page.test_unchanged_figures`.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.page.formats.export import export

SET = Path(__file__).parents[1] / "results" / "sets" / "three_questions"
STORED = Path(__file__).with_name("three_questions.json")


def numbers(value: Any, question: str = "", stack: str = "") -> dict[str, list[float]]:
    """Every number under its question and stack, in order of size: a column may get another name or place."""
    found = defaultdict[str, list[float]](list)
    if isinstance(value, float):
        found[f"{question}, {stack}"].append(float(f"{value:.9g}"))
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict):
        named = "stacks" in value or "cases" in value
        question = str(value.get("question") or (value["name"] if named and "name" in value else question))
        stack = str(value.get("stack") or stack)
    for each in inside:
        for key, more in numbers(each, question, stack).items():
            found[key] += more
    return {key: sorted(values) for key, values in found.items()}


def of_set(loaded: results.Results) -> dict[str, Any]:
    """The numbers of each part of the JSON, and the lines of the CSV."""
    written = export(loaded)
    parts = json.loads(written.written("json"))
    lines = [*csv.DictReader(io.StringIO(written.written("csv")))]
    return {name: numbers(part) for name, part in parts.items() if isinstance(part, list)} | {"csv": lines}


def test_no_number_has_changed() -> None:
    then = json.loads(STORED.read_text(encoding="utf-8"))
    now = of_set(results.load(SET))
    assert now.keys() == then.keys()
    for name, part in now.items():
        assert part == then[name], name
    count = sum(len(values) for name, part in then.items() if name != "csv" for values in part.values())
    assert count > 300 and len(then["csv"]) > 10, "otherwise it proves nothing"


@pytest.mark.parametrize("part", ["comparisons", "latency", "transfers", "break_even"])
def test_a_sample_that_differs_would_be_seen(part: str) -> None:
    loaded = results.load(SET)
    row = next(row for row in loaded.rows if row["synced_seconds"] and row["first_seconds"])
    row["synced_seconds"] = [1.5 * seconds for seconds in row["synced_seconds"]]
    row["first_seconds"] *= 1.5
    assert of_set(loaded)[part] != json.loads(STORED.read_text(encoding="utf-8"))[part]


if __name__ == "__main__":
    STORED.write_text(json.dumps(of_set(results.load(SET)), indent=1, sort_keys=True) + "\n", encoding="utf-8")
