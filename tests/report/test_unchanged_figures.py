"""Every number of a stored real run, in JSON and in CSV, is as an earlier version computed it.

A change of method changes some by intention. Then the differences are read one by one, CHANGELOG says which and why,
and the file is written anew: `python -m tests.report.test_unchanged_figures`.
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
from suite.report.formats.export import export

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


def of_set() -> dict[str, Any]:
    """The numbers of each part of the JSON, and the lines of the CSV."""
    written = export(results.load(SET))
    parts = json.loads(written.written("json"))
    lines = [*csv.DictReader(io.StringIO(written.written("csv")))]
    return {name: numbers(part) for name, part in parts.items() if isinstance(part, list)} | {"csv": lines}


def test_no_number_has_changed() -> None:
    then = json.loads(STORED.read_text(encoding="utf-8"))
    now = of_set()
    assert now.keys() == then.keys()
    for name, part in now.items():
        assert part == then[name], name
    count = sum(len(values) for name, part in then.items() if name != "csv" for values in part.values())
    assert count > 300 and len(then["csv"]) > 10, "otherwise it proves nothing"


@pytest.mark.parametrize("name", ["comparisons", "latency", "transfers", "break_even"])
def test_a_changed_number_would_be_seen(name: str) -> None:
    now = of_set()[name]
    key = next(key for key, values in now.items() if values)
    assert now | {key: [now[key][0] * 1.001, *now[key][1:]]} != json.loads(STORED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    STORED.write_text(json.dumps(of_set(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
