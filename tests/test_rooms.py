"""The house: few loose modules, a line for each room in README's map, and a folder of tests for each."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from suite.stacks.catalog import STACKS

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "suite"
# Code that names a stack: which stack a document's word for a framework is held against.
NAMING = ["suite/answers/published_verdicts.py"]
ROOMS = sorted(path.parent.name for path in SUITE.glob("*/__init__.py"))


def test_only_the_vocabulary_lies_loose() -> None:
    loose = {path.name for path in SUITE.glob("*.py")}
    assert loose == {"__init__.py", "case.py", "protocol.py", "stats.py", "errors.py", "units.py", "order.py", "ask.py"}


def test_every_room_has_a_line_in_the_map_of_readme_and_says_what_it_is_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^suite/([\w ]+?)  +\S", readme, re.MULTILINE)
    assert sorted(room for line in lines for room in line.split()) == ROOMS
    assert all(import_module(f"suite.{room}").__doc__ for room in ROOMS)


def test_no_general_code_names_a_stack() -> None:
    """A name that is its environment's or a library's, too, says nothing of a stack."""
    names = "|".join(name for name, stack in STACKS.items() if name != stack.environment)
    named = re.compile(rf'["\'](?:{names})["\']')
    own = SUITE / "stacks", SUITE / "workloads"
    files = (path for path in SUITE.rglob("*.py") if not {*own} & {*path.parents})
    naming = [str(path.relative_to(ROOT)) for path in files if named.search(path.read_text(encoding="utf-8"))]
    assert sorted(naming) == NAMING


def test_the_tests_mirror_the_rooms() -> None:
    assert [room for room in ROOMS if not list((ROOT / "tests" / room).glob("test_*.py"))] == []


def test_readme_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 750
