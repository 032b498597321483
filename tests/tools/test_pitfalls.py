"""The lesson on pitfalls: what it says is what the stored classes say."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from suite.errors import UserError
from tools.pitfalls import Observations, lesson, read, written

DOCS = Path(__file__).parents[2] / "docs" / "findings"


@pytest.fixture(scope="module")
def cells() -> Observations:
    return read(DOCS / "pitfalls.json")


def test_the_page_is_what_its_summary_says(cells: Observations) -> None:
    assert (DOCS / "pitfalls.md").read_text(encoding="utf-8") == lesson(cells)


def test_a_summary_is_read_as_it_was_written(cells: Observations) -> None:
    stored = (DOCS / "pitfalls.json").read_text(encoding="utf-8")
    assert json.loads(written(cells)) == json.loads(stored)


def test_a_claim_that_is_contradicted_is_not_written(cells: Observations) -> None:
    place = "retrace scalar jax_jit"
    assert cells.cells[place].class_ == "reuses"
    other = msgspec.structs.replace(cells.cells[place], class_="retraces")
    with pytest.raises(UserError, match=r"jax_jit reuses \(retrace, scalar\); observed: retraces. Change the text"):
        lesson(msgspec.structs.replace(cells, cells={**cells.cells, place: other}))


def test_a_cell_that_is_gone_is_named(cells: Observations) -> None:
    place = "retrace scalar jax_jit"
    left = {key: cell for key, cell in cells.cells.items() if key != place}
    with pytest.raises(UserError, match="retrace, scalar, jax_jit, which the set doesn't have"):
        lesson(msgspec.structs.replace(cells, cells=left))


def test_a_summary_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(UserError, match=r"x\.json can't be read as a lesson's summary"):
        read(tmp_path / "x.json")
