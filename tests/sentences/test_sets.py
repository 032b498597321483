import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.sentences.facts import rows
from tests.sentences.check import Violation, all_wrong, wrong_in
from tests.sentences.spoken.corpus import SETS, of_set
from tests.sentences.findings import claims
from tests.sentences.spoken.pages import ROOT, compared, published


def told(violations: Iterable[Violation]) -> list[str]:
    """What is false, readable in a failed test."""
    return [f"{each.kind}: {each.sentence} | {each.fact} | true: {each.true}" for each in violations]


def test_the_reader_imports_nothing_of_the_product() -> None:
    own = [
        Path(rows.__file__).parent / name
        for name in ("rows", "blocks", "estimates", "pairs", "reader", "shown", "check")
    ]
    modules = [each.with_suffix(".py") for each in own]
    modules += [each for room in ("figures", "said", "checks") for each in (own[0].parent / room).glob("*.py")]
    assert len(modules) > 20
    assert [
        each.name for each in modules if re.search(r"^\s*(?:from|import) suite", each.read_text(), re.MULTILINE)
    ] == []


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
