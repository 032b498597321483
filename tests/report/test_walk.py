"""The walk of a time from results.parquet to its cell, as docs/design.md lists it, is the one that the page takes."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pyarrow as pa

from suite import results
from suite.report.formats.render import render
from suite.report.sections.timed.units import column_units

ROOT = Path(__file__).parents[2]
SET = ROOT / "tests" / "results" / "sets" / "two_passes"
QUESTION, STACK = "gemm forward", "numpy"
STEP = re.compile(r"^\d+\. `([\w.]+|<lambda>)` \((suite/[\w/]+\.py)\)", re.MULTILINE)
MOST = 25  # functions that a reader has to understand
Function = tuple[str, str]  # (file, name)


def test_the_walk_of_a_time_is_the_one_in_the_docs(tmp_path: Path) -> None:
    walk = [(file, name) for name, file in STEP.findall((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))]
    assert 0 < len(walk) == len({*walk}) <= MOST
    shapes = shapes_of_a_time()
    callers: dict[Function, set[Function]] = {function: set() for function in walk}
    carrying: set[Function] = set()

    def follow(frame: FrameType, event: str, value: Any) -> None:
        if event != "return" or (function := function_of(frame.f_code)) not in callers:
            return
        callers[function].add(caller_of(frame))
        if function not in carrying and carries([value, frame.f_locals], shapes):
            carrying.add(function)

    sys.setprofile(follow)
    try:
        page = render(SET, tmp_path / "report.html")
    finally:
        sys.setprofile(None)
    assert f">{shapes[-1]}</td>" in page.read_text(encoding="utf-8")
    assert [function for function in walk if function not in carrying] == [], "the time doesn't pass there"
    gaps = {function: found for function, found in callers.items() if function != walk[0] and not found & {*walk}}
    assert gaps == {}, "a function on the way is missing"


def shapes_of_a_time() -> list[float | str]:
    """What a sample becomes: the median of its process, the mean of all processes, and the text in the cell."""
    comparisons = results.load(SET).analysis().comparisons
    comparison = next(comparison for comparison in comparisons if comparison.name == QUESTION)
    figures = comparison.of(STACK)
    assert figures is not None
    row = next(row for row in results.load(SET).rows if row.median() == figures.processes[0].seconds)
    mean = figures.median.value
    return [row.samples()[0], figures.processes[0].seconds, mean, column_units(comparison).steady.show(mean)]


def carries(thing: Any, shapes: list[float | str]) -> bool:
    """Whether one of the shapes is in a value, however deep."""
    left, seen = [thing], set()
    while left:
        value = left.pop()
        if isinstance(value, float | str):
            if value in shapes:
                return True
        elif id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Mapping):
                left.extend(value.values())
            elif isinstance(value, list | tuple):
                left.extend(value)
            elif isinstance(value, pa.Table):
                left.append(value.to_pylist())
            elif is_dataclass(value) and not isinstance(value, type):
                left.extend(getattr(value, field.name) for field in fields(value))
    return False


@cache
def function_of(code: CodeType) -> Function:
    """The file and the name of a function, also for the generators inside of it; an empty file outside of the suite."""
    file = code.co_filename.removeprefix(f"{ROOT}/")
    return file if file.startswith("suite/") else "", code.co_qualname.split(".<locals>")[0]


def caller_of(frame: FrameType) -> Function:
    """The function of the suite that called another one, perhaps through a template or a library."""
    own, above = function_of(frame.f_code), frame.f_back
    while above is not None and (not function_of(above.f_code)[0] or function_of(above.f_code) == own):
        above = above.f_back
    return function_of(above.f_code) if above is not None else ("", "")
