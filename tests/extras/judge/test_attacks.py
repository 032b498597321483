"""Every attack on the judge, and every honest pair that looks suspicious; `python -m tools.attacks` prints a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.attacks import FALSE_ALARMS_MAX, FILES, false_alarms, judged

ATTACKS = sorted((FILES / "attacks").glob("*.py"))
HONEST = sorted((FILES / "honest").glob("*.py"))
# One of a kind, and what it must be called.
QUICK = {
    "kept_by_address": {"wrong", "cheats"},
    "later_thread": {"wrong", "cheats"},
    "shape_multiples": {"wrong"},
    "forged_ahead": {"cheats"},
    "view_in_place": {"wrong"},
    "lower_half": {"wrong"},
    "reference_tolerance": {"refused"},
    "values_without_maximum": {"wrong"},
}

pytestmark = pytest.mark.stacks


def test_there_are_enough() -> None:
    assert len(ATTACKS) >= 60 and len(HONEST) >= 40


@pytest.mark.parametrize("name", QUICK)
def test_an_attack_of_each_kind_is_seen(name: str) -> None:
    assert judged(FILES / "attacks" / f"{name}.py")["verdict"] in QUICK[name]


def test_a_wrong_result_has_the_input_that_shows_it() -> None:
    told = judged(FILES / "attacks" / "view_of_scalar.py")
    assert told["verdict"] == "wrong" and {*told["smallest_input"]} == {"rows", "columns"} and told["exit_code"] == 3


@pytest.mark.release
@pytest.mark.parametrize("file", ATTACKS, ids=lambda file: file.stem)
def test_no_attack_is_faster(file: Path) -> None:
    assert judged(file)["verdict"] != "faster"


@pytest.mark.release
def test_honest_pairs_raise_hardly_an_alarm() -> None:
    assert false_alarms([judged(file)["verdict"] for file in HONEST]) <= FALSE_ALARMS_MAX
