from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.sentences.check import Violation, all_wrong, wrong_in
from tests.sentences.corpus import SETS, of_set
from tests.sentences.findings import claims
from tests.sentences.pages import ROOT, compared, published


def told(violations: Iterable[Violation]) -> list[str]:
    """What is false, readable in a failed test."""
    return [f"{each.kind}: {each.sentence} | {each.fact} | true: {each.true}" for each in violations]


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name[:28])
def test_what_a_page_says_is_so(folder: Path) -> None:
    assert told(all_wrong(of_set(folder))) == []


@pytest.mark.parametrize("kind", ["headline", "thread", "cell", "unified cell", "floor"])
def test_what_published_tables_say_is_so(kind: str) -> None:
    said = [spoken for spoken in published() if spoken[0] == kind]
    assert said
    assert told(violation for each in said for violation in wrong_in(*each)) == []


def test_what_readme_found_is_so() -> None:
    found = [*claims((ROOT / "README.md").read_text(encoding="utf-8"))]
    assert len(found) >= 4
    assert [claim for claim in found if not claim[1]] == []


def test_what_is_said_of_two_sets_is_so() -> None:
    found = [*compared()]
    assert found
    assert told(all_wrong(found)) == []
